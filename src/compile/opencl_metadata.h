// What clang knows of a kernel and does not write into PTX: the work-group size that it requires, and what
// its arguments are called.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::compile {

struct KernelFacts {
  std::string name;
  std::array<std::uint32_t, 3> required{};  // reqd_work_group_size; 0: none
  struct Argument {
    std::string type, name, qualifiers, access;  // "float4*", "a", "const restrict", "none"
  };
  std::vector<Argument> arguments;
};

// From LLVM's assembly text of the program. What is not there stays empty.
std::vector<KernelFacts> kernel_facts(std::string_view ir);

// Adds .reqntid to the kernels that require a size, and with `arguments` comments that argument_facts()
// reads.
void add_facts(std::string& ptx, const std::vector<KernelFacts>& facts, bool arguments);
// The arguments of a kernel from the comments; empty if there are none.
std::vector<KernelFacts::Argument> argument_facts(std::string_view ptx, std::string_view kernel);

}  // namespace simtlab::compile
