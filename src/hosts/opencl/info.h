// Answers of the clGet...Info functions.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "hosts/opencl/headers.h"

namespace simtlab::hosts::opencl {

class Answer {
 public:
  Answer(std::size_t size, void* value, std::size_t* size_out)
      : size_(size), value_(value), size_out_(size_out) {}

  cl_int bytes(const void* data, std::size_t n) const {
    if (value_ != nullptr && size_ < n) return CL_INVALID_VALUE;
    if (value_ != nullptr && n != 0) std::memcpy(value_, data, n);
    if (size_out_ != nullptr) *size_out_ = n;
    return CL_SUCCESS;
  }
  template <typename T>
  cl_int one(const T& value) const {
    return bytes(&value, sizeof value);
  }
  template <typename T>
  cl_int list(const std::vector<T>& values) const {
    return bytes(values.data(), values.size() * sizeof(T));
  }
  // With the final NUL.
  cl_int text(std::string_view text) const {
    if (value_ != nullptr && size_ < text.size() + 1) return CL_INVALID_VALUE;
    if (value_ != nullptr) {
      std::memcpy(value_, text.data(), text.size());
      static_cast<char*>(value_)[text.size()] = '\0';
    }
    if (size_out_ != nullptr) *size_out_ = text.size() + 1;
    return CL_SUCCESS;
  }
  cl_int flag(bool value) const { return one<cl_bool>(value ? CL_TRUE : CL_FALSE); }
  cl_int number(cl_uint value) const { return one(value); }
  cl_int size(std::size_t value) const { return one(value); }
  cl_int bits(cl_ulong value) const { return one(value); }

 private:
  std::size_t size_;
  void* value_;
  std::size_t* size_out_;
};

}  // namespace simtlab::hosts::opencl
