// What the SM needs to know of each static instruction, resolved once a launch: pipeline, latency, registers
// by slot.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "machine/instruction.h"
#include "machine/latency.h"
#include "ptx/module.h"
#include "stream/warp_source.h"
#include "timing/front_end.h"
#include "timing/lowering.h"
#include "timing/pipes.h"
#include "timing/stall.h"

namespace simtlab::timing {

// How issue treats an instruction.
enum class Kind : std::uint8_t {
  compute,  // fixed latency
  control,  // may branch or exit
  barrier,
  fence,
  memory,  // global, local, shared or constant: by the space that the executor resolved
  async_commit,
  bulk_copy,
  async_arrival,  // at a barrier in shared memory, behind copies
  async_wait,
  sleep,
};

inline constexpr unsigned control_counters = 6, no_counter = 7;

struct InstInfo {
  std::uint32_t registers = 0;  // first entry in Program::slots: destinations, then sources
  std::uint16_t register_count = 0;
  std::uint8_t dst_count = 0;
  // Destinations that need not be free: counters, which several instructions may hold at once
  std::uint8_t shared_count = 0;
  Kind kind = Kind::compute;
  Pipe pipe = Pipe::fma;
  Stall stall = Stall::wait;  // of those who wait for the result
  ptx::OpClass op_class = ptx::OpClass::int_alu;
  std::uint32_t access = 0;  // Kind::memory: its number among them in the function
  bool returns = false;      // atomics: the old value is wanted
  std::uint8_t flops = 0;    // floating-point operations of a lane
  std::uint8_t count = 1;    // machine instructions; 0: folded into others
  // Of register banks: cycles that reading its operands takes beyond the first
  std::uint8_t conflicts = 0;
  std::uint8_t switch_at = 0;  // the first so many go to part_pipe
  Pipe part_pipe = Pipe::fma;
  // Machine code whose control information is known: `registers` are counters then. Cycles until the warp's
  // next instruction (of other code 1 but for reads of the clock); the counter that is held until operands
  // were read
  bool controlled = false, yields = false;
  bool special = false;  // reads a special register on the way of shuffles
  std::uint8_t stall_count = 1, read_counter = no_counter;
  machine::PartialWait partial;    // for some of those that hold a counter
  std::uint16_t operand_read = 0;  // cycles until then
  std::uint16_t gap = 1;           // cycles from one to the next
  // Of constants that it names as an operand (FrontEnd::operand); 0: none
  std::uint32_t constant = 0;
  // Of the instruction cache: of its first machine instruction, and of the last in the buffer of a warp
  std::uint32_t line = 0;
  std::uint32_t reach = 0;    // that is there; 0: instructions need no cache
  std::uint32_t latency = 0;  // of the last; 8 binary places
  FixedCycles interval = 0, part_interval = 0, sm_cost = 0;
  const ptx::Inst* inst = nullptr;
  // The pipeline of a machine instruction of it.
  Pipe pipe_of(unsigned part) const { return part < switch_at ? part_pipe : pipe; }
};

// Instructions of one function. Scoreboard slots: register rows, then predicates, then the carry flag.
class Program {
 public:
  Program(const ptx::Function& function, std::uint32_t first_predicate, std::uint32_t carry_slot,
          const PipeTable& pipes, const Lowering& lowering);
  // Of machine code: the cycles that reading operands from the same bank of registers costs each instruction.
  void count_bank_conflicts(const device::Device::Sm& sm);
  // Of machine code: the lines of constants that instructions of fixed latency name as operands.
  void number_constants();
  // Where its machine instructions lie: one after the other, or, of machine code, at addresses that are
  // known.
  void lay_out(const CodeLayout& layout, std::span<const std::uint64_t> addresses);
  const ptx::Function& function() const { return *function_; }
  const InstInfo& operator[](std::uint32_t pc) const { return code_[pc]; }
  std::span<const InstInfo> code() const { return code_; }
  std::uint32_t access_count() const { return accesses_; }
  // Destinations and sources of an instruction.
  std::span<const std::uint16_t> registers(const InstInfo& info) const {
    return {&slots_[info.registers], info.register_count};
  }
  // Whether instructions wait for some of those that hold a counter.
  bool waits_in_part() const { return waits_in_part_; }
  // Those that must be ready before it issues.
  std::span<const std::uint16_t> awaited(const InstInfo& info) const {
    return registers(info).subspan(info.shared_count);
  }

 private:
  std::uint32_t name() const;
  void add_operand(const ptx::Operand& operand);
  void add_counters(const machine::Instruction& instruction, const PipeTable& pipes, InstInfo& info);
  void add_instruction(const ptx::Inst& inst, const PipeTable& pipes, const Lowering& lowering);

  const ptx::Function* function_;
  std::uint32_t first_predicate_, carry_slot_, accesses_ = 0;
  bool waits_in_part_ = false;
  std::vector<InstInfo> code_;
  std::vector<std::uint16_t> slots_;
};

// Programs of the functions that a launch reaches, built when first met.
class Programs {
 public:
  // entry decides the size of the scoreboard: rows and predicates of its deepest call chain. Frames of called
  // functions use the same slots as their callers, which may add false dependences across calls, never lose
  // one.
  void begin(const ptx::Function& entry, const PipeTable& pipes, const Lowering& lowering);
  // Its instructions come through caches (front_end.h), registers of machine code lie in banks.
  void place(const device::Device& device, const stream::WarpSource& source);
  const Program* of(const ptx::Function& function);
  std::uint32_t scoreboard_slots() const { return slots_; }

 private:
  const PipeTable* pipes_ = nullptr;
  const Lowering* lowering_ = nullptr;
  const stream::WarpSource* source_ = nullptr;  // null: neither caches nor banks
  const device::Device* device_ = nullptr;
  std::uint32_t rows_ = 0, predicates_ = 0, slots_ = 0;
  bool controlled_ = false;  // machine code with control information
  std::vector<std::unique_ptr<Program>> programs_;
  std::mutex mutex_;  // SMs run side by side
};

}  // namespace simtlab::timing
