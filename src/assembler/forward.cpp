#include "assembler/forward.h"

#include <array>
#include <vector>

#include "assembler/flow.h"
#include "assembler/liveness.h"

namespace simtlab::assembler {
namespace {

struct Spot {
  std::uint32_t block = none, index = 0;
};

class Forwarding {
 public:
  explicit Forwarding(Program& program) : p_(program), flow_(program), facts_(program.registers.size()) {}

  void run() {
    find_writers();
    find_sources();
    drop_where_undefined();
    for (std::uint32_t r = 0; r < facts_.size(); ++r)
      for (std::uint8_t part = 0; part < 4; ++part) shorten(r, part);
    for (Block& b : p_.blocks)
      for (Instruction& i : b.code) {
        for (std::size_t k = 0; k < i.code.operand_count(); ++k)
          if (!i.is_write(k)) rename(i.refs[k]);
        rename(i.guard);
      }
  }

 private:
  struct Part {
    Spot writer;
    Ref source;          // the part that it is a copy of
    bool copied = true;  // what reads it always comes from the copy
  };
  struct Facts {
    std::array<Part, 4> parts{};
    bool once = true;  // no part is written twice, or for some lanes alone
  };

  void find_writers() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k) {
        const Instruction& i = p_.blocks[b].code[k];
        for_each_ref(i, [&](const Ref& r, bool writes) {
          for (unsigned part = r.part; writes && part < unsigned{r.part} + r.count; ++part) {
            Facts& f = facts_[r.reg];
            if (f.parts[part].writer.block != none || i.guarded()) f.once = false;
            f.parts[part].writer = {b, k};
          }
        });
      }
  }

  // The first one comes before the second one on every way there.
  bool is_before(const Spot& first, const Spot& second) const {
    if (first.block == none) return false;
    if (first.block == second.block) return first.index < second.index;
    return flow_.dominates(first.block, second.block);
  }

  // Parts of wide registers stay what they are: a register of its own has room in more places.
  bool comes_from(const Ref& to, const Ref& from, const Spot& at) const {
    const Facts &d = facts_[to.reg], &s = facts_[from.reg];
    const Register &into = p_.registers[to.reg], &of = p_.registers[from.reg];
    if (!d.once || !s.once || into.file != of.file || of.width > into.width) return false;
    if (of.width == into.width && to.part != from.part) return false;
    if (into.fixed != Register::anywhere || of.fixed != Register::anywhere) return false;
    for (unsigned part = from.part; part < unsigned{from.part} + from.count; ++part)
      if (!is_before(s.parts[part].writer, at)) return false;
    return true;
  }

  void find_sources() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; flow_.is_reachable(b) && k < p_.blocks[b].code.size(); ++k) {
        Ref to, from;
        if (!copies(p_.blocks[b].code[k], to, from) || !comes_from(to, from, {b, k})) continue;
        for (std::uint8_t n = 0; n < to.count; ++n)
          facts_[to.reg].parts[to.part + n].source = {from.reg, static_cast<std::uint8_t>(from.part + n), 1};
      }
  }

  // Who reads a copy on a way around it reads something else.
  void drop_where_undefined() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k)
        for_each_ref(p_.blocks[b].code[k], [&](const Ref& r, bool writes) {
          for (unsigned n = r.part; !writes && n < unsigned{r.part} + r.count; ++n) {
            Part& part = facts_[r.reg].parts[n];
            if (part.source && !is_before(part.writer, {b, k})) part.copied = false;
          }
        });
  }

  const Part& part_of(const Ref& unit) const { return facts_[unit.reg].parts[unit.part]; }
  bool is_copy(const Ref& unit) const { return part_of(unit).copied && part_of(unit).source; }

  // A source is written before its copy: there are no cycles.
  void shorten(std::uint32_t reg, std::uint8_t part) {
    Ref unit{reg, part, 1};
    if (!is_copy(unit)) return;
    Ref root = unit;
    while (is_copy(root)) root = part_of(root).source;
    while (is_copy(unit)) {
      const Ref next = part_of(unit).source;
      facts_[unit.reg].parts[unit.part].source = root;
      if (next == root) break;
      unit = next;
    }
  }

  // All parts of one register, at a place that suits so many.
  void rename(Ref& ref) const {
    if (!ref || !is_copy({ref.reg, ref.part, 1})) return;
    const Ref first = facts_[ref.reg].parts[ref.part].source;
    if (first.part % ref.count != 0) return;
    for (std::uint8_t n = 1; n < ref.count; ++n) {
      const Ref unit{ref.reg, static_cast<std::uint8_t>(ref.part + n), 1};
      if (!is_copy(unit) ||
          part_of(unit).source != Ref{first.reg, static_cast<std::uint8_t>(first.part + n), 1})
        return;
    }
    ref = {first.reg, first.part, ref.count};
  }

  Program& p_;
  const Flow flow_;
  std::vector<Facts> facts_;
};

}  // namespace

void forward_copies(Program& program) { Forwarding(program).run(); }

}  // namespace simtlab::assembler
