#include "assembler/parity.h"

#include <algorithm>
#include <array>
#include <utility>

namespace simtlab::assembler {
namespace {

constexpr unsigned most_passes = 6;

// The register operands of an instruction in their slots (A, B, C), as the banks read them.
using Slots = std::array<Ref, 3>;

// Accesses to memory read their operands on a way of their own; of pairs both banks are needed anyway.
Slots slots_of(const Instruction& i) {
  Slots slots{};
  for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
    const machine::OperandForm& form = i.code.form->operands[k];
    if (form.kind == machine::OperandKind::memory) return {};
    if (form.kind != machine::OperandKind::reg || i.is_write(k) || !i.refs[k]) continue;
    if (i.refs[k].count > 1) return {};
    const unsigned place = form.bits.pieces[0].first;
    if (place == 24 || place == 32 || place == 64) slots[place == 24 ? 0 : place == 32 ? 1 : 2] = i.refs[k];
  }
  return slots;
}

bool reads_result_of(const Instruction& i, const Instruction& before) {
  for (std::size_t k = 0; k < before.code.operand_count(); ++k) {
    if (!before.is_write(k) || !before.refs[k]) continue;
    for (std::size_t n = 0; n < i.code.operand_count(); ++n)
      if (!i.is_write(n) && i.refs[n] && i.refs[n].reg == before.refs[k].reg) return true;
  }
  return false;
}

// Sources of one instruction that are read at once.
struct Reading {
  std::array<Ref, 3> refs{};
  std::uint32_t weight = 1;
};

std::uint32_t weight_of_depth(unsigned depth) {
  constexpr std::array<std::uint32_t, 5> weights{1, 10, 100, 1000, 10000};
  return weights[std::min<std::size_t>(depth, weights.size() - 1)];
}

class Parities {
 public:
  explicit Parities(const Program& program);
  std::vector<Parity> run();

 private:
  void add_readings();
  void add(const Slots& slots, const Slots& before, std::uint32_t weight);
  bool is_free(std::uint32_t reg) const {
    const Register& r = program_.registers[reg];
    return r.file == File::general && r.width == 1 && r.fixed == Register::anywhere;
  }
  Parity parity(const Ref& ref) const;
  unsigned lost(const Reading& reading) const;
  std::uint64_t cost(std::uint32_t reg, Parity parity);

  const Program& program_;
  unsigned reads_;  // of a bank in one turn
  std::vector<Reading> readings_;
  std::vector<std::uint32_t> first_, of_register_;  // readings of a register
  std::vector<Parity> parities_;
};

Parities::Parities(const Program& program)
    : program_(program),
      reads_(program.generation <= 80 ? 2 : 1),
      parities_(program.registers.size(), Parity::any) {}

void Parities::add(const Slots& slots, const Slots& before, std::uint32_t weight) {
  Reading reading{.refs = {}, .weight = weight};
  unsigned count = 0;
  for (unsigned k = 0; k < slots.size(); ++k) {
    // What the instruction before has read in the same slot may be kept.
    if (!slots[k] || slots[k] == before[k]) continue;
    if (std::find(reading.refs.begin(), reading.refs.begin() + count, slots[k]) !=
        reading.refs.begin() + count)
      continue;
    reading.refs[count++] = slots[k];
  }
  if (count > reads_) readings_.push_back(reading);
}

void Parities::add_readings() {
  for (const Block& block : program_.blocks) {
    Slots before{};
    const Instruction* last = nullptr;
    for (const Instruction& i : block.code) {
      const Slots slots = slots_of(i);
      // One that waits for the result of the one before lets another warp go first, and nothing is kept.
      if (last != nullptr && reads_result_of(i, *last)) before = {};
      add(slots, before, weight_of_depth(block.depth));
      before = slots;
      last = &i;
    }
  }
  std::vector<std::uint32_t> counts(program_.registers.size() + 1, 0);
  const auto each = [&](const auto& f) {
    for (std::uint32_t k = 0; k < readings_.size(); ++k)
      for (const Ref& ref : readings_[k].refs)
        if (ref && is_free(ref.reg)) f(ref.reg, k);
  };
  each([&](std::uint32_t reg, std::uint32_t) { ++counts[reg + 1]; });
  for (std::size_t r = 1; r < counts.size(); ++r) counts[r] += counts[r - 1];
  first_ = counts;
  of_register_.resize(counts.back());
  each([&](std::uint32_t reg, std::uint32_t k) { of_register_[counts[reg]++] = k; });
}

Parity Parities::parity(const Ref& ref) const {
  if (is_free(ref.reg)) return parities_[ref.reg];
  const Register& r = program_.registers[ref.reg];
  const unsigned number = (r.fixed == Register::anywhere ? 0u : r.fixed) + ref.part;
  return number % 2 == 0 ? Parity::even : Parity::odd;
}

// Turns beyond those that the best parities take. `any` may turn out to be either.
unsigned Parities::lost(const Reading& reading) const {
  unsigned even = 0, odd = 0, count = 0;
  for (const Ref& ref : reading.refs) {
    if (!ref) continue;
    const Parity p = parity(ref);
    ++count;
    even += p != Parity::odd ? 1 : 0;
    odd += p != Parity::even ? 1 : 0;
  }
  const auto turns = [&](unsigned n) { return (n + reads_ - 1) / reads_; };
  return turns(std::max(even, odd)) - turns((count + 1) / 2);
}

std::uint64_t Parities::cost(std::uint32_t reg, Parity parity) {
  const Parity was = std::exchange(parities_[reg], parity);
  std::uint64_t sum = 0;
  for (std::uint32_t k = first_[reg]; k < first_[reg + 1]; ++k) {
    const Reading& reading = readings_[of_register_[k]];
    sum += std::uint64_t{reading.weight} * lost(reading);
  }
  parities_[reg] = was;
  return sum;
}

std::vector<Parity> Parities::run() {
  add_readings();
  std::vector<std::uint32_t> concerned;
  for (std::uint32_t r = 0; r < parities_.size(); ++r) {
    if (first_[r] == first_[r + 1]) continue;
    parities_[r] = concerned.size() % 2 == 0 ? Parity::even : Parity::odd;
    concerned.push_back(r);
  }
  const auto other = [](Parity p) { return p == Parity::even ? Parity::odd : Parity::even; };
  bool changed = true;
  for (unsigned pass = 0; changed && pass < most_passes; ++pass) {
    changed = false;
    for (const std::uint32_t r : concerned)
      if (cost(r, other(parities_[r])) < cost(r, parities_[r])) {
        parities_[r] = other(parities_[r]);
        changed = true;
      }
  }
  // Those that make no difference have no wish.
  for (const std::uint32_t r : concerned)
    if (cost(r, Parity::any) == cost(r, parities_[r])) parities_[r] = Parity::any;
  return std::move(parities_);
}

}  // namespace

std::vector<Parity> wanted_parities(const Program& program) { return Parities(program).run(); }

}  // namespace simtlab::assembler
