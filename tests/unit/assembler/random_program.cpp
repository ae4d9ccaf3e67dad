#include "random_program.h"

#include <algorithm>

namespace simtlab::assembler::tests {
namespace {

class Maker {
 public:
  Maker(std::uint64_t seed, const Mix& mix) : mix_(mix), random_(seed), b_(program_, 80) {}

  Program make() {
    program_.generation = 80;
    open(0);
    for (unsigned k = 0; k < 3; ++k) define();
    for (unsigned k = 0; k < 2; ++k) define_predicate();
    region(0, mix_.instructions);
    for (const Ref& r : values_)
      if (r.count == 1 && chance(50)) store(r);
    emit_line(b_.emit("EXIT", {}, {}));
    return std::move(program_);
  }

 private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  Instruction& emit_line(Instruction& i) {
    i.line = ++line_;
    return i;
  }
  void open(unsigned depth) {
    program_.blocks.push_back({.code = {}, .next = none, .depth = depth});
    b_.start(static_cast<std::uint32_t>(program_.blocks.size() - 1));
  }
  // Ends the block, which goes on at the next one.
  void go_on(unsigned depth) {
    program_.blocks[b_.block()].next = b_.block() + 1;
    open(depth);
  }

  Ref any(unsigned count = 1) {
    for (unsigned k = 0; k < 30; ++k)
      if (const Ref r = values_[below(values_.size())]; r.count >= count) {
        Ref part = r;
        part.part = static_cast<std::uint8_t>(r.part + below(r.count / count) * count);
        part.count = static_cast<std::uint8_t>(count);
        return part;
      }
    return made(count);
  }
  Ref any_predicate() { return predicates_[below(predicates_.size())]; }
  Ref made(unsigned width) {
    const Ref r = b_.new_register(width);
    for (unsigned k = 0; k < width; ++k) {
      Ref part = r;
      part.part = static_cast<std::uint8_t>(k);
      part.count = 1;
      Instruction& i = emit_line(b_.emit("MOV", part, {number(random_() & 0xffffffu)}));
      i.remakes = chance(50);
    }
    keep(r);
    return r;
  }
  void erase_one(std::vector<Ref>& refs, std::size_t floor) {
    refs.erase(refs.begin() + static_cast<std::ptrdiff_t>(floor + below(refs.size() - floor)));
  }
  void keep(const Ref& r) {
    values_.push_back(r);
    if (values_.size() > mix_.values && values_.size() > floor_) erase_one(values_, floor_);
  }
  // A new register, or one that is there already: it is written once more then.
  Ref result(unsigned count = 1) { return chance(25) ? any(count) : fresh(count); }
  Ref fresh(unsigned count) {
    pending_ = b_.new_register(count);
    return pending_;
  }
  void done(const Ref& r) {
    if (r.reg == pending_.reg) keep(r);
    pending_ = {};
  }

  void define() {
    if (chance(40)) {
      made(1);
      return;
    }
    const Ref d = fresh(1);
    emit_line(b_.emit("S2R", d, {}));
    done(d);
  }
  void define_predicate() {
    const Ref p =
        predicates_.empty() || (chance(70) && predicates_.size() < 40) ? b_.new_predicate() : any_predicate();
    Instruction& i = emit_line(b_.emit("ISETP", {}, {value_of(any()), value_of(any())}, {{"cmp", "LT"}}));
    b_.set_result(i, machine::Name("Pd"), p);
    add_predicate(p);
  }
  void add_predicate(const Ref& p) {
    if (std::ranges::find(predicates_, p) == predicates_.end()) predicates_.push_back(p);
    if (predicates_.size() > mix_.predicates && predicates_.size() > predicate_floor_)
      erase_one(predicates_, predicate_floor_);
  }

  void compute() {
    if (mix_.vectors && chance(25)) {
      const Value a = value_of(any()), c = value_of(any(2));
      const Ref d = result(2);
      emit_line(b_.emit("IMAD.WIDE", d, {a, value_of(any()), c}));
      return done(d);
    }
    const Value a = value_of(any()), c = value_of(any()), e = value_of(any());
    const Ref d = result();
    emit_line(b_.emit("IADD3", d, {a, c, e}));
    done(d);
  }
  void copy(const Ref& d, const Ref& s) {
    Instruction& i = emit_line(b_.emit("MOV", d, {value_of(s)}));
    i.copy = true;
  }
  // As selection does: a register for a number that many instructions read, each time anew.
  void compute_with_number() {
    const Ref n = b_.new_register(1);
    emit_line(b_.emit("MOV", n, {number(below(2))})).remakes = true;
    const Value a = value_of(any()), c = value_of(any());
    const Ref d = result();
    emit_line(b_.emit("IADD3", d, {value_of(n), a, c}));
    done(d);
  }
  void copy_one() {
    const Ref s = any();
    const Ref d = result();
    copy(d, s);
    done(d);
  }
  void copy_predicate() {
    const Ref s = any_predicate(), p = b_.new_predicate();
    Instruction& i = emit_line(b_.emit("PLOP3", {}, {}));
    b_.set_result(i, machine::Name("Pd"), p);
    b_.set_condition(i, machine::Name("Pa"), {s, false});
    i.copy = true;
    add_predicate(p);
  }
  void combine_predicates() {
    const Ref s = any_predicate(), t = any_predicate(), p = b_.new_predicate();
    Instruction& i = emit_line(b_.emit("PLOP3", {}, {}));
    b_.set_result(i, machine::Name("Pd"), p);
    b_.set_condition(i, machine::Name("Pa"), {s, false});
    b_.set_condition(i, machine::Name("Pb"), {t, chance(50)});
    add_predicate(p);
  }
  void load() {
    const unsigned width = mix_.vectors ? 1u << below(3) : 1;
    const Ref base = any();
    const Ref v = b_.new_register(width);
    emit_line(b_.access("LDG", v, base, 16, false, {},
                        {{"size", width == 4   ? "128"
                                  : width == 2 ? "64"
                                               : ""}}));
    for (unsigned k = 0; k < width && width > 1; ++k) {
      Ref part = v, one = b_.new_register(1);
      part.part = static_cast<std::uint8_t>(k);
      part.count = 1;
      copy(one, part);
      keep(one);
    }
    if (width < 4) keep(v);
  }
  void store(const Ref& r) {
    const Ref base = any();
    emit_line(b_.access("STG", {}, base, 0, false, {value_of(r)}, {}));
  }
  void store_vector() {
    const unsigned width = mix_.vectors ? 1u << below(3) : 1;
    if (width == 1) return store(any());
    const Ref v = b_.new_register(width);
    for (unsigned k = 0; k < width; ++k) {
      Ref part = v;
      part.part = static_cast<std::uint8_t>(k);
      part.count = 1;
      copy(part, any());
    }
    const Ref base = any();
    emit_line(b_.access("STG", {}, base, 0, false, {value_of(v)}, {{"size", width == 4 ? "128" : "64"}}));
  }
  // d = p ? a : c in two guarded instructions, or one over what was there.
  void guarded() {
    const Ref p = any_predicate(), a = any(), c = any();
    const bool first = chance(50);
    const bool both = chance(50);
    const Ref d = both ? fresh(1) : any();
    b_.guard({p, first});
    if (chance(50))
      copy(d, a);
    else
      emit_line(b_.emit("IADD3", d, {value_of(a), value_of(c), value_of(a)}));
    if (chance(30)) store(d);
    if (both) {
      b_.guard({p, !first});
      copy(d, c);
    } else if (chance(30)) {
      Instruction& i = emit_line(b_.emit("ISETP", {}, {value_of(a), value_of(c)}, {{"cmp", "LT"}}));
      b_.set_result(i, machine::Name("Pd"), any_predicate());
    }
    b_.guard(always());
    done(d);
  }
  // A load of several registers in some threads, into values that others keep.
  void guarded_load() {
    const Ref p = any_predicate(), base = any();
    const unsigned width = 2u << below(2);
    const Ref v = b_.new_register(width);
    const bool inverted = chance(50);
    if (chance(80)) b_.guard({p, inverted});
    emit_line(b_.access("LDG", v, base, 16, false, {}, {{"size", width == 4 ? "128" : "64"}}));
    b_.guard({p, inverted});
    for (unsigned k = 0; k < width; ++k) copy(any(), {v.reg, static_cast<std::uint8_t>(k), 1});
    if (chance(30)) {
      b_.guard({p, !inverted});
      store(any());
    }
    b_.guard(always());
  }
  void call() {
    const Ref a = any(), c = any(2);
    const auto fixed = [&](std::uint8_t number, std::uint8_t width) {
      return Ref{program_.add({.file = File::general, .width = width, .fixed = number}), 0, width};
    };
    const Ref first = fixed(4, 2), second = fixed(6, 1), back = fixed(4, 1);
    for (std::uint8_t k = 0; k < 2; ++k)
      copy({first.reg, k, 1}, {c.reg, static_cast<std::uint8_t>(c.part + k), 1});
    copy(second, a);
    emit_line(b_.emit("IMAD.WIDE", {}, {value_of(second), zero(), value_of(first)})).refs[0] = back;
    program_.blocks[b_.block()].code.back().writes |= 1;
    const Ref d = fresh(1);
    copy(d, back);
    done(d);
  }

  void step() {
    if (mix_.predicates > 7 && chance(50)) return chance(50) ? guarded() : define_predicate();
    const unsigned what = below(100);
    if (what < 25) return compute();
    if (what < 35) return compute_with_number();
    if (what < 45) return copy_one();
    if (what < 55) return load();
    if (what < 65) return store_vector();
    if (what < 75) return define_predicate();
    if (what < 78) return copy_predicate();
    if (what < 80) return combine_predicates();
    if (what < 83 && mix_.guards && mix_.vectors) return guarded_load();
    if (what < 90 && mix_.guards) return guarded();
    if (what < 92 && mix_.fixed) return call();
    define();
  }
  void steps(unsigned count) {
    for (unsigned k = 0; k < count; ++k) step();
  }

  void branch(const Ref& p, bool inverted) {
    b_.guard({p, inverted});
    emit_line(b_.emit("BRA", {}, {}));
    b_.guard(always());
  }
  // What is defined on one way only is forgotten behind it.
  void region(unsigned depth, unsigned budget) {
    while (budget > 8) {
      const unsigned some = std::min(budget, 2 + below(12));
      steps(some);
      budget -= some;
      if (budget <= 8) break;
      const unsigned inner = std::min(budget, 4 + below(std::max(5u, budget / 2)));
      if (mix_.loops && depth < 3 && chance(40))
        loop(depth, inner);
      else
        diamond(depth, inner);
      budget -= inner;
    }
  }
  template <class F>
  void scoped(const F& f) {
    const auto values = values_;
    const auto predicates = predicates_;
    const std::size_t floor = std::exchange(floor_, values_.size()),
                      predicate_floor = std::exchange(predicate_floor_, predicates_.size());
    f();
    values_ = values;
    predicates_ = predicates;
    floor_ = floor;
    predicate_floor_ = predicate_floor;
  }
  // Threads that leave early set the value before they do.
  void early_exit(unsigned depth, unsigned budget) {
    const Ref joined = chance(50) ? b_.new_register(1) : any();
    const Ref p = any_predicate();
    const bool inverted = chance(50);
    const Ref a = any(), c = any(2);
    b_.guard({p, inverted});
    if (chance(50)) {
      const Ref v = b_.new_register(2);
      emit_line(b_.emit("IMAD.WIDE", v, {value_of(a), value_of(a), value_of(c)}));
      copy(joined, {v.reg, 1, 1});
    } else {
      copy(joined, a);
    }
    branch(p, inverted);
    const std::uint32_t head = b_.block();
    go_on(depth);
    scoped([&] {
      region(depth, budget);
      copy(joined, any());
    });
    go_on(depth);
    program_.blocks[head].code.back().target = b_.block();
    keep(joined);
  }
  void diamond(unsigned depth, unsigned budget) {
    if (chance(30)) return early_exit(depth, budget);
    const Ref joined = b_.new_register(1);
    const Ref p = any_predicate();
    branch(p, chance(50));
    const std::uint32_t head = b_.block();
    go_on(depth);
    scoped([&] {
      region(depth, budget / 2);
      copy(joined, any());
    });
    emit_line(b_.emit("BRA", {}, {}));
    const std::uint32_t then_end = b_.block();
    open(depth);
    program_.blocks[head].code.back().target = b_.block();
    scoped([&] {
      region(depth, budget / 2);
      copy(joined, any());
    });
    go_on(depth);
    program_.blocks[then_end].code.back().target = b_.block();
    keep(joined);
  }
  void loop(unsigned depth, unsigned budget) {
    const Ref carried = b_.new_register(1), twin = b_.new_register(1);
    copy(carried, any());
    copy(twin, any());
    // The same as `carried`, if nobody writes it.
    const bool shadowed = chance(50);
    const Ref shadow = b_.new_register(1);
    copy(shadow, carried);
    go_on(depth + 1);
    const std::uint32_t head = b_.block();
    scoped([&] {
      keep(carried);
      keep(twin);
      if (shadowed) keep(shadow);
      floor_ = values_.size();
      region(depth + 1, budget);
      // Sometimes they swap.
      if (chance(40)) {
        const Ref t = b_.new_register(1);
        copy(t, carried);
        copy(carried, twin);
        copy(twin, t);
      } else {
        copy(carried, any());
        copy(twin, any());
      }
      if (shadowed) copy(shadow, carried);
      define_predicate();
      branch(predicates_.back(), chance(50));
    });
    program_.blocks[b_.block()].code.back().target = head;
    go_on(depth);
    keep(carried);
    keep(twin);
  }

  Mix mix_;
  std::mt19937_64 random_;
  Program program_;
  Builder b_;
  std::vector<Ref> values_, predicates_;
  std::size_t floor_ = 0, predicate_floor_ = 0;  // those before it stay
  Ref pending_;
  std::uint32_t line_ = 0;
};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ a >> 29;
}

class Machine {
 public:
  Machine(const Program& program, bool numbered, std::uint64_t seed)
      : program_(program), numbered_(numbered) {
    std::uint32_t units = 0;
    for (const Register& r : program.registers) {
      first_.push_back(units);
      units += r.width;
    }
    general_.assign(numbered ? 260 : units, 0xdead0000u + static_cast<std::uint32_t>(seed));
    predicates_.assign(numbered ? 8 : units, seed & 1u);
  }

  std::vector<std::uint64_t> run(unsigned steps) {
    std::uint32_t block = 0;
    while (block != none) {
      const Block& b = program_.blocks[block];
      std::uint32_t next = b.next;
      for (const Instruction& i : b.code) {
        if (steps-- == 0) return out_;
        if (!holds(i)) continue;
        if (i.code.mnemonic() == "EXIT") return out_;
        if (i.code.mnemonic() == "BRA")
          next = i.target;
        else
          execute(i);
      }
      block = next;
    }
    return out_;
  }

 private:
  bool is_general(const Instruction& i, std::size_t k) const {
    return i.code.operands[k].kind != machine::OperandKind::pred;
  }
  std::uint32_t& unit(const Instruction& i, std::size_t k, unsigned part) {
    const machine::Operand& o = i.code.operands[k];
    const bool address = o.kind == machine::OperandKind::memory || o.kind == machine::OperandKind::constant;
    auto& file = is_general(i, k) ? general_ : predicates_;
    if (!numbered_) return file[first_[i.refs[k].reg] + i.refs[k].part + part];
    return file[(address ? o.base : o.number) + part];
  }
  bool holds(const Instruction& i) const {
    if (!i.guard) return !i.code.guard_negated;
    const bool p = (numbered_ ? predicates_[i.code.guard] : predicates_[first_[i.guard.reg]]) != 0;
    return p != i.code.guard_negated;
  }
  void execute(const Instruction& i) {
    std::vector<std::uint32_t> in;
    std::uint64_t hash = i.line;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
      const machine::Operand& o = i.code.operands[k];
      if (i.is_write(k)) continue;
      if (i.refs[k])
        for (unsigned part = 0; part < i.refs[k].count; ++part) {
          in.push_back(unit(i, k, part) ^ (o.inverted ? 1u : 0u));
          // A register that holds 0 is as good as RZ.
          if (in.back() != 0) hash = mixed(hash, std::uint64_t{4 * k + part} << 32 | in.back());
        }
      if (!i.refs[k] &&
          (o.kind == machine::OperandKind::immediate || o.kind == machine::OperandKind::constant))
        in.push_back(static_cast<std::uint32_t>(o.value));
      if (!i.refs[k] && o.kind == machine::OperandKind::reg) in.push_back(0);
    }
    const std::string_view name = i.code.mnemonic();
    if (name == "STG") {
      out_.push_back(hash);
      return;
    }
    if (local_memory(i, name)) return;
    if (name == "MOV" && i.refs[0]) {
      unit(i, 0, 0) = in[0];
      return;
    }
    if (i.copy) hash = in[0];
    std::size_t count = 0;
    const bool chooses = name == "SEL", tests = name == "ISETP" && i.code.field(machine::Name("cmp")) == 5;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.is_write(k) && i.refs[k])
        for (unsigned part = 0; part < i.refs[k].count; ++part) {
          std::uint32_t& to = unit(i, k, part);
          if (chooses)
            to = in.back() != 0 ? in[0] : in[1];
          else if (tests)
            to = in[0] != in[1] ? 1 : 0;
          else
            to = static_cast<std::uint32_t>(i.copy ? hash : mixed(hash, ++count)) &
                 (is_general(i, k) ? ~0u : 1u);
        }
  }
  bool local_memory(const Instruction& i, std::string_view name) {
    if (name != "LDL" && name != "STL") return false;
    const bool loads = name == "LDL";
    std::size_t value = 0, address = 0;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      (i.code.operands[k].kind == machine::OperandKind::memory ? address : value) = k;
    const auto at = static_cast<std::uint64_t>(i.code.operands[address].value);
    const unsigned size = i.code.field(machine::Name("size"));
    const unsigned words = size == 6 ? 4 : size == 5 ? 2 : 1;
    if (at % (4 * words) != 0 || at + 4 * words > program_.frame_bytes ||
        i.code.operands[address].base != 1 || i.refs[value].count != words)
      out_.push_back(0xbad);
    local_.resize(program_.frame_bytes / 4 + 4);
    for (unsigned w = 0; w < words; ++w)
      if (loads)
        unit(i, value, w) = local_[at / 4 + w];
      else
        local_[at / 4 + w] = unit(i, value, w);
    return true;
  }

  const Program& program_;
  bool numbered_;
  std::vector<std::uint32_t> first_, general_, predicates_, local_;
  std::vector<std::uint64_t> out_;
};

}  // namespace

Program random_program(std::uint64_t seed, const Mix& mix) { return Maker(seed, mix).make(); }

std::vector<std::uint64_t> run(const Program& program, bool numbered, std::uint64_t seed, unsigned steps) {
  return Machine(program, numbered, seed).run(steps);
}

}  // namespace simtlab::assembler::tests
