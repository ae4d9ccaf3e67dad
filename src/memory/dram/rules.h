// The rules between pairs of commands as data: what the checker (checker.h) demands of a trace. A rule says
// how many clocks a command keeps from an earlier one of the same bank, bank group or rank, or of another
// rank on the same data bus. Rules that are no distance between two commands (windows, states, buses) are in
// the checker itself.
//
// Written from the definitions of the values in docs/reference/memory-files.md, not from the controller, so
// that an error in one of them shows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::memory::dram {

// A set of commands.
class Commands {
 public:
  constexpr Commands() = default;
  template <class... More>
  constexpr Commands(Command first, More... more) : bits_(1u << static_cast<unsigned>(first)) {
    (..., add(more));
  }
  constexpr bool has(Command command) const { return bits_ >> static_cast<unsigned>(command) & 1; }
  constexpr Commands operator|(Commands other) const {
    other.bits_ |= bits_;
    return other;
  }
  // Visits the members in the order of the enumeration.
  template <class Visit>
  constexpr void each(Visit visit) const {
    for (unsigned c = 0; c < command_count; ++c)
      if (bits_ >> c & 1) visit(static_cast<Command>(c));
  }

 private:
  constexpr void add(Command command) { bits_ |= 1u << static_cast<unsigned>(command); }
  std::uint32_t bits_ = 0;
};

// Where the earlier command was, seen from the later one. Ranks are those of one pseudo-channel.
enum class Scope : std::uint8_t { bank, group, rank, other_rank };

struct Rule {
  std::string_view name;  // of the value it is about, as in docs/reference/memory-files.md
  Commands earlier, later;
  Scope scope = Scope::bank;
  std::int64_t clocks = 0;  // at least between the two
};

// In the order in which they are looked at: of several broken ones the first is named. Without those of 0
// clocks or less.
std::vector<Rule> rules_of(const device::Technology& technology);

}  // namespace simtlab::memory::dram
