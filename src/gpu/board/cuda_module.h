// Modules and parameters in the CUDA driver's form.
#pragma once

#include <span>
#include <string>

#include "gpu/board/cuda_driver.h"

namespace simtlab::gpu::board {

// Throws what error_of says of the failure, with what the driver's assembler had to say.
ModuleHandle load_ptx(const Driver& driver, const std::string& name, const std::string& ptx);

// The list `extra` of a launch: one buffer with all parameters. Holds while this and the bytes live.
class ArgumentList {
 public:
  explicit ArgumentList(std::span<const std::byte> bytes)
      : size_(bytes.size()),
        extra_{launch_buffer, const_cast<std::byte*>(bytes.data()), launch_buffer_bytes, &size_, launch_end} {
  }
  ArgumentList(const ArgumentList&) = delete;
  ArgumentList& operator=(const ArgumentList&) = delete;
  void** extra() { return extra_; }

 private:
  std::size_t size_;
  void* extra_[5];
};

}  // namespace simtlab::gpu::board
