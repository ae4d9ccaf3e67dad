#include <string>

#include "assembler/bundled.h"
#include "assembler/bundled_rewriter.h"
#include "assembler/control_effects.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

// Of offsets, with their signs: forms.csv
constexpr unsigned atomic_bits = 20, shared_atomic_bits = 24;

}  // namespace

void Bundler::load(const Instruction& i) {
  const std::string_view order = word(i, "sem");
  // Up to Kepler LDG goes through textures, for what nobody writes.
  const bool generic = !b_.out().has_form("STG") && (order != "CONSTANT" || !b_.out().has_form("LDG"));
  Instruction& out = with_name(i, generic ? "LD" : i.code.mnemonic());
  if (out.code.form->field("cache") < 0) return;
  if (order == "CONSTANT" && !generic) b_.out().set_word(out, {"cache", "CI"});
  if (order == "STRONG" || order == "MMIO") b_.out().set_word(out, {"cache", "CV"});
}

void Bundler::shared_load(const Instruction& given) {
  Instruction i = given;
  const unsigned size = i.code.field("size"), u = i.code.field("u");
  if (u != 0) throw GivenUp{"a load of shared memory of this kind"};
  clear(i, "size");
  b_.out().set_field(with_name(i, "LDS"), "size", size);
}

void Bundler::load_constant(const Instruction& i) {
  const int at = i.code.form->operand("c");
  const machine::Operand& from = i.code.operands[static_cast<std::size_t>(at)];
  Value c = parameter(static_cast<std::uint32_t>(from.value));
  c.bank = from.number;
  const Ref index = i.refs[static_cast<std::size_t>(at)];
  if (c.bank == 0 && index)
    c.offset = c.offset - machine::launch_slots(selected_as(b_.generation())).parameters +
               machine::launch_slots(b_.generation()).parameters;
  else if (c.bank == 0)
    c.offset = place_of(c.offset);
  Instruction& out = b_.emit("LDC", result(i), {c}, {{"size", word(i, "size")}});
  const auto place = static_cast<std::size_t>(out.code.form->operand("c"));
  out.refs[place] = index;
  out.code.operands[place].base = from.base;
  out.remakes = i.remakes;
}

void Bundler::store(const Instruction& i) {
  Instruction& out = with_name(i, b_.out().has_form("STG") ? i.code.mnemonic() : "ST");
  const std::string_view order = word(i, "sem");
  if (order == "STRONG" || order == "MMIO") b_.out().set_word(out, {"cache", "WT"});
}

void Bundler::bring_near(Instruction& i, unsigned bits) {
  const auto at = static_cast<std::size_t>(i.code.form->operand("mem"));
  machine::Operand& address = i.code.operands[at];
  const std::int64_t limit = std::int64_t{1} << (bits - 1), offset = address.value;
  if (offset >= -limit && offset < limit) return;
  const Ref base = i.refs[at];
  const auto word_of_base = [&](unsigned k) { return base ? value_of(part_of(base, k)) : zero(); };
  const Ref near = b_.temporary(address.wide ? 2 : 1);
  b_.add(part_of(near, 0), word_of_base(0), number(static_cast<std::uint32_t>(offset)),
         {.out = address.wide});
  if (address.wide)
    b_.add(part_of(near, 1), word_of_base(1), number(static_cast<std::uint32_t>(offset >> 32)), {.in = true});
  i.refs[at] = near;
  address.value = 0;
}

void Bundler::atomic(const Instruction& given) {
  if (!locks_done_.empty() && locks_done_.at(b_.out().block())) return locked(given);
  Instruction i = given;
  const std::string_view base = base_mnemonic(i.code), type = word(i, "type");
  bring_near(i, base == "ATOMS" ? shared_atomic_bits : atomic_bits);
  clear(i, "type");
  Instruction& out = with_name(i, base == "ATOMG" ? "ATOM" : base);
  if (!type.empty()) b_.out().set_word(out, {"type", type == "64" ? "U64" : type});
}

void Bundler::swap(const Instruction& given) {
  if (!locks_done_.empty() && locks_done_.at(b_.out().block())) return locked(given);
  Instruction i = given;
  const bool wide = word(i, "type") == "64";
  if (!wide && !word(i, "type").empty()) throw GivenUp{"an exchange of more than 64 bits"};
  clear(i, "type");
  bring_near(i, base_mnemonic(i.code) == "ATOMS" ? shared_atomic_bits : atomic_bits);
  const std::vector<Value> v = sources(i);
  const unsigned each = wide ? 2 : 1;
  const Ref both = b_.temporary(2 * each);
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned w = 0; w < each; ++w) {
      Value x = v[k];
      if (wide && x.kind == Value::Kind::reg && x.ref) x = value_of(part_of(x.ref, w));
      b_.out().move(part_of(both, k * each + w), x);
    }
  const std::string_view name = base_mnemonic(i.code) == "ATOMS" ? "ATOMS.CAS" : "ATOM.CAS";
  Instruction& out = with_name(i, name, {value_of(both)});
  if (wide) b_.out().set_word(out, {"type", "64"});
}

void Bundler::fence(const Instruction& i) {
  const std::string_view scope = word(i, "scope");
  b_.emit("MEMBAR", {}, {},
          {{"scope", scope == "CTA" || scope == "SM" ? "CTA"
                     : scope == "SYS"                ? "SYS"
                                                     : "GL"},
           {"ivalld", scope == "CTA" || scope == "SM" ? "" : "IVALLD"}});
}

void Bundler::counter(const Instruction& i) {
  const int at = i.code.form->operand("sr");
  const machine::Operand& sr = i.code.operands[static_cast<std::size_t>(at)];
  const Ref d = result(i);
  const bool pair = word(i, "w64") != "32";
  for (unsigned k = 0; k < (pair ? 2u : 1u); ++k) {
    if (sr.number == machine::zero_register) {
      b_.out().move(part_of(d, k), zero());
      continue;
    }
    Instruction& out = b_.emit(b_.out().has_form("CS2R") ? "CS2R" : "S2R", part_of(d, k), {}, {});
    out.code.operands[static_cast<std::size_t>(out.code.form->operand("sr"))].number =
        static_cast<std::uint8_t>(sr.number + k);
  }
}

void Bundler::barrier(const Instruction& i) {
  with_name(i, "BAR");
  if (machine::has_control(b_.generation()) && word(i, "mode") != "ARV")
    b_.emit("MEMBAR", {}, {}, {{"scope", "CTA"}});
}

void Bundler::call(const Instruction& i) {
  constexpr std::uint8_t address = 2;  // in front of the arguments
  const auto to = static_cast<std::uint32_t>(
      i.code.operands[static_cast<std::size_t>(i.code.form->operand("target"))].value);
  Instruction& set = b_.emit("MOV32I", {}, {number(to)});
  set.code.operands[0].number = address;
  b_.emit("PRET", {}, {});
  Instruction& jump = b_.emit("JMX", {}, {zero()});
  jump.code.operands[static_cast<std::size_t>(jump.code.form->operand("Ra"))].number = address;
}

void Bundler::set_meeting(const Instruction& i) {
  Instruction& out = b_.emit("SSY", {}, {}, {});
  out.target = i.target;
  out.barrier = i.barrier;
}

void Bundler::meet(const Instruction& i) { b_.emit("SYNC", {}, {}, {}).barrier = i.barrier; }

}  // namespace simtlab::assembler
