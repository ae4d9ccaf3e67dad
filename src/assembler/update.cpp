#include "assembler/update.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/coalesce.h"
#include "assembler/control_effects.h"
#include "assembler/liveness.h"

namespace simtlab::assembler {
namespace {

constexpr std::size_t farthest = 256;  // instructions that an update may pass
constexpr std::size_t many_copies = 8;

// Sums, products and tests: nothing waits long for them.
bool is_light(const Instruction& i) {
  constexpr std::array<std::string_view, 18> names = {
      "IADD3", "IMAD",    "LEA",    "SHF", "LOP3", "ISETP", "MOV",    "SEL",  "IMNMX",
      "IADD",  "IADD32I", "ISCADD", "SHL", "SHR",  "LOP",   "LOP32I", "XMAD", "MOV32I"};
  // What has to do with the flags of a sum stays where it is.
  if (i.code.form->bundled() && (i.code.field("cc") != 0 || i.code.field("x") != 0)) return false;
  return i.target == none && i.barrier == none && is_one_of_names(base_mnemonic(i.code), names);
}

class Updates {
 public:
  explicit Updates(Program& program)
      : p_(program),
        becomes_(program.registers.size()),
        writers_(program.registers.size()),
        readers_(program.registers.size()),
        moved_(program.registers.size()),
        taken_(program.registers.size()) {}

  void run() {
    count();
    for (Block& block : p_.blocks) {
      if (block.depth == 0) continue;
      // From behind: what is moved then has been looked at.
      for (std::size_t k = block.code.size(); k-- > 0;)
        if (is_light(block.code[k])) update(block.code, k);
      use_in_place(block.code);
    }
  }

 private:
  void count() {
    for (const Block& block : p_.blocks)
      for (const Instruction& i : block.code) {
        for_each_ref(i, [&](const Ref& r, bool writes) {
          std::uint32_t& n = (writes ? writers_ : readers_)[r.reg];
          ++n;
        });
        Ref to, from;
        if (copies(i, to, from) && becomes_[from.reg].size() < many_copies)
          becomes_[from.reg].push_back(to.reg);
      }
  }

  static bool touches(const Instruction& i, std::uint32_t reg, bool as_write) {
    bool out = false;
    for_each_ref(i, [&](const Ref& r, bool writes) { out = out || (writes == as_write && r.reg == reg); });
    return out;
  }

  // code[at] goes behind the last reader of what its result replaces.
  void update(std::vector<Instruction>& code, std::size_t at) {
    Ref result;
    for (std::size_t k = 0; k < code[at].code.operand_count(); ++k)
      if (code[at].is_write(k) && code[at].refs[k] &&
          p_.registers[code[at].refs[k].reg].file == File::general)
        result = code[at].refs[k];
    if (!result || code[at].copy) return;
    if (writers_[result.reg] == p_.registers[result.reg].width / result.count)
      for (const std::uint32_t old : becomes_[result.reg]) sink(code, at, old);
    // A copy of what it was before
    const std::size_t first = at > farthest ? at - farthest : 0;
    for (std::size_t k = at; k-- > first;) {
      if (touches(code[k], result.reg, true)) break;
      Ref to, from;
      if (copies(code[k], to, from) && !code[k].guarded() && from.reg == result.reg) sink(code, at, to.reg);
    }
  }

  void sink(std::vector<Instruction>& code, std::size_t at, std::uint32_t old) {
    std::size_t last = at;
    const std::size_t end = std::min(code.size(), at + farthest);
    for (std::size_t k = at + 1; k < end; ++k) {
      if (touches(code[k], old, false)) last = k;
      if (touches(code[k], old, true)) break;
    }
    if (last == at) return;
    // What depends on it goes with it.
    std::vector<std::size_t> with = {at};
    ++mark_;
    note(code[at]);
    for (std::size_t k = at + 1; k <= last; ++k) {
      if (!depends(code[k])) continue;
      if (!is_light(code[k]) || touches(code[k], old, false)) return;
      with.push_back(k);
      note(code[k]);
    }
    std::vector<Instruction> later;
    std::size_t kept = at, next = 0;
    for (std::size_t k = at; k <= last; ++k) {
      if (next < with.size() && with[next] == k) {
        later.push_back(std::move(code[k]));
        ++next;
      } else {
        if (kept != k) code[kept] = std::move(code[k]);
        ++kept;
      }
    }
    for (Instruction& i : later) code[kept++] = std::move(i);
  }

  void note(const Instruction& i) {
    for_each_ref(i, [&](const Ref& r, bool writes) { (writes ? moved_ : taken_)[r.reg] = mark_; });
  }
  // On what is moved; parts of a register count as the whole.
  bool depends(const Instruction& i) const {
    bool out = false;
    for_each_ref(i, [&](const Ref& r, bool writes) {
      out = out || moved_[r.reg] == mark_ || (writes && taken_[r.reg] == mark_);
    });
    return out;
  }

  // What reads a copy reads what was copied, as long as that does not change.
  void use_in_place(std::vector<Instruction>& code) {
    for (std::size_t k = 0; k < code.size(); ++k) {
      Ref to, from;
      if (!copies(code[k], to, from) || code[k].guarded() || to.count != 1) continue;
      if (p_.registers[to.reg].file != p_.registers[from.reg].file) continue;
      if (p_.registers[to.reg].fixed != Register::anywhere ||
          p_.registers[from.reg].fixed != Register::anywhere)
        continue;
      if (writers_[from.reg] > p_.registers[from.reg].width) use(code, k, to, from);
    }
  }

  void use(std::vector<Instruction>& code, std::size_t copy, const Ref& to, const Ref& from) {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    const std::size_t end = std::min(code.size(), copy + farthest);
    std::uint32_t reads = 0;
    for (std::size_t k = copy + 1; k < end; ++k) {
      bool whole = false, written = false;
      for (std::size_t o = 0; o < code[k].code.operand_count(); ++o)
        if (code[k].refs[o].reg == to.reg && !code[k].is_write(o)) {
          ++reads;
          if (code[k].refs[o] == to) places.emplace_back(k, o);
          whole = whole || code[k].refs[o].count > 1;
        }
      for_each_ref(code[k], [&](const Ref& r, bool writes) {
        written = written || (writes && r.reg == to.reg && r.part <= to.part && to.part < r.part + r.count);
      });
      if (whole || written) return;
      if (touches(code[k], from.reg, true)) break;
    }
    // Everybody who reads any part is here.
    if (reads != readers_[to.reg]) return;
    for (const auto& [k, o] : places) code[k].refs[o] = from;
    readers_[to.reg] -= static_cast<std::uint32_t>(places.size());
    readers_[from.reg] += static_cast<std::uint32_t>(places.size());
  }

  Program& p_;
  std::vector<std::vector<std::uint32_t>> becomes_;  // registers that it is copied to
  std::vector<std::uint32_t> writers_, readers_;     // instructions, by register
  std::vector<std::uint32_t> moved_, taken_;         // by register: the last mark
  std::uint32_t mark_ = 0;
};

}  // namespace

void update_in_place(Program& program) {
  Updates(program).run();
  Liveness liveness = liveness_of(program);
  coalesce(program, liveness, {.fixed = false, .same_width = true});
}

}  // namespace simtlab::assembler
