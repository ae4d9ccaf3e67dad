#include "assembler/uniform_registers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "assembler/control_effects.h"
#include "assembler/flow.h"
#include "assembler/schedule_live.h"
#include "assembler/uniform_forms.h"

namespace simtlab::assembler {
namespace {

constexpr unsigned oldest_with_uniform = 75;

// A constant of a bank: bank and offset
using ConstantPlace = std::pair<std::uint8_t, std::uint32_t>;

class Uniforming {
 public:
  Uniforming(Program& program, UniformUsers users)
      : p_(program),
        flow_(program),
        out_(program, program.generation),
        scratch_out_(scratch_, program.generation),
        uniform_(program.registers.size(), false),
        writers_(std::move(users.writers)),
        readers_(std::move(users.readers)) {}

  void run() {
    find_in_loops();
    find_candidates();
    spare_short_loops();
    const UniformSet all = uniform_;
    may_be_copied_.assign(uniform_.size(), true);
    narrow_down();
    drop_useless();
    const UniformSet with_copies = uniform_;
    // Those that are of no use with their copies may be of some without.
    may_be_copied_.assign(uniform_.size(), false);
    uniform_ = all;
    for (std::uint32_t r = 0; r < uniform_.size(); ++r) uniform_[r] = uniform_[r] && !with_copies[r];
    narrow_down();
    drop_useless();
    for (std::uint32_t r = 0; r < uniform_.size(); ++r) uniform_[r] = uniform_[r] || with_copies[r];
    // Both may be operands of one instruction.
    may_be_copied_ = with_copies;
    narrow_down();
    if (std::ranges::find(uniform_, true) != uniform_.end()) rewrite();
  }

 private:
  const Instruction& at(const UniformSpot& s) const { return p_.blocks[s.block].code[s.index]; }

  void find_candidates() {
    for (std::uint32_t r = 0; r < p_.registers.size(); ++r) {
      const Register& reg = p_.registers[r];
      uniform_[r] = reg.fixed == Register::anywhere && reg.width <= 2 && !writers_[r].empty() &&
                    std::ranges::all_of(writers_[r], [&](const UniformSpot& s) {
                      return !p_.blocks[s.block].apart && uniform_form(out_, at(s));
                    });
    }
  }

  // A branch waits longer for a counter of the warp than for one of the lanes. Where a round of a loop takes
  // no longer than that, it would.
  void spare_short_loops() {
    using machine::ResultReader;
    using machine::ResultSource;
    const unsigned wait = machine::uniform_latency(ResultSource::uniform, ResultReader::alu) +
                          machine::predicate_latency(p_.generation, ResultSource::alu, ResultReader::guard);
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      const std::vector<Instruction>& code = p_.blocks[b].code;
      if (code.empty() || code.size() > wait || code.back().target != b || !code.back().guard) continue;
      for (const Instruction& i : code) {
        bool decides = false;
        for_each_ref(i, [&](const Ref& r, bool writes) {
          decides = decides || (writes && r.reg == code.back().guard.reg);
        });
        if (!decides) continue;
        for_each_ref(i, [&](const Ref& r, bool writes) {
          const auto is_here = [&](const UniformSpot& s) { return s.block == b; };
          if (!writes && std::ranges::any_of(writers_[r.reg], is_here)) uniform_[r.reg] = false;
        });
      }
    }
  }

  // It is executed for the warp: all that it reads and writes is uniform.
  bool is_of_warp(const Instruction& i, std::uint32_t block) const {
    bool any = false, all = !p_.blocks[block].apart;
    for_each_ref(i, [&](const Ref& r, bool writes) {
      all = all && uniform_[r.reg];
      any = any || writes;
    });
    return any && all && uniform_form(out_, i).has_value();
  }

  void drop(std::uint32_t reg) {
    uniform_[reg] = false;
    for (const auto* list : {&writers_, &readers_})
      for (const UniformSpot& s : (*list)[reg]) look_again_.push_back(s);
  }

  void narrow_down() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k) check({b, k});
    while (!look_again_.empty()) {
      const UniformSpot s = look_again_.back();
      look_again_.pop_back();
      check(s);
    }
  }

  // An instruction that stays with the lanes writes nothing uniform, and must have room for what it reads.
  void check(const UniformSpot& s) {
    const Instruction& i = at(s);
    copied_.erase({s.block, s.index});
    bool touches = false;
    for_each_ref(i, [&](const Ref& r, bool) { touches = touches || uniform_[r.reg]; });
    if (!touches || is_of_warp(i, s.block)) return;
    for_each_ref(i, [&](const Ref& r, bool writes) {
      if (writes && uniform_[r.reg]) drop(r.reg);
    });
    const auto has_room = [&](std::span<const std::uint32_t> copied) {
      return reading_uniform(out_, p_, i, uniform_, copied).has_value();
    };
    std::vector<std::uint32_t> reads;
    for_each_ref(i, [&](const Ref& r, bool) {
      if (uniform_[r.reg] && std::ranges::find(reads, r.reg) == reads.end()) reads.push_back(r.reg);
    });
    if (reads.empty() || has_room({})) return;
    // Who has the most readers is left for the last.
    std::ranges::stable_sort(reads, {}, [&](std::uint32_t r) { return readers_[r].size(); });
    std::vector<std::uint32_t> without;
    for (std::size_t k = reads.size(); k-- > 0 && without.empty();) {
      std::vector<std::uint32_t> others = reads;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      if (has_room(others)) without = std::move(others);
    }
    if (without.empty()) without = reads;
    const bool may = std::ranges::all_of(without, [&](std::uint32_t r) { return may_be_copied_[r]; });
    if (may && p_.blocks[s.block].depth == 0) {
      copied_[{s.block, s.index}] = std::move(without);
      return;
    }
    for (const std::uint32_t r : without) drop(r);
  }

  // ---- what it is worth ----

  std::uint32_t root(std::uint32_t reg) {
    while (above_[reg] != reg) reg = above_[reg] = above_[above_[reg]];
    return reg;
  }

  // Registers that are computed from each other belong together.
  struct Group {
    std::uint32_t added = 0;   // instructions: loads of constants, copies for lanes
    std::uint32_t spared = 0;  // registers of lanes in loops
  };

  void drop_useless() {
    above_.resize(p_.registers.size());
    for (std::uint32_t r = 0; r < above_.size(); ++r) above_[r] = r;
    each_of_warp([&](const Instruction& i, const UniformSpot&) {
      std::uint32_t first = none;
      for_each_ref(i, [&](const Ref& r, bool) {
        if (first == none) first = root(r.reg);
        above_[root(r.reg)] = first;
      });
    });
    std::map<std::uint32_t, Group> groups;
    std::map<std::pair<std::uint32_t, ConstantPlace>, bool> loaded;
    std::set<std::pair<std::uint32_t, std::uint32_t>> loaded_copies;
    each_of_warp([&](const Instruction& i, const UniformSpot&) {
      if (uniform_form(out_, i)->constants == 0) return;
      std::uint32_t group = none;
      for_each_ref(i, [&](const Ref& r, bool) { group = root(r.reg); });
      const std::optional<SourceValues> sources = source_values(i);
      for (const Value& v : sources->all())
        if (v.kind == Value::Kind::constant && loaded.try_emplace({group, {v.bank, v.offset}}, true).second)
          ++groups[group].added;
    });
    for (const auto& [where, registers] : copied_)
      for (const std::uint32_t r : registers)
        if (loaded_copies.insert({where.first, r}).second) groups[root(r)].added += p_.registers[r].width;
    for (std::uint32_t r = 0; r < uniform_.size(); ++r)
      if (uniform_[r]) {
        Group& g = groups[root(r)];
        if (!holds_predicates(p_.registers[r].file) && in_loops_[r]) g.spared += p_.registers[r].width;
      }
    for (std::uint32_t r = 0; r < uniform_.size(); ++r) {
      if (!uniform_[r]) continue;
      const Group& g = groups[root(r)];
      if (g.added > g.spared) uniform_[r] = false;
    }
  }

  // Registers that are in use where a block of a loop begins
  void find_in_loops() {
    const LiveRegisters live(p_);
    in_loops_.assign(p_.registers.size(), false);
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (p_.blocks[b].depth > 0) live.for_each_in(b, [&](std::uint32_t r) { in_loops_[r] = true; });
  }

  template <class F>
  void each_of_warp(const F& f) const {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k) {
        bool uniform = false;
        for_each_ref(p_.blocks[b].code[k],
                     [&](const Ref& r, bool writes) { uniform = uniform || (writes && uniform_[r.reg]); });
        if (uniform) f(p_.blocks[b].code[k], UniformSpot{b, k});
      }
  }

  // ---- the code ----

  void rewrite() {
    find_numbers();
    for (std::uint32_t r = 0; r < uniform_.size(); ++r)
      if (uniform_[r])
        p_.registers[r].file =
            holds_predicates(p_.registers[r].file) ? File::uniform_predicate : File::uniform;
    std::vector<Instruction> at_entry;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      Block& block = p_.blocks[b];
      std::vector<Instruction> code;
      code.reserve(block.code.size());
      std::map<std::uint32_t, std::uint32_t> copies;  // by uniform register
      std::uint32_t index = 0;
      for (Instruction& i : block.code) {
        const auto copied = copied_.find({b, index++});
        bool of_warp = false, reads = false;
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (uniform_[r.reg]) (writes ? of_warp : reads) = true;
        });
        if (of_warp) {
          // What a loop needs is loaded once.
          const bool inside = block.depth > 0;
          Instruction made = in_uniform_datapath(out_, i, numbers_, [&](const Value& v) {
            return loaded(v, i, inside ? 0 : b, inside ? at_entry : code);
          });
          add(code, std::move(made));
          for_each_ref(code.back(), [&](const Ref& r, bool writes) {
            if (writes) copies.erase(r.reg);
          });
        } else if (reads && copied != copied_.end()) {
          for (const std::uint32_t r : copied->second) copy_for_lanes(r, i, copies, code);
          code.push_back(with_copies(i, copied->second, copies));
        } else if (reads) {
          code.push_back(*reading_uniform(out_, p_, i, uniform_));
        } else {
          code.push_back(std::move(i));
        }
      }
      block.code = std::move(code);
    }
    std::vector<Instruction>& entry = p_.blocks[0].code;
    entry.insert(entry.begin(), std::make_move_iterator(at_entry.begin()),
                 std::make_move_iterator(at_entry.end()));
    drop_unread();
  }

  void copy_for_lanes(std::uint32_t reg, const Instruction& like,
                      std::map<std::uint32_t, std::uint32_t>& copies, std::vector<Instruction>& code) {
    const auto [it, fresh] = copies.try_emplace(reg);
    if (!fresh) return;
    const Register& from = p_.registers[reg];
    const bool predicate = holds_predicates(from.file);
    const std::uint8_t width = from.width;
    it->second = p_.add({.file = predicate ? File::predicate : File::general, .width = width});
    uniform_.push_back(false);
    for (std::uint8_t part = 0; part < width; ++part) {
      scratch_.blocks.assign(1, {});
      Instruction made;
      if (predicate) {
        made = scratch_out_.emit("PLOP3", {}, {});
        scratch_out_.set_result(made, "Pd", {it->second});
        scratch_out_.set_condition(made, "Pc", {{reg}});
        scratch_out_.set_field(made, "pc_uniform", 1);
        scratch_out_.set_number(made, "lut", 0xaa);
      } else {
        made = scratch_out_.emit("MOV", {it->second, part, 1}, {uniform_value({reg, part, 1})});
      }
      made.line = like.line, made.file = like.file, made.source_line = like.source_line;
      code.push_back(std::move(made));
    }
  }

  Instruction with_copies(const Instruction& i, const std::vector<std::uint32_t>& copied,
                          const std::map<std::uint32_t, std::uint32_t>& copies) const {
    std::optional<Instruction> made = reading_uniform(out_, p_, i, uniform_, copied);
    Instruction out = made ? *std::move(made) : i;
    const auto replace = [&](Ref& r) {
      if (r && std::ranges::find(copied, r.reg) != copied.end()) r.reg = copies.at(r.reg);
    };
    for (std::size_t k = 0; k < out.code.operand_count(); ++k) replace(out.refs[k]);
    replace(out.guard);
    return out;
  }

  void find_numbers() {
    for (std::uint32_t r = 0; r < uniform_.size(); ++r) {
      if (!uniform_[r] || writers_[r].size() != 1 || p_.registers[r].width != 1) continue;
      const Instruction& i = at(writers_[r][0]);
      const std::optional<SourceValues> sources = source_values(i);
      if (i.code.mnemonic() == "MOV" && sources && sources->values[0].is_number())
        numbers_[r] = static_cast<std::uint32_t>(sources->values[0].bits);
    }
  }

  // The register that a ULDC brings the constant into, in this block or in one that all ways lead through.
  Ref loaded(const Value& v, const Instruction& like, std::uint32_t block, std::vector<Instruction>& code) {
    const std::uint8_t width = v.wide ? 2 : 1;
    std::vector<std::pair<std::uint32_t, Ref>>& known = loaded_[{v.bank, v.offset}];
    for (const auto& [in, ref] : known)
      if (ref.count == width && (in == block || flow_.dominates(in, block))) return ref;
    const Ref ref{.reg = p_.add({.file = File::uniform, .width = width}), .part = 0, .count = width};
    uniform_.push_back(true);
    known.emplace_back(block, ref);
    scratch_.blocks.assign(1, {});
    Instruction made = scratch_out_.emit("ULDC", ref, {v}, {{"size", v.wide ? "64" : ""}});
    made.line = like.line, made.file = like.file, made.source_line = like.source_line;
    code.push_back(std::move(made));
    return ref;
  }

  // Two words of a constant come at once.
  void add(std::vector<Instruction>& code, Instruction made) {
    const auto is_load = [](const Instruction& i) { return i.code.mnemonic() == "ULDC" && i.writes != 0; };
    if (!code.empty() && is_load(code.back()) && is_load(made)) {
      Instruction& before = code.back();
      const std::size_t c = constant_operand(made), d = result_operand(made);
      const machine::Operand &low = before.code.operands[c], &high = made.code.operands[c];
      const Ref &first = before.refs[d], &second = made.refs[d];
      if (low.number == high.number && low.value % 8 == 0 && high.value == low.value + 4 &&
          first.reg == second.reg && first.part == 0 && second.part == 1 && first.count == 1) {
        before.refs[d].count = 2;
        scratch_out_.set_word(before, {"size", "64"});
        before.remakes = false;
        return;
      }
    }
    code.push_back(std::move(made));
  }
  static std::size_t constant_operand(const Instruction& i) {
    return static_cast<std::size_t>(i.code.form->operand("c"));
  }
  static std::size_t result_operand(const Instruction& i) {
    return static_cast<std::size_t>(i.code.form->operand("URd"));
  }

  // Numbers that are operands now
  void drop_unread() {
    std::vector<bool> read(p_.registers.size(), false);
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (!writes) read[r.reg] = true;
        });
    for (Block& b : p_.blocks)
      std::erase_if(b.code, [&](const Instruction& i) {
        if (i.code.mnemonic() != "UMOV") return false;
        const Ref& result = i.refs[result_operand(i)];
        return result && !read[result.reg];
      });
  }

  Program& p_;
  const Flow flow_;
  Builder out_;
  Program scratch_;  // of one block, for what is new
  Builder scratch_out_;
  UniformSet uniform_;
  std::vector<std::vector<UniformSpot>> writers_, readers_;  // by register
  std::vector<UniformSpot> look_again_;
  // By block and instruction: registers that it reads as copies
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> copied_;
  UniformSet may_be_copied_, in_loops_;
  std::vector<std::uint32_t> above_;
  KnownNumbers numbers_;
  std::map<ConstantPlace, std::vector<std::pair<std::uint32_t, Ref>>> loaded_;  // block and register
};

}  // namespace

void use_uniform_registers(Program& program) {
  if (program.generation < oldest_with_uniform || program.blocks[0].apart) return;
  if (std::optional<UniformUsers> users = uniform_users(program))
    Uniforming(program, *std::move(users)).run();
}

}  // namespace simtlab::assembler
