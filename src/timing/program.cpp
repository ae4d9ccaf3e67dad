#include "timing/program.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "base/error.h"
#include "machine/code.h"
#include "machine/forms.h"
#include "machine/latency.h"
#include "machine/views.h"
#include "stream/trace/code.h"

namespace simtlab::timing {
namespace {

Kind kind_of(const ptx::Inst& inst) {
  if (inst.mods.behind_copies) return Kind::async_arrival;
  if (ptx::is_bulk_copy(inst)) return Kind::bulk_copy;
  switch (inst.op) {
    case ptx::Op::cp_async_commit: return Kind::async_commit;
    case ptx::Op::cp_async_wait: return Kind::async_wait;
    case ptx::Op::nanosleep: return Kind::sleep;
    case ptx::Op::bar_warp:  // nothing to wait for: the lanes of a warp move together here
      return Kind::compute;
    default: break;
  }
  switch (device::traits(inst.op_class).wait) {
    case device::Wait::branch: return Kind::control;
    case device::Wait::barrier: return Kind::barrier;
    case device::Wait::fence: return Kind::fence;
    default: return ptx::accesses_memory(inst.op_class) ? Kind::memory : Kind::compute;
  }
}

// Adds and multiplies count one, fused ones two, per element; division and roots one.
// A class may state them where the operation does not tell.
std::uint8_t flops_of(const ptx::Inst& inst) {
  if (const std::uint8_t stated = device::traits(inst.op_class).flops; stated != 0) return stated;
  if (!ptx::is_float(inst.type)) return 0;
  const bool pair = inst.type == ptx::Type::f16x2 || inst.type == ptx::Type::bf16x2;
  switch (inst.op) {
    case ptx::Op::add:
    case ptx::Op::sub:
    case ptx::Op::mul:
    case ptx::Op::div:
    case ptx::Op::rcp:
    case ptx::Op::sqrt: return pair ? 2 : 1;
    case ptx::Op::fma:
    case ptx::Op::mad: return pair ? 4 : 2;
    default: return 0;
  }
}

// The pipeline and the pace of the machine instructions of one, and the latency of the last of them.
void set_cost(InstInfo& info, const Lowered& lowered, const PipeTable& pipes) {
  constexpr FixedCycles whole = FixedCycles{1} << memory::fixed_bits;
  const PipeTable::Entry& last = pipes[lowered.op_class];
  const PipeTable::Entry& part = pipes[lowered.part];
  info.count = lowered.count;
  info.pipe = last.pipe;
  info.latency = last.latency;
  info.interval = last.interval;
  info.sm_cost = last.sm_cost;
  if (lowered.count <= 1) return;
  info.part_pipe = part.pipe;
  info.part_interval = part.interval;
  info.switch_at = static_cast<std::uint8_t>(lowered.count - 1);
  std::uint32_t spread = 0;  // from the first to the last, where their latency counts
  if (lowered.rated > 0) {
    const bool two = pipes[lowered.rest].pipe != part.pipe;
    // Whole turns of the scheduler; the last one's latency is the rest.
    if (lowered.chain)
      info.gap = static_cast<std::uint16_t>(
          std::clamp<std::uint32_t>((last.latency >> 8) / lowered.rated / pipes.turns, 1,
                                    0xffff / pipes.turns) *
          pipes.turns);
    info.pipe = pipes[lowered.rest].pipe;
    info.interval = info.part_interval = last.interval * (two ? 2 : 1) / lowered.rated;
    info.switch_at = static_cast<std::uint8_t>(lowered.count / 2);
    spread = info.gap * (lowered.rated - 1u);
  } else if (lowered.whole_latency) {
    const FixedCycles cycles =
        std::clamp<FixedCycles>((part.interval + whole - 1) >> memory::fixed_bits, 1, 0xff00);
    info.gap = static_cast<std::uint16_t>((cycles + pipes.turns - 1) / pipes.turns * pipes.turns);
    spread = info.gap * (lowered.count - 1u);
  }
  info.latency = std::max<std::uint32_t>(256, info.latency - std::min(info.latency, spread << 8));
}

// Special registers are read on the way to the units that the schedulers share: "low 20s" of cycles, more
// where shared memory is busy (an engineer of NVIDIA, forums.developer.nvidia.com, thread 50472; 22 on
// Pascal, where a shuffle takes as many). They are taken for shuffles, but for what is counted. An H100
// counts a wavefront of the data stage for each of a thread's coordinates, none for a block's.
bool reads_special_register(const machine::Instruction& instruction) {
  const std::string_view name = instruction.mnemonic();
  const std::string_view base = name.substr(0, name.find('.'));
  return base == "S2R" || base == "S2UR";
}

// Before Maxwell the clock comes by S2R, too. ptxas 11.8 has the warp wait for 16 cycles behind it on sm_35
// (the control word says 0x2f), and behind no other S2R.
void read_clock(const machine::Instruction& instruction, InstInfo& info) {
  constexpr unsigned cycles = 16;
  constexpr std::uint8_t clock_low = 0x50, clock_high = 0x51;
  const auto operands = std::span(instruction.operands).first(instruction.operand_count());
  const bool reads = std::ranges::any_of(operands, [](const machine::Operand& operand) {
    return operand.kind == machine::OperandKind::special &&
           (operand.number == clock_low || operand.number == clock_high);
  });
  if (!reads || machine::has_control(instruction.generation)) return;
  info.latency = cycles << 8;
  info.stall_count = cycles;
}

void read_special_register(const machine::Instruction& instruction, const PipeTable& pipes, InstInfo& info) {
  constexpr std::uint8_t packed = 0x20, tid_z = 0x23;  // and x and y between them
  const auto operands = std::span(instruction.operands).first(instruction.operand_count());
  const bool coordinate = std::ranges::any_of(operands, [](const machine::Operand& operand) {
    return operand.kind == machine::OperandKind::special && operand.number >= packed &&
           operand.number <= tid_z;
  });
  const PipeTable::Entry& way = pipes[ptx::OpClass::shuffle];
  info.pipe = way.pipe;
  info.latency = way.latency;
  info.interval = way.interval;
  info.special = true;
  info.sm_cost = coordinate ? way.sm_cost : 0;
  info.stall = dependence_stall(ptx::OpClass::shuffle);
}

// Cycles until the unit of an instruction of variable latency has read its operands.
std::uint16_t operand_read(const ptx::Inst& inst, const device::Device::Operands& operands) {
  const auto& traits = device::traits(inst.op_class);
  const bool shared = inst.mods.space == ptx::Space::shared;
  double cycles = operands.shared_load;  // the way on which MUFU, shuffles and the like read theirs, too
  if (traits.access == device::Access::store) {
    const unsigned registers = std::max<unsigned>(inst.mods.vector, 1);
    cycles =
        (shared ? operands.shared_store : operands.global_store) + operands.value_register * (registers - 1);
  } else if (traits.access != device::Access::none) {
    cycles = shared ? operands.shared_load : operands.global_load;
  }
  return static_cast<std::uint16_t>(std::clamp(std::round(cycles), 1.0, 65535.0));
}

}  // namespace

Program::Program(const ptx::Function& function, std::uint32_t first_predicate, std::uint32_t carry_slot,
                 const PipeTable& pipes, const Lowering& lowering)
    : function_(&function), first_predicate_(first_predicate), carry_slot_(carry_slot) {
  code_.reserve(function.code.size());
  slots_.reserve(function.code.size() * 4);
  for (const ptx::Inst& inst : function.code) {
    add_instruction(inst, pipes, lowering);
    if (!function.machine) continue;
    const machine::Instruction& instruction = function.machine->instructions[code_.size() - 1];
    if (reads_special_register(instruction)) {
      read_special_register(instruction, pipes, code_.back());
      read_clock(instruction, code_.back());
    }
    if (machine::is_wide_product(instruction)) code_.back().interval *= 2;
    if (machine::has_control(instruction.generation)) add_counters(instruction, pipes, code_.back());
  }
  slots_.push_back(0);  // so that an empty list at the end has an address
}

namespace {

constexpr unsigned most_banks = 16;
using BankReads = std::array<std::uint8_t, most_banks>;

// The register in an operand slot (A, B, C) of machine code, and how many follow it; 0: none.
struct SlotRead {
  std::uint8_t first = machine::zero_register, count = 0;
};
std::array<SlotRead, 3> slots_of(const machine::Instruction& instruction) {
  std::array<SlotRead, 3> out;
  for (std::size_t i = 0; i < instruction.operand_count(); ++i) {
    const machine::OperandForm& form = instruction.form->operands[i];
    const std::uint8_t number = instruction.operands[i].number;
    const unsigned place = form.bits.pieces[0].first;
    if (form.kind != machine::OperandKind::reg || number == machine::zero_register) continue;
    if (place != 24 && place != 32 && place != 64) continue;
    out[place == 24   ? 0
        : place == 32 ? 1
                      : 2] = {number, static_cast<std::uint8_t>(machine::registers_of(instruction, i))};
  }
  return out;
}

// Of machine code with its control information: distinct source registers, less those that the instruction
// before has kept in the reuse cache, which has a place for each slot. before: null if it keeps nothing.
BankReads reads_of(const machine::Instruction& instruction, const machine::Instruction* before,
                   unsigned banks) {
  BankReads reads{};
  const std::array<SlotRead, 3> slots = slots_of(instruction);
  const std::array<SlotRead, 3> kept = before == nullptr ? std::array<SlotRead, 3>{} : slots_of(*before);
  for (unsigned k = 0; k < slots.size(); ++k) {
    const auto same = [&](const SlotRead& other) { return other.count > 0 && other.first == slots[k].first; };
    if (slots[k].count == 0 || std::any_of(slots.begin(), slots.begin() + k, same)) continue;
    if (before != nullptr && (before->control.reuse >> k & 1) != 0 && same(kept[k])) continue;
    for (unsigned r = 0; r < slots[k].count; ++r) ++reads[(slots[k].first + r) % banks];
  }
  return reads;
}

}  // namespace

// Distinct source registers, bank by bank, less those that the instruction before read in the same place: the
// assembler keeps such operands in the reuse cache where it can, and traces do not say where it did; machine
// code says it. Accesses to memory read their operands on a way of their own.
void Program::count_bank_conflicts(const device::Device::Sm& sm) {
  const unsigned banks = std::min(sm.register_banks, most_banks);
  for (std::size_t i = 0; banks > 0 && i < code_.size(); ++i) {
    InstInfo& info = code_[i];
    if (info.kind != Kind::compute) continue;
    const ptx::Inst& inst = *info.inst;
    const bool keeps = i > 0 && code_[i - 1].kind == Kind::compute;
    BankReads reads{};
    if (info.controlled) {
      const auto& code = function_->machine->instructions;
      reads = reads_of(code[i], keeps ? &code[i - 1] : nullptr, banks);
    }
    for (unsigned k = 0; k < inst.src_count && !info.controlled; ++k) {
      const ptx::Operand& operand = inst.src[k];
      const auto same = [&](const ptx::Operand& other) {
        return other.kind == ptx::OperandKind::reg && other.index == operand.index;
      };
      if (operand.kind != ptx::OperandKind::reg || std::any_of(inst.src.begin(), inst.src.begin() + k, same))
        continue;
      if (keeps && k < code_[i - 1].inst->src_count && same(code_[i - 1].inst->src[k])) continue;
      ++reads[operand.index % banks];
    }
    const unsigned cycles =
        (*std::ranges::max_element(reads) + sm.register_bank_reads - 1) / sm.register_bank_reads;
    // A pipeline of fewer lanes than a warp reads its operands in as many turns.
    const auto interval = static_cast<unsigned>(info.interval >> memory::fixed_bits);
    const bool hides = info.controlled && sm.register_bank_reads == 1;
    const unsigned turns = std::max(info.op_class == ptx::OpClass::fp64 ? 2u : 1u, hides ? interval : 1u);
    info.conflicts = static_cast<std::uint8_t>(cycles > turns ? cycles - turns : 0);
    // The pipeline waits as the scheduler does
    info.interval += FixedCycles{info.conflicts} << memory::fixed_bits;
  }
}

// A number of 31 bits made of name and operations (FNV-1a), for modules may have functions of one name and
// the caches outlive launches. Never 0, which stands for no line.
std::uint32_t Program::name() const {
  std::uint32_t hash = 2166136261u;
  for (const char c : function_->name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  for (const InstInfo& info : code_) hash = (hash ^ static_cast<std::uint32_t>(info.inst->op)) * 16777619u;
  return (hash >> 1) + 1;
}

void Program::number_constants() {
  if (!function_->machine) return;
  const auto& code = function_->machine->instructions;
  const std::uint32_t base = name();
  for (std::size_t i = 0; i < code_.size() && i < code.size(); ++i) {
    if (code_[i].kind != Kind::compute) continue;
    for (std::size_t k = 0; k < code[i].operand_count(); ++k) {
      const machine::Operand& operand = code[i].operands[k];
      if (code[i].form->operands[k].kind != machine::OperandKind::constant ||
          operand.base != machine::zero_register)
        continue;
      const auto line = static_cast<std::uint32_t>(operand.value) / FrontEnd::constant_line_bytes;
      const std::uint32_t number = base + (std::uint32_t{operand.number} << 20) + line;
      code_[i].constant = operand.number == 0 ? number | FrontEnd::parameters
                                              : std::max(1u, number & (FrontEnd::parameters - 1));
    }
  }
}

void Program::lay_out(const CodeLayout& layout, std::span<const std::uint64_t> addresses) {
  // Functions lie apart from each other, the same in every run. The sum fits 32 bits, whatever addresses a
  // trace has.
  const std::uint32_t base = name();
  const auto line = [&](std::uint64_t address) {
    return base + static_cast<std::uint32_t>(layout.line(address) & 0x3fffffff);
  };
  std::uint64_t n = 0;  // machine instructions before
  for (std::size_t i = 0; i < code_.size(); ++i) {
    InstInfo& info = code_[i];
    const std::uint64_t last = n + std::max<unsigned>(info.count, 1) - 1;
    const bool known = i < addresses.size();
    info.line = line(known ? addresses[i] : layout.address(n));
    info.reach = line(known ? addresses[i] + (layout.buffer() - 1) * layout.bytes()
                            : layout.address(last + layout.buffer() - 1));
    n += info.count;
  }
}

// 64-bit values are known by their first row: halves are never written apart.
void Program::add_operand(const ptx::Operand& operand) {
  std::uint32_t slot = 0;
  if (operand.kind == ptx::OperandKind::reg) {
    slot = std::min(operand.index, first_predicate_);
  } else if (operand.kind == ptx::OperandKind::pred) {
    slot = std::min(first_predicate_ + operand.index, carry_slot_);
  } else {
    return;
  }
  slots_.push_back(static_cast<std::uint16_t>(slot));
}

void Program::add_instruction(const ptx::Inst& inst, const PipeTable& pipes, const Lowering& lowering) {
  InstInfo info;
  info.registers = static_cast<std::uint32_t>(slots_.size());
  for (unsigned i = 0; i < inst.dst_count; ++i) add_operand(inst.dst[i]);
  if (inst.mods.cc_out) slots_.push_back(static_cast<std::uint16_t>(carry_slot_));
  const ptx::CallSite* call = nullptr;
  if (inst.op == ptx::Op::call && inst.target < function_->call_sites.size())
    call = &function_->call_sites[inst.target];
  if (call != nullptr)
    for (const ptx::CallArg& value : call->returns) add_operand(value.reg);
  info.dst_count = static_cast<std::uint8_t>(std::min<std::size_t>(slots_.size() - info.registers, 255));
  for (unsigned i = 0; i < inst.src_count; ++i) add_operand(inst.src[i]);
  add_operand(inst.guard);
  if (inst.mods.cc_in) slots_.push_back(static_cast<std::uint16_t>(carry_slot_));
  if (call != nullptr) {
    add_operand(call->pointer);
    for (const ptx::CallArg& value : call->args) add_operand(value.reg);
  }
  info.register_count =
      static_cast<std::uint16_t>(std::min<std::size_t>(slots_.size() - info.registers, 0xffff));
  info.kind = kind_of(inst);
  if (info.kind == Kind::memory || info.kind == Kind::async_arrival || info.kind == Kind::bulk_copy)
    info.access = accesses_++;
  info.stall = dependence_stall(inst.op_class);
  info.op_class = inst.op_class;
  info.returns = inst.op == ptx::Op::atom && info.dst_count > 0;
  set_cost(info, lowering(inst), pipes);
  info.flops = flops_of(inst);
  info.inst = &inst;
  code_.push_back(info);
}

// What the assembler told the hardware takes the place of registers: results of fixed latency are not
// watched, for the next reader stands far enough behind (its stall counts see to that).
void Program::add_counters(const machine::Instruction& instruction, const PipeTable& pipes, InstInfo& info) {
  const machine::Control& control = instruction.control;
  unsigned waits = control.wait_mask;
  // From Ampere on DEPBAR waits for groups of copies (Kind::async_wait).
  if (machine::in_bundles(instruction.generation)) {
    waits |= machine::waited_scoreboards(instruction);
    info.partial = machine::partial_wait(instruction);
    waits_in_part_ = waits_in_part_ || info.partial.scoreboard < control_counters;
  }
  slots_.resize(info.registers);
  if (control.write_barrier < control_counters) slots_.push_back(control.write_barrier);
  info.dst_count = info.shared_count = static_cast<std::uint8_t>(slots_.size() - info.registers);
  for (unsigned i = 0; i < control_counters; ++i)
    if (waits >> i & 1) slots_.push_back(static_cast<std::uint16_t>(i));
  info.register_count = static_cast<std::uint16_t>(slots_.size() - info.registers);
  info.controlled = true;
  info.yields = control.yield;
  // Before Volta 0 lets the next instruction issue in the same cycle.
  info.stall_count =
      std::max<std::uint8_t>(control.stall, machine::in_bundles(instruction.generation) ? 0 : 1);
  if (control.read_barrier < control_counters) info.read_counter = control.read_barrier;
  info.operand_read = operand_read(*info.inst, pipes.operands);
}

void Programs::begin(const ptx::Function& entry, const PipeTable& pipes, const Lowering& lowering) {
  programs_.clear();
  pipes_ = &pipes;
  lowering_ = &lowering;
  rows_ = std::max(entry.total_reg_rows, entry.reg_rows);
  predicates_ = std::max(entry.total_preds, entry.pred_count);
  SIMTLAB_ASSERT(rows_ + predicates_ + 1 < 0xffff, "a kernel has at most 65534 registers");
  // Machine code that says what it waits for has no entries for registers (add_counters()).
  controlled_ = entry.machine && !entry.machine->instructions.empty() &&
                machine::has_control(entry.machine->instructions.front().generation);
  slots_ = controlled_ ? control_counters : rows_ + predicates_ + 2;
  source_ = nullptr;
}

void Programs::place(const device::Device& device, const stream::WarpSource& source) {
  source_ = &source;
  device_ = &device;
}

namespace {

// Where the instructions of machine code lie; none: not known, as of PTX.
std::vector<std::uint64_t> addresses_of(const ptx::Function& function, const stream::trace::Code* recorded) {
  std::vector<std::uint64_t> out;
  if (recorded != nullptr) return recorded->addresses;
  if (!function.machine) return out;
  for (const machine::Instruction& instruction : function.machine->instructions)
    out.push_back(instruction.address);
  return out;
}

}  // namespace

const Program* Programs::of(const ptx::Function& function) {
  const std::lock_guard lock(mutex_);
  for (const auto& program : programs_)
    if (&program->function() == &function) return program.get();
  auto program = std::make_unique<Program>(function, rows_, rows_ + predicates_ + 1, *pipes_, *lowering_);
  if (source_ != nullptr) {
    const stream::trace::Code* const code = source_->code_of(function);
    if (device_->instruction.caches) {
      program->lay_out(CodeLayout(device_->instruction), addresses_of(function, code));
      if (device_->instruction.constant_bytes != 0) program->number_constants();
    }
    if (function.machine || (code != nullptr && !code->mnemonics.empty()))
      program->count_bank_conflicts(device_->sm);
  }
  SIMTLAB_ASSERT(!controlled_ || function.machine, "machine code calls nothing else");
  programs_.push_back(std::move(program));
  return programs_.back().get();
}

}  // namespace simtlab::timing
