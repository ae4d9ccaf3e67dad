// The options of cuModuleLoadDataEx and cuLink*: two arrays, of numbers and of values.
#pragma once

#include <string_view>

namespace simtlab::hosts::cuda {

struct JitOptions {
  unsigned count = 0;
  const int* names = nullptr;
  void** values = nullptr;
};

// Writes the text of an error into the log that the program gave room for, and that nothing else was said.
// Other options tell the vendor's compiler what to do and mean nothing here.
void write_logs(const JitOptions& options, std::string_view error);

}  // namespace simtlab::hosts::cuda
