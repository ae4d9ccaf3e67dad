// How instructions are written that use the uniform datapath: one register and one operation for all lanes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "assembler/build.h"
#include "assembler/program.h"

namespace simtlab::assembler {

// Where registers are written and read, by register.
struct UniformSpot {
  std::uint32_t block = none, index = none;
};
struct UniformUsers {
  std::vector<std::vector<UniformSpot>> writers, readers;
};
// nullopt: a function of the driver is called, which may use uniform registers for itself.
std::optional<UniformUsers> uniform_users(const Program& program);

// Of a kernel: which registers are of the warp.
using UniformSet = std::vector<bool>;

// What an instruction of lanes is in the uniform datapath, if all that it reads is uniform. `constants`:
// words of constant banks that it reads, which a ULDC must bring into a register each.
struct UniformForm {
  const machine::Form* form = nullptr;
  unsigned constants = 0;
};
std::optional<UniformForm> uniform_form(const Builder& out, const Instruction& instruction);
// Registers that hold a number wherever they are read
using KnownNumbers = std::map<std::uint32_t, std::uint32_t>;
// That instruction. load(value): the uniform register that a constant is in.
Instruction in_uniform_datapath(const Builder& out, const Instruction& instruction,
                                const KnownNumbers& numbers, const std::function<Ref(const Value&)>& load);

// An instruction of lanes that reads registers of `uniform`, but for those of `copied`, which it reads as
// they are. nullopt: it cannot, since there is room for one at most, and for none beside a number or a
// constant.
std::optional<Instruction> reading_uniform(const Builder& out, const Program& program,
                                           const Instruction& instruction, const UniformSet& uniform,
                                           std::span<const std::uint32_t> copied = {});

}  // namespace simtlab::assembler
