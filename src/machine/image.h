// The contents of a cubin: kernels of machine code, variables, constant banks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/bundles.h"
#include "machine/elf.h"
#include "machine/word.h"
#include "ptx/module.h"

namespace simtlab::machine {

// Attributes of .nv.info that more than one place names.
inline constexpr std::uint8_t attribute_frame_size = 0x11, attribute_min_stack_size = 0x12,
                              attribute_register_count = 0x2f, attribute_barrier_count = 0x4c;

// A value parameter of a kernel, by its place in the parameters.
struct KernelParameter {
  std::uint32_t ordinal = 0, offset = 0, bytes = 0;
};

// Where a branch by a register, or one that takes lanes to where they meet, may go: bytes of the section.
struct BranchTargets {
  std::uint32_t at = 0;
  std::vector<std::uint32_t> targets;
};

// Instructions of a section, read where they lie.
class Words {
 public:
  Words() = default;
  Words(unsigned generation, Bytes code) : generation_(generation), code_(code) {}
  std::size_t size() const { return instructions_in(generation_, code_.size()); }
  Word operator[](std::size_t i) const { return word_at(generation_, code_, i); }
  // Of a byte of the section; nullopt: outside of the code.
  std::optional<std::uint64_t> address_of(std::uint64_t byte) const {
    if (byte >= code_.size()) return std::nullopt;
    return static_cast<std::uint64_t>(address_of_file(generation_, static_cast<std::int64_t>(byte)));
  }

 private:
  unsigned generation_ = 0;
  Bytes code_;
};

struct ImageKernel {
  std::string name;
  bool is_entry = true;     // else a function that kernels call
  std::size_t section = 0;  // of its code
  Words words;
  std::vector<KernelParameter> parameters;  // by ordinal
  std::uint32_t parameter_base = 0, parameter_bytes = 0;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;  // static
  std::uint32_t stack_bytes = 0;   // local memory a thread needs at least
  std::uint32_t barriers = 0;
  std::vector<BranchTargets> branches;  // what the compiler says of them, which may be nothing
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

// A module whose functions are the kernels of a cubin. A kernel's code is decoded and translated when
// Module::complete() first asks for it, which throws Error: bad_input "cubin", unsupported
// "machine-instruction" with every instruction that is not executed, "machine-unresolved" for symbols of
// other files. Throws as read_image() itself.
// For timing alone, code may hold what is decoded and not executed: such a kernel has no operations.
enum class Purpose : std::uint8_t { execution, timing };
std::shared_ptr<const ptx::Module> open_cubin(std::string bytes, std::string name,
                                              Purpose purpose = Purpose::execution);
// The same with all of its kernels complete. `bytes` are copied.
std::shared_ptr<const ptx::Module> load_cubin(Bytes bytes, std::string name);

}  // namespace simtlab::machine
