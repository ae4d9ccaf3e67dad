#include "assembler/coalesce.h"

#include <algorithm>

namespace simtlab::assembler {
namespace {

using Segments = std::vector<Segment>;

// Different values in one gap; `any`: two values of whatever kind.
bool clash(const Segments& a, const Segments& b, bool any = false) {
  const Segments& few = a.size() <= b.size() ? a : b;
  const Segments& many = a.size() <= b.size() ? b : a;
  for (const Segment& s : few) {
    auto at = std::ranges::upper_bound(many, s.from, {}, &Segment::to);
    for (; at != many.end() && at->from < s.to; ++at)
      if (any || at->value == none || (at->value != s.value && !at->apart_from(s))) return true;
  }
  return false;
}

void append(Segments& list, const Segment& s) {
  if (s.from == s.to) return;
  if (!list.empty() && list.back().to == s.from && list.back().value == s.value &&
      list.back().where == s.where)
    list.back().to = s.to;
  else
    list.push_back(s);
}

// What both need is the same value, or different values of different threads: that is none of any other unit.
Segment both(const Segment& a, const Segment& b) {
  Segment s{std::max(a.from, b.from), std::min(a.to, b.to), a.value, a.where};
  if (a.value != b.value) s.value = none;
  if (a.where != b.where) s.where = 0;
  return s;
}

void join(Segments& into, Segments&& other) {
  if (into.size() < other.size()) std::swap(into, other);
  if (other.empty()) return;
  // A few at the end of many, as where blocks follow each other, move nothing.
  const auto begin = std::ranges::lower_bound(into, other.front().from, {}, &Segment::to);
  Segments tail(begin, into.end());
  into.erase(begin, into.end());
  std::size_t i = 0, k = 0;
  while (i < tail.size() && k < other.size()) {
    Segment &a = tail[i], &b = other[k];
    Segment& first = a.from <= b.from ? a : b;
    const std::uint32_t apart = std::min(first.to, std::max(a.from, b.from));
    append(into, {first.from, apart, first.value, first.where});
    first.from = apart;
    if (a.from == b.from && a.from < a.to && b.from < b.to) {
      const Segment shared = both(a, b);
      append(into, shared);
      a.from = b.from = shared.to;
    }
    if (a.from == a.to) ++i;
    if (b.from == b.to) ++k;
  }
  for (; i < tail.size(); ++i) append(into, tail[i]);
  for (; k < other.size(); ++k) append(into, other[k]);
  other = {};
}

// Numbers depend on where something lives alone.
void forget_values(Segments& list) {
  std::size_t kept = 0;
  for (const Segment& s : list)
    if (kept > 0 && list[kept - 1].to == s.from)
      list[kept - 1].to = s.to;
    else
      list[kept++] = s;
  list.resize(kept);
}

// Registers that became one: each is at a place in the widest of them.
class Classes {
 public:
  Classes(Program& program, Liveness& liveness, const CoalesceLimits& limits)
      : program_(program), limits_(limits), lives_(liveness.lives), first_unit_(liveness.first_unit) {
    for (std::uint32_t r = 0; r < program.registers.size(); ++r) {
      above_.push_back({r, 0});
      if (program.registers[r].fixed != Register::anywhere) fixed_.push_back(r);
    }
  }
  struct At {
    std::uint32_t reg, place;
  };
  At find(std::uint32_t reg);
  // Whether part a.place of a.reg and b.place of b.reg are one register now.
  bool merge(At a, At b);

 private:
  Segments& lives(std::uint32_t reg, std::uint32_t place) { return lives_[first_unit_[reg] + place]; }
  bool fixed_clash(std::uint32_t wide, std::uint32_t narrow, std::uint32_t shift, std::uint32_t number);

  bool is_too_long(std::uint32_t reg);

  Program& program_;
  const CoalesceLimits& limits_;
  std::vector<Segments>& lives_;
  const std::vector<std::uint32_t>& first_unit_;
  std::vector<At> above_;
  std::vector<std::uint32_t> fixed_;  // registers with numbers of their own
};

Classes::At Classes::find(std::uint32_t reg) {
  At at{reg, 0};
  while (above_[at.reg].reg != at.reg) {
    At& up = above_[at.reg];
    const At over = above_[up.reg];
    at = {up.reg, at.place + up.place};
    if (over.reg != up.reg) up = {over.reg, up.place + over.place};
  }
  return at;
}

// Registers at the same number, once `wide` begins at `number`, that live at once.
bool Classes::fixed_clash(std::uint32_t wide, std::uint32_t narrow, std::uint32_t shift,
                          std::uint32_t number) {
  const Register& w = program_.registers[wide];
  for (const std::uint32_t f : fixed_) {
    const Register& other = program_.registers[f];
    if (f == wide || f == narrow || above_[f].reg != f || other.file != w.file) continue;
    for (std::uint32_t k = 0; k < w.width; ++k) {
      if (number + k < other.fixed || number + k >= std::uint32_t{other.fixed} + other.width) continue;
      const Segments& there = lives(f, number + k - other.fixed);
      if (clash(lives(wide, k), there, true)) return true;
      if (k >= shift && k - shift < program_.registers[narrow].width &&
          clash(lives(narrow, k - shift), there, true))
        return true;
    }
  }
  return false;
}

bool Classes::is_too_long(std::uint32_t reg) {
  if (limits_.longest_part == none) return false;
  std::uint32_t length = 0;
  for (std::uint32_t k = 0; k < program_.registers[reg].width; ++k)
    for (const Segment& s : lives(reg, k)) length += s.to - s.from;
  return length > limits_.longest_part;
}

bool Classes::merge(At a, At b) {
  if (a.reg == b.reg) return a.place == b.place;
  Register* wide = &program_.registers[a.reg];
  Register* narrow = &program_.registers[b.reg];
  if (wide->file != narrow->file || (limits_.same_width && wide->width != narrow->width)) return false;
  if (wide->width < narrow->width) {
    std::swap(a, b);
    std::swap(wide, narrow);
  }
  if (a.place < b.place) return false;
  const std::uint32_t shift = a.place - b.place;
  if (shift % narrow->width != 0 || shift + narrow->width > wide->width) return false;
  for (std::uint32_t k = 0; k < narrow->width; ++k)
    if (clash(lives(a.reg, shift + k), lives(b.reg, k))) return false;
  if (wide->width == 4 && narrow->width < 4 && is_too_long(b.reg)) return false;
  if (wide->fixed != Register::anywhere || narrow->fixed != Register::anywhere) {
    if (!limits_.fixed) return false;
    if (wide->fixed == Register::anywhere && narrow->fixed < shift) return false;
    const std::uint32_t number =
        wide->fixed != Register::anywhere ? wide->fixed : std::uint32_t{narrow->fixed} - shift;
    if (number % wide->width != 0) return false;
    if (narrow->fixed != Register::anywhere && narrow->fixed != number + shift) return false;
    if (fixed_clash(a.reg, b.reg, shift, number)) return false;
    if (wide->fixed == Register::anywhere) fixed_.push_back(a.reg);
    wide->fixed = static_cast<std::uint8_t>(number);
  }
  above_[b.reg] = {a.reg, shift};
  for (std::uint32_t k = 0; k < narrow->width; ++k) join(lives(a.reg, shift + k), std::move(lives(b.reg, k)));
  return true;
}

struct Copy {
  Ref to, from;
  unsigned depth;
};

}  // namespace

void coalesce(Program& program, Liveness& liveness, const CoalesceLimits& limits) {
  std::vector<Copy> found;
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code)
      if (Ref to, from; copies(i, to, from)) found.push_back({to, from, block.depth});
  std::ranges::stable_sort(found, std::ranges::greater(), &Copy::depth);
  Classes classes(program, liveness, limits);
  const auto place_of = [&](const Ref& ref) {
    Classes::At at = classes.find(ref.reg);
    at.place += ref.part;
    return at;
  };
  for (const Copy& copy : found) classes.merge(place_of(copy.to), place_of(copy.from));
  for (Segments& list : liveness.lives) forget_values(list);
  const auto rename = [&](Ref& ref) {
    if (!ref) return;
    const Classes::At at = place_of(ref);
    ref.reg = at.reg;
    ref.part = static_cast<std::uint8_t>(at.place);
  };
  for (Block& block : program.blocks) {
    for (Instruction& i : block.code) {
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) rename(i.refs[k]);
      rename(i.guard);
      rename(i.beside);
    }
    std::erase_if(block.code, [](const Instruction& i) {
      Ref to, from;
      return copies(i, to, from) && to == from;
    });
  }
}

}  // namespace simtlab::assembler
