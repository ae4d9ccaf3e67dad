#include "assembler/select.h"

#include <array>

#include "assembler/selector.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

// Operations of integers and floats are in several tables; the first one asks the others by type.
Selection selection_of(Op op) {
  static const auto table = [] {
    std::array<Selection, static_cast<std::size_t>(Op::count_)> rows{};
    for (const auto part :
         {integer_selections(), logic_selections(), move_selections(), floating_selections(),
          memory_selections(), control_selections(), conversion_selections(), atomic_selections(),
          call_selections(), warp_selections()})
      for (const SelectionRow& row : part) {
        Selection& place = rows[static_cast<std::size_t>(row.op)];
        if (place == nullptr) place = row.select;
      }
    return rows;
  }();
  return table[static_cast<std::size_t>(op)];
}

// Operations that can leave the upper half of a 64-bit result out.
bool may_make_low_half(const Inst& inst) {
  if (!is_integer(inst.type) || (inst.op == Op::cvt && !is_integer(inst.stype))) return false;
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::neg:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::shr:
    case Op::mov:
    case Op::selp:
    case Op::cvt:
    case Op::cvta: return true;
    default: return false;
  }
}

}  // namespace

Selector::Selector(const ptx::VirtualFunction& function, const ptx::Module& module, unsigned generation,
                   Program& program)
    : f_(function),
      module_(module),
      generation_(generation),
      program_(program),
      cfg_(ptx::build_cfg(function.fn)),
      builder_(program, generation) {}

// Registers whose instructions all make a low half only are single ones.
void Selector::make_registers() {
  const std::size_t count = f_.registers.size();
  definition_.assign(count, none);
  std::vector<std::uint8_t> writes(count, 0);
  std::vector<bool> whole(count, false);
  read_.assign(count, false);
  for (std::uint32_t pc = 0; pc < f_.fn.code.size(); ++pc) {
    const Inst& inst = f_.fn.code[pc];
    const auto read = [&](const Operand& o) {
      if (o.kind == ptx::OperandKind::reg || o.kind == ptx::OperandKind::pred) read_[o.index] = true;
    };
    read(inst.guard);
    for (unsigned i = 0; i < inst.src_count; ++i) read(inst.src[i]);
    for (unsigned k = 0; k < inst.dst_count; ++k) {
      const Operand& o = inst.dst[k];
      if (o.kind != ptx::OperandKind::reg && o.kind != ptx::OperandKind::pred) continue;
      definition_[o.index] = writes[o.index] == 0 && inst.guard.kind == ptx::OperandKind::none ? pc : none;
      writes[o.index] = 1;
      if (!inst.low_half || !may_make_low_half(inst)) whole[o.index] = true;
    }
  }
  refs_.resize(count);
  for (std::size_t r = 0; r < count; ++r) {
    if (f_.registers[r] == Type::pred) {
      refs_[r] = {.reg = program_.add({.file = File::predicate})};
      continue;
    }
    const unsigned bytes = ptx::size_of(f_.registers[r]);
    const unsigned width = bytes <= 4 || (bytes == 8 && !whole[r]) ? 1 : bytes / 4;
    refs_[r] = {.reg = program_.add({.width = static_cast<std::uint8_t>(width)}),
                .part = 0,
                .count = static_cast<std::uint8_t>(width)};
  }
}

void Selector::run() {
  make_registers();
  const auto blocks = static_cast<std::uint32_t>(cfg_.blocks.size());
  program_.generation = generation_;
  program_.frame_bytes = f_.fn.frame_bytes;
  program_.blocks.resize(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) select_block(b);
  order_blocks(blocks);
  // Layout puts branches where they are needed.
  for (Block& block : program_.blocks)
    if (!block.code.empty() && block.code.back().target != none && !block.code.back().guarded()) {
      block.next = block.code.back().target;
      block.code.pop_back();
    }
}

// Blocks that were split off come behind those that they go on from.
void Selector::order_blocks(std::uint32_t from_ptx) {
  std::vector<Block>& blocks = program_.blocks;
  if (blocks.size() == from_ptx) return;
  std::vector<std::uint32_t> number(blocks.size(), none);
  std::vector<Block> ordered;
  ordered.reserve(blocks.size());
  for (std::uint32_t b = 0; b < from_ptx; ++b)
    for (std::uint32_t k = b; k != none && (k == b || k >= from_ptx);) {
      number[k] = static_cast<std::uint32_t>(ordered.size());
      const std::uint32_t next = blocks[k].next;
      ordered.push_back(std::move(blocks[k]));
      k = next;
    }
  for (Block& block : ordered) {
    if (block.next != none) block.next = number[block.next];
    for (Instruction& i : block.code)
      if (i.target != none) i.target = number[i.target];
  }
  blocks = std::move(ordered);
}

void Selector::select_block(std::uint32_t b) {
  const ptx::Cfg::Block& block = cfg_.blocks[b];
  if (block.empty()) give_up("a jump through a table");
  builder_.start(b);
  flag_.reset();
  for (std::uint32_t pc = block.first; pc < block.last; ++pc) instruction(f_.fn.code[pc]);
  const Inst& end = f_.fn.code[block.last - 1];
  const bool leaves = end.op == Op::exit || end.op == Op::ret || end.op == Op::trap || end.op == Op::bra;
  if (leaves && end.guard.kind == ptx::OperandKind::none) return;
  if (block.last >= f_.fn.code.size()) give_up("code that runs into its end");
  program_.blocks[builder_.block()].next = cfg_.block_of[block.last];
}

// Its users have it as an operand, or hold what it does.
bool Selector::is_left_out(const Inst& inst) const {
  switch (inst.fold) {
    case Fold::none:
    case Fold::operand: return false;  // of the moves among them copies are made, or values
    case Fold::predicate: return false;
    default: return true;
  }
}

void Selector::instruction(const Inst& inst) {
  if (is_left_out(inst)) return;
  // Its `and` or `or` makes it.
  if (inst.op == Op::setp && inst.takes == Fold::predicate) return;
  // What is a value wherever it is used
  if (inst.dst_count == 1 && inst.dst[0].kind == ptx::OperandKind::reg && inst.op != Op::cvta &&
      constant_value(inst.dst[0], inst.dst[0].bytes))
    return;
  builder_.at(inst);
  builder_.guard(inst.guard.kind == ptx::OperandKind::none ? always() : condition(inst.guard));
  emit(inst);
  builder_.guard(always());
}

void Selector::emit(const Inst& inst) {
  const Selection select = selection_of(inst.op);
  if (select == nullptr) give_up("instruction " + std::string(ptx::name_of(inst.op)));
  select(*this, inst);
}

bool select(const ptx::VirtualFunction& function, const ptx::Module& module, unsigned generation,
            Program& program, std::string& why) {
  try {
    Selector(function, module, generation, program).run();
    return true;
  } catch (const GivenUp& reason) {
    why = reason.why;
    return false;
  }
}

}  // namespace simtlab::assembler
