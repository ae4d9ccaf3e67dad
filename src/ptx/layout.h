// Layout of a module: facts that concern all of its functions together.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/decode.h"

namespace simtlab::ptx {

struct CallGraph {
  // By function, indirect candidates included, without those of `back`
  std::vector<std::vector<std::uint32_t>> callees;
  // By function: candidates of its calls through pointers that may lead to it again
  std::vector<std::vector<std::uint32_t>> back;
  std::vector<std::uint32_t> bottom_up;  // callees before callers
};

// Bytes and relocations of initialised variables.
void fill_initialisers(ModuleScope& scope, const std::vector<const AstVariable*>& origin,
                       std::vector<VirtualFunction>& functions);

// Finds the candidates of indirect calls and reports recursion as unsupported, with the cycle. A cycle that a
// call through a pointer closes may never be run through (an object that holds objects of its own kind's
// interface): it gets room for some turns.
CallGraph build_call_graph(ModuleScope& scope, std::vector<VirtualFunction>& functions,
                           const std::vector<std::uint32_t>& ast_of);

// Offsets of shared variables. A variable has one offset in all kernels, because functions that several
// kernels call have one code: variables are placed in order of the number of kernels that reach them (most
// first), then of declaration, each behind everything placed before in any kernel that reaches it. With one
// kernel a module this is the order of declaration, without gaps but for alignment. Dynamic shared memory
// (.extern arrays) begins where the static variables of the kernel end, rounded up to the alignment of the
// arrays; kernels that share a function using such an array agree on the largest. `origin`: the declaration
// of each variable of the module.
void lay_out_shared(ModuleScope& scope, std::vector<VirtualFunction>& functions, const CallGraph& graph,
                    const std::vector<const AstVariable*>& origin);

}  // namespace simtlab::ptx
