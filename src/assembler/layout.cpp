#include "assembler/layout.h"

#include <algorithm>
#include <utility>

#include "assembler/build.h"
#include "assembler/flow.h"
#include "machine/decode.h"
#include "machine/encode.h"

namespace simtlab::assembler {
namespace {

bool ends_in_branch(const Block& block) {
  return !block.code.empty() && block.code.back().target != none && block.code.back().barrier == none;
}

// Where one arrives that goes to a block; a cycle of empty ones is itself.
std::uint32_t arrival(const Program& program, std::uint32_t block) {
  for (std::size_t steps = 0; steps < program.blocks.size(); ++steps) {
    const Block& b = program.blocks[block];
    if (!b.code.empty() || b.next == none) break;
    block = b.next;
  }
  return block;
}

void skip_empty_blocks(Program& program) {
  std::vector<std::uint32_t> to(program.blocks.size());
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) to[b] = arrival(program, b);
  for (Block& b : program.blocks) {
    if (b.next != none) b.next = to[b.next];
    for (Instruction& i : b.code)
      if (i.target != none) i.target = to[i.target];
    // Both ways lead to one place.
    if (ends_in_branch(b) && b.code.back().target == b.next) b.code.pop_back();
  }
}

// Blocks in another order: block order[k] is number k.
void reorder(Program& program, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> number(program.blocks.size(), none);
  std::vector<Block> kept;
  for (const std::uint32_t b : order) {
    number[b] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(program.blocks[b]));
  }
  for (Block& b : kept) {
    if (b.next != none) b.next = number[b.next];
    for (Instruction& i : b.code)
      if (i.target != none) i.target = number[i.target];
  }
  program.blocks = std::move(kept);
}

// A loop whose last block jumps to its first one, and that is left by a branch before: what stands behind
// that branch goes to the front, so that a round has one branch less. Inner loops first.
void rotate_loops(Program& program) {
  const Flow flow(program);
  std::vector<std::uint32_t> order(program.blocks.size());
  for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
  std::vector<std::vector<std::uint32_t>> members(flow.loop_count());
  for (std::uint32_t b = 0; b < order.size(); ++b)
    for (std::uint32_t l = flow.loop_of(b); l != none; l = flow.loop(l).outer) members[l].push_back(b);
  std::vector<std::uint32_t> place(order);
  for (std::uint32_t l = flow.loop_count(); l-- > 0;) {
    const std::uint32_t header = flow.loop(l).header;
    if (header == none || header == 0 || members[l].size() < 2) continue;
    std::uint32_t first = none, last = 0;
    for (const std::uint32_t b : members[l]) {
      first = std::min(first, place[b]);
      last = std::max(last, place[b]);
    }
    const Block& end = program.blocks[order[last]];
    const bool jumps = end.next == header && !ends_in_branch(end);
    const bool whole = last - first + 1 == members[l].size() && order[first] == header;
    if (!jumps || !whole) continue;
    std::uint32_t leave = none;
    for (std::uint32_t k = last; leave == none && k-- > first;) {
      const Block& b = program.blocks[order[k]];
      if (ends_in_branch(b) && b.next != none &&
          flow.contains(l, b.next) != flow.contains(l, b.code.back().target))
        leave = k;
    }
    if (leave == none) continue;
    const auto at = [&](std::uint32_t k) { return order.begin() + static_cast<std::ptrdiff_t>(k); };
    std::rotate(at(first), at(leave + 1), at(last + 1));
    for (std::uint32_t k = first; k <= last; ++k) place[order[k]] = k;
  }
  reorder(program, order);
}

void drop_blocks(Program& program) {
  std::vector<bool> reached(program.blocks.size(), false);
  std::vector<std::uint32_t> left = {arrival(program, 0)};
  const std::uint32_t entry = left.front();
  reached[entry] = true;
  while (!left.empty()) {
    const std::uint32_t b = left.back();
    left.pop_back();
    for (const std::uint32_t to : successors(program, b))
      if (!reached[to]) {
        reached[to] = true;
        left.push_back(to);
      }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    if (reached[b]) order.push_back(b);
  reorder(program, order);
}

// An unguarded branch at the end says where the next block is, and nothing else.
void branches_to_next(Program& program) {
  for (Block& b : program.blocks)
    if (ends_in_branch(b) && !b.code.back().guarded() && b.next == none) {
      b.next = b.code.back().target;
      b.code.pop_back();
    }
}

void add_branches(Program& program) {
  Builder out(program, program.generation);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    Block& block = program.blocks[b];
    if (ends_in_branch(block)) {
      Instruction& end = block.code.back();
      if (end.target == b + 1 && block.next != none && end.guard) {
        end.code.guard_negated = !end.code.guard_negated;
        std::swap(end.target, block.next);
      }
    }
    if (block.next == none || block.next == b + 1) continue;
    out.start(b);
    Instruction& i = out.emit("BRA", {}, {});
    i.target = std::exchange(block.next, none);
    // Two branches end the block now; who asks for its successors does so before.
  }
}

// A branch to where lanes meet is the meeting itself: SYNC goes there.
void meet_instead_of_branching(Program& program) {
  Builder out(program, program.generation);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t k = 0; k < program.blocks[b].code.size(); ++k) {
      const Instruction branch = program.blocks[b].code[k];
      if (branch.code.mnemonic() != "BRA" || branch.target == none) continue;
      const std::vector<Instruction>& there = program.blocks[branch.target].code;
      if (there.empty() || there[0].code.mnemonic() != "SYNC" || there[0].guarded()) continue;
      out.start(b);
      Instruction meeting = out.emit("SYNC", {}, {});
      program.blocks[b].code.pop_back();
      meeting.guard = branch.guard;
      meeting.code.guard = branch.code.guard;
      meeting.code.guard_negated = branch.code.guard_negated;
      meeting.line = branch.line;
      meeting.file = branch.file;
      meeting.source_line = branch.source_line;
      meeting.target = branch.target;
      program.blocks[b].code[k] = meeting;
    }
}

}  // namespace

void lay_out(Program& program) {
  branches_to_next(program);
  skip_empty_blocks(program);
  drop_blocks(program);
  rotate_loops(program);
  add_branches(program);
  if (machine::in_bundles(program.generation)) meet_instead_of_branching(program);
}

namespace {

// SSY says where lanes go on: behind the SYNC at which they meet.
std::int64_t behind_meeting(const Program& program, const Instruction& branch) {
  if (branch.code.mnemonic() != "SSY") return 0;
  const std::vector<Instruction>& code = program.blocks[branch.target].code;
  for (std::size_t k = 0; k < code.size(); ++k)
    if (code[k].code.mnemonic() == "SYNC" && code[k].barrier == branch.barrier)
      return static_cast<std::int64_t>(k + 1);
  SIMTLAB_ASSERT(false, "lanes meet where they are said to");
  return 0;
}

}  // namespace

namespace {

// Whether no offset or place of code lost bits on its way through the word.
bool says_the_same(const machine::Instruction& decoded, const machine::Instruction& made) {
  using machine::OperandKind;
  for (std::size_t k = 0; k < made.operand_count(); ++k) {
    const OperandKind kind = made.operands[k].kind;
    const bool has_place =
        kind == OperandKind::memory || kind == OperandKind::constant || kind == OperandKind::target;
    if (has_place && decoded.operands[k].value != made.operands[k].value) return false;
  }
  return true;
}

}  // namespace

machine::MadeCode encode(const Program& program) {
  machine::MadeCode out;
  out.literals = program.literals;
  out.generation = program.generation;
  out.registers = program.used_registers + place_registers(program.generation);
  out.stack_bytes = program.frame_bytes;
  std::vector<std::uint32_t> first;
  std::uint32_t count = 0;
  for (const Block& b : program.blocks) {
    first.push_back(count);
    count += static_cast<std::uint32_t>(b.code.size());
  }
  for (const Block& b : program.blocks)
    for (const Instruction& made : b.code) {
      machine::Instruction i = made.code;
      const auto at = static_cast<std::uint32_t>(out.words.size());
      i.address = at * static_cast<std::uint32_t>(machine::word_bytes);
      if (const int target = i.form->operand("target"); made.target != none && target >= 0) {
        i.operands[static_cast<std::size_t>(target)].value =
            (std::int64_t{first[made.target]} + behind_meeting(program, made)) *
            static_cast<std::int64_t>(machine::word_bytes);
      }
      // Its call is the next instruction, which returns behind itself.
      if (i.mnemonic() == "PRET")
        i.operands[static_cast<std::size_t>(i.form->operand("target"))].value =
            (std::int64_t{at} + 2) * static_cast<std::int64_t>(machine::word_bytes);
      if (made.address != none) out.addresses[at] = program.addresses[made.address];
      const machine::Word word = machine::encode(i);
      auto decoded = machine::decode(machine::Forms::shipped(), program.generation, word, i.address);
      if (const auto* why = std::get_if<machine::Undecoded>(&decoded))
        throw GivenUp{std::string(i.mnemonic()) + ": " + why->reason};
      if (!says_the_same(std::get<machine::Instruction>(decoded), i))
        throw GivenUp{"an offset of " + std::string(i.mnemonic()) + " that does not fit"};
      out.words.push_back(word);
      out.instructions.push_back(std::get<machine::Instruction>(std::move(decoded)));
      out.lines.push_back({.file = made.file, .line = made.source_line});
      out.ptx_lines.push_back(made.line);
    }
  return out;
}

}  // namespace simtlab::assembler
