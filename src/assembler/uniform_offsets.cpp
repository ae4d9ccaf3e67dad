#include "assembler/uniform_offsets.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/control_effects.h"
#include "assembler/flow.h"
#include "assembler/schedule_memory.h"
#include "assembler/uniform_forms.h"
#include "base/error.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

constexpr unsigned only_generation = 75;
// Words of uniform registers: few enough that there are always numbers for them.
constexpr unsigned most_offset_words = 40;

class UniformOffsets {
 public:
  UniformOffsets(Program& program, UniformUsers users)
      : p_(program),
        flow_(program),
        out_(program, program.generation),
        writers_(std::move(users.writers)),
        readers_(std::move(users.readers)) {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) gone_.emplace_back(p_.blocks[b].code.size(), false);
    in_front_.resize(p_.blocks.size());
    stretches_.resize(p_.blocks.size());
  }

  void run() {
    const auto count = static_cast<std::uint32_t>(p_.registers.size());
    for (std::uint32_t r = 0; r < count; ++r)
      if (const std::optional<Sum> sum = sum_of(r)) move(r, *sum);
    insert();
  }

 private:
  // A pair plus a parameter
  struct Sum {
    std::array<Ref, 2> words;
    std::uint8_t bank = 0;
    std::uint32_t offset = 0;
  };
  // One word of it
  struct Term {
    Ref word;
    Value constant;
  };

  Instruction& at(const UniformSpot& s) { return p_.blocks[s.block].code[s.index]; }
  static std::size_t operand(const Instruction& i, const char* name) {
    return static_cast<std::size_t>(i.code.form->operand(machine::Name(name)));
  }
  bool comes_before(const UniformSpot& first, const UniformSpot& second) const {
    return first.block == second.block ? first.index < second.index
                                       : flow_.dominates(first.block, second.block);
  }

  // d = word + constant, and nothing else
  static std::optional<Term> term_of(const Instruction& i) {
    const std::optional<SourceValues> sources = source_values(i);
    if (i.guarded() || i.address != none || !sources) return std::nullopt;
    Term out;
    for (const Value& v : sources->all()) {
      if (v.is_zero_register()) continue;
      const bool is_word = v.kind == Value::Kind::reg && v.ref.count == 1;
      if (!v.plain() ||
          (is_word ? bool(out.word) : v.kind != Value::Kind::constant || out.constant.offset != 0))
        return std::nullopt;
      if (is_word)
        out.word = v.ref;
      else
        out.constant = v;
    }
    if (!out.word || out.constant.offset == 0) return std::nullopt;
    return out;
  }

  static bool is_unused(const Instruction& i, const char* name, bool inverted) {
    const std::size_t k = operand(i, name);
    return !i.refs[k] && i.code.operands[k].number == machine::true_predicate &&
           (!inverted || i.code.operands[k].inverted);
  }

  std::optional<Sum> sum_of(std::uint32_t reg) {
    const Register& r = p_.registers[reg];
    if (r.file != File::general || r.width != 2 || r.fixed != Register::anywhere ||
        writers_[reg].size() != 2 || readers_[reg].empty())
      return std::nullopt;
    std::array<UniformSpot, 2> spots = {writers_[reg][0], writers_[reg][1]};
    const auto part = [&](const UniformSpot& s) { return at(s).refs[operand(at(s), "Rd")].part; };
    for (const UniformSpot& s : spots)
      if (at(s).code.mnemonic() != "IADD3" && at(s).code.mnemonic() != "IADD3.X") return std::nullopt;
    if (part(spots[0]) == 1) std::swap(spots[0], spots[1]);
    if (part(spots[0]) != 0 || part(spots[1]) != 1) return std::nullopt;
    const Instruction& low = at(spots[0]);
    const Instruction& high = at(spots[1]);
    if (low.code.mnemonic() != "IADD3" || high.code.mnemonic() != "IADD3.X") return std::nullopt;
    // The carry of the one is all that the other takes in
    const Ref carry = low.refs[operand(low, "Pcarry0")];
    if (!carry || high.refs[operand(high, "Pcin0")] != carry ||
        high.code.operands[operand(high, "Pcin0")].inverted || writers_[carry.reg].size() != 1 ||
        readers_[carry.reg].size() != 1 || !is_unused(low, "Pcarry1", false) ||
        !is_unused(high, "Pcarry0", false) || !is_unused(high, "Pcarry1", false) ||
        !is_unused(high, "Pcin1", true))
      return std::nullopt;
    const std::optional<Term> first = term_of(low), second = term_of(high);
    if (!first || !second || first->constant.bank != second->constant.bank ||
        first->constant.offset % 8 != 0 || first->constant.offset + 4 != second->constant.offset)
      return std::nullopt;
    const Sum out{{first->word, second->word}, first->constant.bank, first->constant.offset};
    return is_steady(out, spots) && is_for_addresses(reg, spots) ? std::optional(out) : std::nullopt;
  }

  // The words are written once, before they are added to: they are the same where accesses read them.
  bool is_steady(const Sum& sum, const std::array<UniformSpot, 2>& spots) const {
    for (unsigned w = 0; w < 2; ++w) {
      const Ref& word = sum.words[w];
      const Register& r = p_.registers[word.reg];
      if (r.file != File::general || r.fixed != Register::anywhere) return false;
      unsigned written = 0;
      for (const UniformSpot& s : writers_[word.reg]) {
        const Instruction& i = p_.blocks[s.block].code[s.index];
        bool writes = false;
        for (std::size_t k = 0; k < i.code.operand_count(); ++k)
          writes = writes || (i.is_write(k) && i.refs[k].reg == word.reg && i.refs[k].part <= word.part &&
                              word.part < i.refs[k].part + i.refs[k].count);
        if (!writes) continue;
        if (i.guarded() || ++written > 1 || !comes_before(s, spots[w])) return false;
      }
      if (written != 1) return false;
    }
    return can_be_a_pair(sum.words);
  }
  bool can_be_a_pair(const std::array<Ref, 2>& words) const {
    if (words[0].reg == words[1].reg) return words[0].part % 2 == 0 && words[1].part == words[0].part + 1;
    return std::ranges::all_of(words, [&](const Ref& w) { return p_.registers[w.reg].width == 1; });
  }

  bool is_for_addresses(std::uint32_t reg, const std::array<UniformSpot, 2>& spots) {
    return std::ranges::all_of(readers_[reg], [&](const UniformSpot& s) {
      return comes_before(spots[0], s) && comes_before(spots[1], s) &&
             flow_.depth(s.block) == flow_.depth(spots[0].block) &&
             reading_offset(at(s), {reg, 0, 2}, {}, {}).has_value();
    });
  }

  // The access to `base` as one to a pair and a uniform register.
  std::optional<Instruction> reading_offset(const Instruction& i, const Ref& base, const Ref& pair,
                                            const Ref& offset) const {
    Instruction like = i;
    bool is_address = false;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
      if (i.refs[k].reg != base.reg) continue;
      const machine::Operand& o = i.code.operands[k];
      if (i.refs[k] != base || o.kind != OperandKind::memory || !o.wide || o.scale != 1 || i.beside)
        return std::nullopt;
      like.refs[k] = pair;
      like.beside = offset;
      like.code.operands[k].pair = true;
      is_address = true;
    }
    const std::optional<SourceValues> sources = source_values(i);
    if (!is_address || !sources) return std::nullopt;
    for (const machine::Form* form : out_.forms(i.code.mnemonic())) {
      const auto has_both = [](const machine::OperandForm& o) {
        return o.kind == OperandKind::memory && o.uniform != machine::no_bit && o.pair != machine::no_bit;
      };
      if (form->operands.size() == i.code.operand_count() && std::ranges::any_of(form->operands, has_both))
        if (auto made = out_.with_form(like, *form, sources->all())) return made;
    }
    return std::nullopt;
  }

  void move(std::uint32_t reg, const Sum& sum) {
    if (words_ + 2 * readers_[reg].size() > most_offset_words) return;
    for (const UniformSpot& s : readers_[reg])
      if (p_.blocks[s.block].apart && stretches_of(s.block).meets_block) return;
    const Ref pair = as_pair(sum.words);
    for (const UniformSpot& s : readers_[reg])
      at(s) = *reading_offset(at(s), {reg, 0, 2}, pair, loaded(s, sum));
    for (const UniformSpot& s : writers_[reg]) gone_[s.block][s.index] = true;
  }

  std::uint32_t add(Register r) {
    writers_.emplace_back();
    readers_.emplace_back();
    return p_.add(r);
  }

  Ref as_pair(const std::array<Ref, 2>& words) {
    if (words[0].reg == words[1].reg) return {words[0].reg, words[0].part, 2};
    const std::uint32_t pair = add({.width = 2});
    for (unsigned w = 0; w < 2; ++w) {
      const std::uint32_t word = words[w].reg;
      const auto rename = [&](Ref& r) {
        if (r.reg == word) r.reg = pair, r.part = static_cast<std::uint8_t>(w);
      };
      for (const auto* const list : {&writers_, &readers_})
        for (const UniformSpot& s : (*list)[word]) {
          Instruction& i = at(s);
          for (Ref& r : i.refs) rename(r);
          rename(i.beside);
        }
      for (auto* const list : {&writers_, &readers_}) {
        auto& all = (*list)[pair];
        all.insert(all.end(), (*list)[word].begin(), (*list)[word].end());
        (*list)[word].clear();
      }
    }
    return {pair, 0, 2};
  }

  // The uniform register that a parameter is in where the access is
  Ref loaded(const UniformSpot& s, const Sum& sum) {
    const std::uint32_t begin = stretches_of(s.block).begins[s.index];
    Load& load = in_front_[s.block][{begin, sum.bank, sum.offset}];
    if (!load.ref) {
      load.ref = {add({.file = File::uniform, .width = 2}), 0, 2};
      words_ += 2;
    }
    load.before = std::min(load.before, s.index);
    return load.ref;
  }

  void insert() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      std::vector<Instruction> code = std::exchange(p_.blocks[b].code, {});
      out_.start(b);
      for (std::uint32_t k = 0; k < code.size(); ++k) {
        for (const auto& [place, load] : in_front_[b]) {
          if (load.before != k) continue;
          Value v = parameter(std::get<2>(place), true);
          v.bank = std::get<1>(place);
          Instruction& made = out_.emit("ULDC", load.ref, {v}, {{"size", "64"}});
          made.line = code[k].line, made.file = code[k].file, made.source_line = code[k].source_line;
        }
        if (!gone_[b][k]) p_.blocks[b].code.push_back(std::move(code[k]));
      }
    }
  }

  // Lanes that run apart share the uniform registers. Others run where lanes wait, which nothing is moved
  // over; but a barrier of the block of threads only keeps the order of memory.
  // Of a block's code: where the stretch begins that lanes run without waiting, by instruction, and whether
  // they meet the other warps of the block of threads.
  struct Stretches {
    std::vector<std::uint32_t> begins;
    bool meets_block = false;
  };
  const Stretches& stretches_of(std::uint32_t b) {
    Stretches& out = stretches_[b];
    if (!out.begins.empty()) return out;
    std::uint32_t begin = 0;
    for (const Instruction& i : p_.blocks[b].code) {
      out.begins.push_back(begin);
      if (order_kept_by(i.code) == KeepsOrder::all) begin = static_cast<std::uint32_t>(out.begins.size());
      out.meets_block = out.meets_block || base_mnemonic(i.code) == "BAR";
    }
    return out;
  }

  struct Load {
    Ref ref;
    std::uint32_t before = none;  // the instruction of the block that it is in front of
  };

  Program& p_;
  const Flow flow_;
  Builder out_;
  std::vector<std::vector<UniformSpot>> writers_, readers_;  // by register
  std::vector<std::vector<bool>> gone_;                      // by block
  std::vector<Stretches> stretches_;                         // by block
  // By block: by where the code begins that lanes run without waiting, bank and offset
  std::vector<std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint32_t>, Load>> in_front_;
  unsigned words_ = 0;
};

}  // namespace

void use_uniform_offsets(Program& program) {
  if (program.generation != only_generation) return;
  if (std::optional<UniformUsers> users = uniform_users(program))
    UniformOffsets(program, *std::move(users)).run();
}

}  // namespace simtlab::assembler
