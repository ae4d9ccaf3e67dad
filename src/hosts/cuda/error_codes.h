// Names and texts of CUDA's error codes.
#pragma once

namespace simtlab::hosts::cuda {

struct ErrorCode {
  int code;
  const char* name;  // "cudaErrorInvalidValue"
  const char* text;  // "invalid argument"
};

const ErrorCode* find_error(int code);  // null: no such code

}  // namespace simtlab::hosts::cuda
