// A kernel of machine code as it is executed: the decoded instructions, and what each does in operations that
// the executor has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/instruction.h"
#include "machine/lines.h"
#include "machine/word.h"
#include "ptx/inst.h"

namespace simtlab::machine {

// Where an instruction sends the lanes that execute it.
enum class Flow : std::uint8_t {
  next,
  branch,           // to Action::target
  branch_register,  // to the address in a register pair, plus Action::target; may be a system call
  call,             // to Action::target; go_back returns to the next instruction
  set_return,       // the next instruction is a call that returns to Action::target
  call_register,    // to the address in a register pair, plus Action::target
  go_back,          // the lanes of a call return together
  exit,
  set_barrier,    // BSSY: the active lanes are those that will meet at the barrier
  meet,           // BSYNC: waits for them
  leave_barrier,  // BREAK: the lanes are no longer waited for
  read_barrier,   // BMOV: a convergence barrier's lanes to a register, and back
  write_barrier,
  meet_mask,       // WARPSYNC: waits for the lanes of a mask, wherever they are
  end_collective,  // ENDCOLLECTIVE: the lanes go on where their own WARPSYNC.COLLECTIVE says
  yield,           // other lanes of the warp go first
  block_barrier,   // BAR
  trap,            // BPT.TRAP, and what has no meaning here
};

// When a branch is taken by all lanes that execute it, or by none: BRA.U.ANY, .CONV, .DIV. `here` are the
// lanes whose guard and condition are true.
enum class Vote : std::uint8_t {
  none,      // every lane for itself
  any,       // one lane wants to
  together,  // every lane of the mask is here
  apart,     // some are not
};

// How the lanes that WARPSYNC waits for go on.
enum class Meeting : std::uint8_t {
  plain,
  exclusive,   // those that name one mask run by themselves
  collective,  // the same, in one place, until ENDCOLLECTIVE, wherever each of them comes from
};

// In ptx::Constant::symbol of an address: its upper 32 bits.
inline constexpr std::uint32_t upper_half = std::uint32_t{1} << 31;

enum class SystemCall : std::uint8_t { none, print, allocate, release, fail_assertion };
// What constant bank 4 holds as the address of such a function: no address of code or data.
inline constexpr std::uint64_t system_calls = 0x0000'0006'0000'0000ull;
inline constexpr std::uint64_t driver_window_bytes = 128;
constexpr std::uint64_t system_call_address(SystemCall call) {
  return system_calls + 16 * static_cast<std::uint64_t>(call);
}

// Addresses of functions as programs keep them, the same in all kernels of a module: no address of data.
inline constexpr std::uint64_t function_window = 0x0000'0007'0000'0000ull;
// A function of the module that is in a kernel's code.
struct FunctionPlace {
  std::uint64_t address = 0;                  // in the window
  std::uint32_t first = 0, instructions = 0;  // in the kernel's code
};

inline constexpr std::uint32_t no_operation = 0xffffffffu;

// One instruction.
struct Action {
  std::uint32_t first = 0, count = 0;   // its operations in Code::operations; before the flow
  std::uint32_t memory = no_operation;  // which of them accesses memory, counted from `first`
  Flow flow = Flow::next;
  Vote vote = Vote::none;
  Meeting meeting = Meeting::plain;
  bool uniform = false;      // of the uniform datapath: for the warp, whatever lanes are active
  std::uint8_t barrier = 0;  // convergence barrier; call, set_return: how many the caller has in use
  bool clear = false;        // read_barrier: and empties it
  // meet: so many barriers behind it are no longer waited at; go_back: the first ones
  std::uint8_t leaves = 0;
  // branch, call, set_return, meet (-1: the next one): index of the instruction;
  // branch_register, call_register: bytes that are added;
  // meet_mask, collective: address
  std::int64_t target = 0;
  ptx::Operand operand;    // mask, address or value, where the flow needs one
  bool inverted = false;   // the mask is
  ptx::Operand result;     // read_barrier: the register
  ptx::Operand condition;  // predicate beside the guard; none: always
};

// Room for intermediate values of one instruction. The first row and the last predicate hold the result of
// BAR.RED until B2R reads it.
inline constexpr std::uint32_t most_temporary_rows = 48, most_temporary_predicates = 6;
inline constexpr std::uint32_t barrier_result_row = 0, first_temporary_row = 2,
                               barrier_result_predicate = most_temporary_predicates - 1;

// Which rows of a warp hold what: registers, uniform registers behind them, then room for intermediate
// values. Predicates: P0 to P6, then UP0 to UP6.
struct Layout {
  std::uint32_t registers = 0;  // R0 to R(n-1), even
  std::uint32_t uniform = 0;    // row of UR0
  std::uint32_t temporary = 0;  // first row behind the uniform registers, even
  std::uint32_t rows = 0;       // all: as many as some instruction needs
  static constexpr std::uint32_t predicates = 14, uniform_predicate = 7;
};

struct Code {
  unsigned generation = 0;
  Layout layout;
  std::vector<Word> words;                // with the addresses that the loader put in
  std::vector<Instruction> instructions;  // by address / 16
  std::vector<Action> actions;            // one an instruction; of a recorded kernel none
  std::vector<ptx::Inst> operations;
  std::vector<std::uint64_t> literals;  // constant bank 2 of code that no file holds
  // Of each instruction the line of the PTX that it comes from, with its text; none where the cubin has no
  // such information
  std::vector<std::uint32_t> ptx_lines;
  std::shared_ptr<const PtxLines> ptx;
  std::vector<FunctionPlace> functions;  // by address
  // Where functions begin, in ascending order: what the registers of Maxwell and Pascal may call
  std::vector<std::uint32_t> entries;
  // It calls functions that save registers, and neither it nor the file says how deep: it may recurse.
  bool unknown_depth = false;

  // Of the instruction at an address: a byte of the kernel's own code, or of a function. nullopt: there is
  // none.
  std::optional<std::uint32_t> index_of(std::uint64_t address) const;
  std::span<const ptx::Inst> of(const Action& action) const {
    return std::span(operations).subspan(action.first, action.count);
  }
};

}  // namespace simtlab::machine
