// Names and texts of CUDA's error codes.
#pragma once

namespace simtlab::runtime {

struct ErrorCode {
  int code;
  const char* name;  // "cudaErrorInvalidValue"
  const char* text;  // "invalid argument"
};

const ErrorCode* find_error(int code);  // null: no such code

}  // namespace simtlab::runtime
