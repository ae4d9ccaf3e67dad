// The contents of a cubin: kernels of machine code, variables, constant banks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/elf.h"
#include "machine/word.h"
#include "ptx/module.h"

namespace simtlab::machine {

// A value parameter of a kernel, by its place in the parameters.
struct KernelParameter {
  std::uint32_t ordinal = 0, offset = 0, bytes = 0;
};

struct ImageKernel {
  std::string name;
  bool is_entry = true;     // else a function that kernels call
  std::size_t section = 0;  // of its code
  std::vector<Word> words;
  std::vector<KernelParameter> parameters;  // by ordinal
  std::uint32_t parameter_base = 0, parameter_bytes = 0;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;  // static
  std::uint32_t stack_bytes = 0;   // local memory a thread needs at least
  std::uint32_t barriers = 0;
  std::uint32_t most_threads[3] = {0, 0, 0}, required_threads[3] = {0, 0, 0};  // 0: not stated
};

struct Image {
  std::string name;
  unsigned generation = 0;  // 75, 80, 90 ...
  ElfFile elf;
  std::vector<ImageKernel> kernels;
};

// The bytes must outlive the image. Throws Error: bad_input "cubin", unsupported "machine-generation".
Image read_image(Bytes bytes, std::string name);

// A module whose functions are the kernels of a cubin, ready to be executed. `bytes` are copied where needed.
// Throws as read_image(), unsupported "machine-instruction" with every instruction that is not executed, and
// "machine-unresolved" for symbols of other files.
std::shared_ptr<const ptx::Module> load_cubin(Bytes bytes, std::string name);

}  // namespace simtlab::machine
