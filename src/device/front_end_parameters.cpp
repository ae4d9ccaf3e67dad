#include "device/front_end_parameters.h"

#include <fmt/format.h>

#include "device/parameter_row.h"

namespace simtlab::device {

void add_front_end(std::vector<Parameter>& rows) {
  using Instruction = Device::Instruction;
  const auto add = [&](const char* name, Unit unit, double minimum, double maximum, auto member,
                       const char* standard, const char* doc) {
    rows.push_back(row(
        std::string("instruction.") + name, unit, minimum, maximum,
        [member](Device& d) { return &(d.instruction.*member); }, doc));
    rows.back().default_value = standard;
  };
  constexpr Unit none = Unit::none;
  add("caches", none, 0, 0, &Instruction::caches, "false",
      "Whether instructions come through caches; false: they are always at hand, and the other keys of "
      "instruction mean nothing");
  add("bytes", Unit::bytes, 4, 32, &Instruction::bytes, "16 B", "Size of a machine instruction");
  add("group", none, 0, 64, &Instruction::group, "0",
      "Machine instructions that share a control word of the same size, which lies before them; 0: they "
      "carry their own");
  add("buffer", none, 1, 64, &Instruction::buffer, "4",
      "Machine instructions that a warp has asked for ahead of the one that it issues");
  add("fetched", none, 0, 16, &Instruction::fetched, "0",
      "Machine instructions that a scheduler fetches in a cycle, those that a taken branch drops from a "
      "warp's buffer among them; 0: as many as it issues");
  add("line_bytes", Unit::bytes, 32, 4096, &Instruction::line_bytes, "128 B",
      "Line of the instruction caches");
  rows.back().power_of_two = true;
  add("l0_caches", none, 1, 16, &Instruction::l0_caches, "1",
      "Instruction caches of the first level in one SM, each for as many of its schedulers");
  add("l0_bytes", Unit::bytes, 32, mebi, &Instruction::l0_bytes, "8 KiB",
      "Capacity of one instruction cache of the first level");
  add("l0_ways", none, 1, 1024, &Instruction::l0_ways, "4", "Associativity of the first level");
  add("l0_prefetch", none, 0, 64, &Instruction::l0_prefetch, "1",
      "Next lines that a line new to the first level brings along");
  add("l1_bytes", Unit::bytes, 32, 16 * mebi, &Instruction::l1_bytes, "128 KiB",
      "Capacity of the instruction cache of an SM behind the first level");
  add("l1_ways", none, 1, 1024, &Instruction::l1_ways, "8",
      "Associativity of the instruction cache of an SM");
  add("l1_latency", Unit::cycles, 0, max_latency, &Instruction::l1_latency, "60 cycles",
      "SM cycles that an instruction comes later from the cache of the SM than from the first level");
  add("l1_bytes_per_cycle", Unit::bytes_per_cycle, 0, 4096, &Instruction::l1_bytes_per_cycle, "0 B/cycle",
      "What the instruction cache of an SM gives to its caches of the first level; 0: as much as they ask "
      "for");
  add("l2_bytes_per_cycle", Unit::bytes_per_cycle, 0, 4096, &Instruction::l2_bytes_per_cycle, "0 B/cycle",
      "What one SM gets of instructions from L2; 0: as much as it asks for");
  add("constant_bytes", Unit::bytes, 0, mebi, &Instruction::constant_bytes, "0 B",
      "Constants that a scheduler keeps for operands of machine code, in lines of 64 bytes; others come from "
      "the instruction cache of the SM (instruction.l1_latency); 0: they are always at hand");
}

void add_operands(std::vector<Parameter>& rows) {
  using Operands = Device::Operands;
  const auto add = [&](const char* name, const char* standard, auto member, const std::string& doc) {
    rows.push_back(row(
        std::string("operands.") + name, Unit::cycles, 0, max_latency,
        [member](Device& d) { return &(d.operands.*member); }, doc));
    rows.back().default_value = standard;
  };
  const auto until = [](const char* what) {
    return fmt::format(
        "SM cycles from the issue of {} in machine code until its operands have been read and may be "
        "overwritten",
        what);
  };
  add("global_load", "11 cycles", &Operands::global_load, until("a load or atomic of global memory"));
  add("global_store", "11 cycles", &Operands::global_store, until("a store of 32 bits to global memory"));
  add("shared_load", "11 cycles", &Operands::shared_load,
      until("a load or atomic of shared memory, or another instruction of variable latency (MUFU, "
            "conversions, shuffles ...)"));
  add("shared_store", "11 cycles", &Operands::shared_store, until("a store of 32 bits to shared memory"));
  add("value_register", "0 cycles", &Operands::value_register,
      "SM cycles that reading a store's value takes longer for each register beyond the first");
}

}  // namespace simtlab::device
