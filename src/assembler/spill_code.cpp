// The code without the registers of a plan.
#include <algorithm>
#include <utility>

#include "assembler/build.h"
#include "assembler/occupied.h"
#include "assembler/spill.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint8_t stack_register = 1;
constexpr std::uint32_t widest_access = 16;
// Accesses farther from each other do not share a register.
constexpr std::uint32_t longest_share = 300;

// Parts of a spilled register that are in another one.
struct Held {
  Ref of;             // what it holds
  Ref in;             // where
  std::uint32_t gap;  // up to here
};

bool within(const Ref& inner, const Ref& outer) {
  return inner.reg == outer.reg && inner.part >= outer.part &&
         inner.part + inner.count <= outer.part + outer.count;
}
bool overlap(const Ref& a, const Ref& b) {
  return a.reg == b.reg && a.part < b.part + b.count && b.part < a.part + a.count;
}

class Spiller {
 public:
  Spiller(Program& program, const Liveness& liveness, SpillPlan plan)
      : program_(program),
        liveness_(liveness),
        plan_(std::move(plan)),
        builder_(scratch_, program.generation) {
    plan_.reliefs.resize(program.registers.size(), Relief::none);
    scratch_.blocks.emplace_back();
    builder_.start(0);
  }
  void run();

 private:
  Relief relief(const Ref& ref) const {
    return ref && ref.reg < plan_.reliefs.size() ? plan_.reliefs[ref.reg] : Relief::none;
  }
  template <class F>
  void each_segment(std::uint32_t reg, const F& f) const {
    for (std::uint32_t k = 0; k < program_.registers[reg].width; ++k)
      for (const Segment& s : liveness_.lives[liveness_.first_unit[reg] + k]) f(k, s);
  }
  void give_places();
  void find_remakers();
  void block(std::uint32_t b);
  void one(Instruction i, std::uint32_t gap);
  bool copy_of_memory(const Instruction& i, std::uint32_t gap);
  Ref read(const Ref& ref, const Instruction& user, std::uint32_t gap);
  Ref load(const Ref& ref, const Instruction& user);
  Ref remake(const Ref& ref, const Instruction& user);
  void store(const Ref& piece, const Ref& ref, const Instruction& user, bool guarded);
  Instruction load_code(const Ref& to, const Ref& ref);
  Instruction store_code(const Ref& piece, const Ref& ref);
  Instruction taken();
  void put(Instruction i, const Instruction& user, bool guarded);
  Ref new_piece(std::uint32_t reg, unsigned count);
  Ref shared(const Ref& ref, std::uint32_t gap);

  Program& program_;
  const Liveness& liveness_;
  SpillPlan plan_;
  std::vector<std::uint32_t> places_;  // of a register: byte of the frame, or a general register
  std::vector<std::vector<Instruction>> remakers_;
  std::vector<Held> held_;
  std::vector<Instruction> code_;  // of the block, new
  Program scratch_;
  Builder builder_;
};

const char* size_word(unsigned count) { return count == 4 ? "128" : count == 2 ? "64" : ""; }

// Registers that do not live at once may have the same place.
void Spiller::give_places() {
  places_.assign(program_.registers.size(), none);
  constexpr std::uint32_t shared_words = 256, word = 4;
  Occupied taken(liveness_.first_gap.back());
  std::uint32_t words = 0, own = shared_words;
  const std::uint32_t begin = (program_.frame_bytes + widest_access - 1) / widest_access * widest_access;
  for (std::uint32_t r = 0; r < places_.size(); ++r) {
    if (plan_.reliefs[r] != Relief::stored) continue;
    if (plan_.file == File::predicate) {
      places_[r] = program_.add({.file = File::general});
      continue;
    }
    const std::uint32_t width = program_.registers[r].width;
    Numbers used;
    each_segment(r, [&](std::uint32_t, const Segment& s) { used |= taken.in(s.from, s.to); });
    std::uint32_t first = 0;
    const auto is_free = [&] {
      for (std::uint32_t k = first; k < first + width; ++k)
        if (used.has(k)) return false;
      return true;
    };
    while (first < shared_words && !is_free()) first += width;
    if (first < shared_words) {
      each_segment(r, [&](std::uint32_t k, const Segment& s) { taken.take(first + k, s.from, s.to); });
    } else {
      first = (own + width - 1) / width * width;
      own = first + width;
    }
    words = std::max(words, first + width);
    places_[r] = begin + first * word;
  }
  if (words == 0) return;
  program_.spilled += words * word;
  program_.frame_bytes = begin + words * word;
}

void Spiller::find_remakers() {
  remakers_.resize(plan_.reliefs.size());
  for (const Block& b : program_.blocks)
    for (const Instruction& i : b.code)
      for_each_ref(i, [&](const Ref& ref, bool writes) {
        if (writes && relief(ref) == Relief::remade) remakers_[ref.reg].push_back(i);
      });
}

Instruction Spiller::taken() {
  Instruction i = std::move(scratch_.blocks[0].code.back());
  scratch_.blocks[0].code.clear();
  return i;
}

void Spiller::put(Instruction i, const Instruction& user, bool guarded) {
  i.line = user.line;
  i.file = user.file;
  i.source_line = user.source_line;
  if (guarded) {
    i.guard = user.guard;
    i.code.guard = user.code.guard;
    i.code.guard_negated = user.code.guard_negated;
    i.remakes = false;
  }
  code_.push_back(std::move(i));
}

Ref Spiller::new_piece(std::uint32_t reg, unsigned count) {
  // Three parts are in four.
  const unsigned width = count == 3 ? 4 : count;
  const std::uint32_t piece =
      program_.add({.file = program_.registers[reg].file, .width = static_cast<std::uint8_t>(width)});
  return {piece, 0, static_cast<std::uint8_t>(count)};
}

Instruction Spiller::load_code(const Ref& to, const Ref& ref) {
  if (plan_.file == File::predicate) {
    const Ref word{places_[ref.reg], 0, 1};
    Instruction& i = builder_.emit("ISETP", {}, {value_of(word), zero()}, {{"cmp", "NE"}});
    builder_.set_result(i, machine::Name("Pd"), to);
    return taken();
  }
  Instruction& i = builder_.access("LDL", to, {}, places_[ref.reg] + 4u * ref.part, false, {},
                                   {{"size", size_word(to.count)}});
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.code.operands[k].kind == machine::OperandKind::memory) i.code.operands[k].base = stack_register;
  return taken();
}

Instruction Spiller::store_code(const Ref& piece, const Ref& ref) {
  if (plan_.file == File::predicate) {
    const Ref word{places_[ref.reg], 0, 1};
    Instruction& i = builder_.emit("SEL", word, {zero(), number(1)});
    builder_.set_condition(i, machine::Name("Pc"), {piece, true});
    return taken();
  }
  Instruction& i = builder_.access("STL", {}, {}, places_[ref.reg] + 4u * ref.part, false, {value_of(piece)},
                                   {{"size", size_word(piece.count)}});
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.code.operands[k].kind == machine::OperandKind::memory) i.code.operands[k].base = stack_register;
  return taken();
}

// In pieces that local memory has accesses for.
template <class F>
void each_access(const Ref& ref, const F& f) {
  for (unsigned k = 0; k < ref.count;) {
    const unsigned part = ref.part + k, left = ref.count - k;
    const unsigned count = part % 4 == 0 && left >= 4 ? 4 : part % 2 == 0 && left >= 2 ? 2 : 1;
    f(k, count);
    k += count;
  }
}

Ref part_of(const Ref& ref, unsigned from, unsigned count) {
  return {ref.reg, static_cast<std::uint8_t>(ref.part + from), static_cast<std::uint8_t>(count)};
}

Ref Spiller::load(const Ref& ref, const Instruction& user) {
  const Ref piece = new_piece(ref.reg, ref.count);
  each_access(ref, [&](unsigned from, unsigned count) {
    put(load_code(part_of(piece, from, count), part_of(ref, from, count)), user, false);
  });
  return piece;
}

void Spiller::store(const Ref& piece, const Ref& ref, const Instruction& user, bool guarded) {
  each_access(ref, [&](unsigned from, unsigned count) {
    put(store_code(part_of(piece, from, count), part_of(ref, from, count)), user, guarded);
  });
}

// In a register of the whole width if an instruction makes parts that nobody asked for.
Ref Spiller::remake(const Ref& ref, const Instruction& user) {
  bool whole = false;
  for (const Instruction& i : remakers_[ref.reg])
    for_each_ref(i,
                 [&](const Ref& made, bool) { whole = whole || (overlap(made, ref) && !within(made, ref)); });
  Ref piece = new_piece(ref.reg, whole ? program_.registers[ref.reg].width : ref.count);
  if (whole) piece = part_of(piece, ref.part, ref.count);
  for (const Instruction& remaker : remakers_[ref.reg]) {
    Instruction i = remaker;
    bool needed = false;
    for (Ref& made : i.refs) {
      if (!made || !overlap(made, ref)) continue;
      needed = true;
      made = {piece.reg, static_cast<std::uint8_t>(piece.part + made.part - ref.part), made.count};
    }
    if (needed) put(std::move(i), user, false);
  }
  return piece;
}

// A register that holds it, if it may be kept until `gap`.
Ref Spiller::shared(const Ref& ref, std::uint32_t gap) {
  for (Held& h : held_) {
    if (!within(ref, h.of)) continue;
    if (gap > h.gap + longest_share) return {};
    for (std::uint32_t g = h.gap + 1; g < gap; ++g)
      if (plan_.pressure[g] + h.of.count > plan_.target) return {};
    for (std::uint32_t g = h.gap + 1; g < gap; ++g) plan_.pressure[g] += h.of.count;
    h.gap = std::max(h.gap, gap);
    return part_of(h.in, ref.part - h.of.part, ref.count);
  }
  return {};
}

Ref Spiller::read(const Ref& ref, const Instruction& user, std::uint32_t gap) {
  if (const Ref there = shared(ref, gap)) return there;
  std::erase_if(held_, [&](const Held& h) { return overlap(h.of, ref); });
  const Ref piece = relief(ref) == Relief::remade ? remake(ref, user) : load(ref, user);
  held_.push_back({ref, piece, gap});
  return piece;
}

// A copy from or to memory is a load or a store.
bool Spiller::copy_of_memory(const Instruction& i, std::uint32_t gap) {
  Ref to, from;
  if (plan_.file != File::general || !copies(i, to, from) || to.count != 1) return false;
  if (relief(to) == Relief::stored) {
    const Ref piece = relief(from) == Relief::none ? from : read(from, i, gap);
    std::erase_if(held_, [&](const Held& h) { return overlap(h.of, to); });
    store(piece, to, i, true);
    return true;
  }
  if (relief(from) != Relief::stored || relief(to) != Relief::none || shared(from, gap)) return false;
  put(load_code(to, from), i, true);
  return true;
}

void Spiller::one(Instruction i, std::uint32_t gap) {
  if (copy_of_memory(i, gap)) return;
  bool changes_guard = false;
  Ref guard_in_memory = i.guard;
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.refs[k] && i.is_write(k)) changes_guard = changes_guard || overlap(i.refs[k], guard_in_memory);
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (!i.is_write(k) && relief(i.refs[k]) != Relief::none) i.refs[k] = read(i.refs[k], i, gap);
  if (relief(i.guard) != Relief::none) i.guard = read(i.guard, i, gap);

  std::vector<std::pair<Ref, Ref>> stores;
  for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
    const Ref ref = i.refs[k];
    if (!i.is_write(k) || relief(ref) == Relief::none) continue;
    // Where the guard is not what it was any more, all lanes store: some of them what was there.
    const bool keeps_old = i.guarded() && changes_guard;
    Ref piece = new_piece(ref.reg, ref.count);
    if (keeps_old) piece = load(ref, i);
    std::erase_if(held_, [&](const Held& h) { return overlap(h.of, ref); });
    if (!i.guarded() || keeps_old) held_.push_back({ref, piece, gap + 1});
    i.refs[k] = piece;
    stores.emplace_back(piece, ref);
  }
  const Instruction user = i;
  code_.push_back(std::move(i));
  for (const auto& [piece, ref] : stores) store(piece, ref, user, user.guarded() && !changes_guard);
}

void Spiller::block(std::uint32_t b) {
  std::vector<Instruction> old = std::move(program_.blocks[b].code);
  code_.clear();
  code_.reserve(old.size());
  held_.clear();
  std::uint32_t gap = liveness_.first_gap[b];
  for (Instruction& i : old) {
    bool concerned = false, remakes = false;
    for_each_ref(i, [&](const Ref& ref, bool writes) {
      concerned = concerned || relief(ref) != Relief::none;
      remakes = remakes || (writes && relief(ref) == Relief::remade);
    });
    if (!concerned)
      code_.push_back(std::move(i));
    else if (!remakes)
      one(std::move(i), gap);
    ++gap;
    if (held_.size() > 64) held_.erase(held_.begin(), held_.begin() + 32);
  }
  program_.blocks[b].code = std::move(code_);
}

void Spiller::run() {
  give_places();
  find_remakers();
  for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) block(b);
}

}  // namespace

void spill(Program& program, const Liveness& liveness, SpillPlan plan) {
  Spiller(program, liveness, std::move(plan)).run();
}

}  // namespace simtlab::assembler
