#include "assembler/build.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/immortal.h"

namespace simtlab::assembler {
namespace {

using machine::Form;
using machine::Immediate;
using machine::OperandForm;
using machine::OperandKind;

using FormsByName = std::unordered_map<std::string_view, std::vector<const Form*>>;

// Of a generation. Those that are known by their opcode alone are no instructions that we can make.
const FormsByName& forms_of(unsigned generation) {
  static std::mutex mutex;
  static Immortal<std::map<unsigned, FormsByName>> known;
  const std::lock_guard lock(mutex);
  const auto [it, fresh] = known->try_emplace(generation);
  if (!fresh) return it->second;
  for (const Form& form : machine::Forms::shipped().all())
    if (form.has(generation) && form.trust != machine::Trust::outline)
      it->second[on_tensor_pipe(form) ? std::string_view("HFMA2.MMA") : form.mnemonic].push_back(&form);
  return it->second;
}

bool is_result(const OperandForm& operand, std::size_t index) {
  return (operand.kind == OperandKind::reg || operand.kind == OperandKind::ureg) &&
         operand.name.ends_with('d') && index < 4;
}

bool is_source(const OperandForm& operand, std::size_t index) {
  if (operand.name == "lut" || operand.name == "lut1" || operand.name == "shift" ||
      operand.name == "quadmask")
    return false;
  return (operand.kind == OperandKind::reg && !is_result(operand, index)) ||
         operand.kind == OperandKind::immediate || operand.kind == OperandKind::constant ||
         (operand.kind == OperandKind::ureg && operand.name != "URd") ||
         operand.kind == OperandKind::bindless;
}

// The number as the immediate has it, its sign applied; nullopt: it does not fit.
std::optional<std::int64_t> immediate_of(const OperandForm& operand, const Value& value) {
  constexpr std::uint64_t lost = (1u << machine::upper_bits_shift) - 1;  // of upper bits alone
  std::uint64_t bits = value.bits;
  switch (operand.immediate) {
    case Immediate::f64:
      if (value.absolute) bits &= ~(std::uint64_t{1} << 63);
      if (value.negated) bits ^= std::uint64_t{1} << 63;
      if ((bits & 0xffffffffu) != 0 || (operand.upper_bits && (bits >> 32 & lost) != 0)) return std::nullopt;
      return static_cast<std::int64_t>(bits >> 32);
    case Immediate::f32:
      if (value.wide) return std::nullopt;
      if (value.absolute) bits &= 0x7fffffffu;
      if (value.negated) bits ^= 0x80000000u;
      if (operand.upper_bits && (bits & lost) != 0) return std::nullopt;
      return static_cast<std::int64_t>(bits & 0xffffffffu);
    case Immediate::f16x2:
      if (!value.plain()) return std::nullopt;
      return static_cast<std::int64_t>(bits & 0xffffffffu);
    default: break;
  }
  if (value.absolute || value.half != 0 || value.part != 0) return std::nullopt;
  auto low = static_cast<std::uint32_t>(bits);
  if (value.wide) {
    if (!value.plain() || (bits >> 31) != 0) return std::nullopt;
  }
  if (value.inverted) low = ~low;
  if (value.negated) low = 0u - low;
  const unsigned width = operand.bits.width();
  if (operand.immediate == Immediate::signed_) {
    const auto number = static_cast<std::int32_t>(low);
    if (width >= 32) return number;
    const std::int64_t limit = std::int64_t{1} << (width - 1);
    return number < limit && number >= -limit ? std::optional<std::int64_t>(number) : std::nullopt;
  }
  if (width < 32 && low >> width != 0) return std::nullopt;
  return low;
}

bool takes_modifiers(const OperandForm& operand, const Value& value) {
  using machine::no_bit;
  return (!value.negated || operand.negate != no_bit) && (!value.absolute || operand.absolute != no_bit) &&
         (!value.inverted || operand.invert != no_bit) && (value.half == 0 || operand.half != no_bit) &&
         (value.part == 0 || operand.part != no_bit);
}

bool takes(const OperandForm& operand, const Value& value) {
  switch (value.kind) {
    case Value::Kind::reg: return operand.kind == OperandKind::reg && takes_modifiers(operand, value);
    case Value::Kind::constant:
      return operand.kind == OperandKind::constant && takes_modifiers(operand, value) &&
             value.offset / (operand.in_words ? 4 : 1) >> operand.bits.width() == 0;
    case Value::Kind::uniform: return operand.kind == OperandKind::ureg && takes_modifiers(operand, value);
    case Value::Kind::number:
      return operand.kind == OperandKind::immediate && immediate_of(operand, value).has_value();
    case Value::Kind::address: return operand.kind == OperandKind::immediate;  // of a MOV: takes_all()
  }
  return false;
}

bool takes_all(const Form& form, std::span<const Value> sources) {
  const auto is_address = [](const Value& v) { return v.kind == Value::Kind::address; };
  if (form.mnemonic != "MOV" && form.mnemonic != "MOV32I" && std::ranges::any_of(sources, is_address))
    return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    if (!is_source(form.operands[i], i)) continue;
    if (at >= sources.size() || !takes(form.operands[i], sources[at])) return false;
    ++at;
  }
  return at == sources.size();
}

bool has_short_numbers(const Form& form) {
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    if (is_source(form.operands[i], i) && form.operands[i].kind == OperandKind::immediate &&
        form.operands[i].bits.width() < 32)
      return true;
  return false;
}

// What a predicate source is where nobody says it: without effect.
bool is_never_by_default(const Form& form, const OperandForm& operand) {
  return operand.name.starts_with("Pcin") || (operand.name == "Pc" && form.mnemonic == "LOP3") ||
         (operand.name == "UPc" && form.mnemonic == "ULOP3");
}

}  // namespace

bool on_tensor_pipe(const machine::Form& form) {
  constexpr std::uint16_t operation = 0x1ff, with_registers = 0x035;
  return form.mnemonic == "HFMA2" && (form.opcode & operation) == with_registers;
}

Value half_of(const Value& wide, bool high) {
  Value out = wide;
  out.wide = false;
  switch (wide.kind) {
    case Value::Kind::reg:
      if (!wide.ref) return out;
      out.ref.part = static_cast<std::uint8_t>(wide.ref.part + (high ? 1 : 0));
      out.ref.count = 1;
      break;
    case Value::Kind::number: out.bits = high ? wide.bits >> 32 : wide.bits & 0xffffffffu; break;
    case Value::Kind::constant: out.offset += high ? 4 : 0; break;
    case Value::Kind::address:
    case Value::Kind::uniform: break;
  }
  return out;
}

void Builder::start(std::uint32_t block) {
  block_ = block;
  kept_.clear();
}

void Builder::split() {
  const auto fresh = static_cast<std::uint32_t>(program_.blocks.size());
  program_.blocks.emplace_back();
  program_.blocks[fresh].depth = program_.blocks[block_].depth;
  program_.blocks[block_].next = fresh;
  start(fresh);
}

void Builder::at(const ptx::Inst& inst) { origin_ = &inst; }

Ref Builder::new_register(unsigned width) {
  const auto w = static_cast<std::uint8_t>(width);
  return {.reg = program_.add({.file = File::general, .width = w}), .part = 0, .count = w};
}

Ref Builder::new_predicate() { return {.reg = program_.add({.file = File::predicate})}; }

std::span<const Form* const> Builder::forms(std::string_view mnemonic) const {
  const FormsByName& all = forms_of(generation_);
  const auto found = all.find(mnemonic);
  return found == all.end() ? std::span<const Form* const>() : found->second;
}

bool Builder::has_form(std::string_view mnemonic) const { return forms_of(generation_).contains(mnemonic); }

const Form* Builder::form_for(std::string_view mnemonic, std::span<const Value> sources) const {
  for (const Form* form : forms(mnemonic))
    if (takes_all(*form, sources)) return form;
  return nullptr;
}

Instruction Builder::start_instruction(const Form& form) const {
  Instruction i;
  i.code.form = &form;
  i.code.generation = static_cast<std::uint16_t>(generation_);
  if (origin_ != nullptr) {
    i.line = origin_->line;
    i.file = origin_->file;
    i.source_line = origin_->source_line;
  }
  i.guard = guard_.ref;
  i.code.guard_negated = guard_.inverted;
  for (std::size_t k = 0; k < form.operands.size(); ++k) {
    const OperandForm& operand = form.operands[k];
    machine::Operand& o = i.code.operands[k];
    o.kind = operand.kind;
    switch (operand.kind) {
      case OperandKind::reg: o.number = machine::zero_register; break;
      case OperandKind::pred:
        o.number = machine::true_predicate;
        o.inverted = is_never_by_default(form, operand);
        break;
      case OperandKind::ureg: o.number = machine::zero_uniform; break;
      case OperandKind::upred:
        o.number = machine::true_predicate;
        o.inverted = is_never_by_default(form, operand);
        break;
      case OperandKind::ignored: o.value = (std::int64_t{1} << operand.bits.width()) - 1; break;
      case OperandKind::immediate:
        if (operand.name == "quadmask") o.value = 15;
        break;
      default: break;
    }
  }
  for (std::size_t k = 0; k < form.fields.size(); ++k)
    for (const auto& [value, word] : form.fields[k]->values)
      if (word.empty()) {
        i.code.fields[k] = static_cast<std::uint16_t>(value);
        break;
      }
  return i;
}

void Builder::set_source(Instruction& i, std::size_t at, const Value& value) {
  const OperandForm& operand = i.code.form->operands[at];
  machine::Operand& o = i.code.operands[at];
  switch (value.kind) {
    case Value::Kind::reg:
      i.refs[at] = value.ref;
      if (!value.ref && value.bits != 0) o.number = static_cast<std::uint8_t>(value.bits - 1);
      break;
    case Value::Kind::constant:
      o.number = value.bank;
      o.value = value.offset;
      break;
    case Value::Kind::uniform:
      i.refs[at] = value.ref;
      o.number = static_cast<std::uint8_t>(value.bits);
      break;
    case Value::Kind::number: o.value = *immediate_of(operand, value); return;
    case Value::Kind::address: i.address = static_cast<std::uint32_t>(value.bits); return;
  }
  o.negated = value.negated;
  o.absolute = value.absolute;
  o.inverted = value.inverted;
  o.half = value.half;
  o.part = value.part;
}

void Builder::set_fields(Instruction& i, Fields fields) {
  for (const FieldWord& wanted : fields) {
    const int at = i.code.form->field(machine::Name(wanted.field));
    SIMTLAB_ASSERT(at >= 0, "the form has the field");
    const machine::FieldForm& field = *i.code.form->fields[static_cast<std::size_t>(at)];
    const auto value = std::ranges::find(field.values, wanted.word, [](const auto& v) { return v.second; });
    if (value == field.values.end())
      throw GivenUp{"." + std::string(wanted.word) + " of " + std::string(i.code.mnemonic()) +
                    ", which the form lacks"};
    i.code.fields[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value->first);
  }
}

std::optional<SourceValues> source_values(const Instruction& i, bool named) {
  SourceValues out;
  for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
    if (!is_source(i.code.form->operands[k], k)) continue;
    const machine::Operand& o = i.code.operands[k];
    if (out.count == out.values.size()) return std::nullopt;
    Value v;
    switch (o.kind) {
      case OperandKind::reg:
        if (!i.refs[k] && o.number != machine::zero_register && !named) return std::nullopt;
        v = value_of(i.refs[k]);
        if (!i.refs[k] && o.number != machine::zero_register) v.bits = o.number + 1u;
        break;
      case OperandKind::ureg: v = i.refs[k] ? uniform_value(i.refs[k]) : uniform_register(o.number); break;
      case OperandKind::immediate:
        v = number(static_cast<std::uint64_t>(o.value));
        // The upper half of a number
        if (i.code.form->operands[k].immediate == Immediate::f64) v = number(v.bits << 32, true);
        if (i.address != none) v = {.kind = Value::Kind::address, .bits = i.address};
        break;
      case OperandKind::constant:
        if (i.refs[k] || o.base != machine::zero_register || o.uniform != machine::zero_uniform)
          return std::nullopt;
        v = parameter(static_cast<std::uint32_t>(o.value));
        v.bank = o.number;
        break;
      default: return std::nullopt;
    }
    v.negated = o.negated;
    v.absolute = o.absolute;
    v.inverted = o.inverted;
    v.half = o.half;
    v.part = o.part;
    out.at[out.count] = static_cast<std::uint8_t>(k);
    out.values[out.count++] = v;
  }
  return out;
}

namespace {

// The operand of the same meaning: "Pd" of ISETP and "UPd" of UISETP. -1: there is none.
int operand_like(const Form& form, const std::string& name) {
  if (const int at = form.operand(machine::Name(name)); at >= 0) return at;
  if (name.size() > 1 && name.front() == 'U') return form.operand(machine::Name(name.substr(1)));
  return form.operand(machine::Name("U" + name));
}

// It is as it would be if nobody had said anything.
bool says_nothing(const Instruction& i, std::size_t k, const Instruction& fresh) {
  return !i.refs[k] && i.code.operands[k] == fresh.code.operands[k];
}

bool take_operands(const Instruction& like, const Instruction& plain, Instruction& out) {
  const Form& from = *like.code.form;
  const Form& to = *out.code.form;
  for (std::size_t k = 0; k < from.operands.size(); ++k) {
    if (is_source(from.operands[k], k)) continue;
    const int found = operand_like(to, from.operands[k].name);
    if (found < 0) {
      if (from.operands[k].kind == OperandKind::ignored || says_nothing(like, k, plain)) continue;
      return false;
    }
    const auto at = static_cast<std::size_t>(found);
    const OperandKind kind = out.code.operands[at].kind;
    out.refs[at] = like.refs[k];
    if (like.is_write(k)) out.writes |= static_cast<std::uint16_t>(1u << at);
    if (!like.refs[k] && plain.code.operands[k] == like.code.operands[k]) continue;
    out.code.operands[at] = like.code.operands[k];
    out.code.operands[at].kind = kind;
    if (like.refs[k]) out.code.operands[at].number = 0;
  }
  return true;
}

bool take_fields(const Instruction& like, Instruction& out, std::span<const std::string_view> left_out) {
  const Form& from = *like.code.form;
  for (std::size_t f = 0; f < from.fields.size(); ++f) {
    if (std::ranges::find(left_out, from.fields[f]->name) != left_out.end()) continue;
    const std::string* const word = from.fields[f]->word(like.code.fields[f]);
    const int found = out.code.form->field(machine::Name(from.fields[f]->name));
    if (found < 0) {
      if (word == nullptr || !word->empty()) return false;
      continue;
    }
    const auto at = static_cast<std::size_t>(found);
    const machine::FieldForm& field = *out.code.form->fields[at];
    if (field.id == from.fields[f]->id) {
      out.code.fields[at] = like.code.fields[f];
      continue;
    }
    if (word == nullptr) return false;
    const auto same = std::ranges::find(field.values, *word, [](const auto& v) { return v.second; });
    if (same == field.values.end()) return false;
    // Where words do not tell values apart, numbers do.
    const auto other =
        std::find_if(same + 1, field.values.end(), [&](const auto& v) { return v.second == *word; });
    out.code.fields[at] =
        other == field.values.end() ? static_cast<std::uint16_t>(same->first) : like.code.fields[f];
  }
  return true;
}

}  // namespace

std::optional<Instruction> Builder::with_form(const Instruction& like, const Form& form,
                                              std::span<const Value> sources,
                                              std::span<const std::string_view> left_out) const {
  if (!takes_all(form, sources)) return std::nullopt;
  Instruction out = start_instruction(form);
  const Instruction plain = start_instruction(*like.code.form);
  out.line = like.line;
  out.file = like.file;
  out.source_line = like.source_line;
  out.guard = like.guard;
  out.code.guard = like.code.guard;
  out.code.guard_negated = like.code.guard_negated;
  out.target = like.target;
  out.barrier = like.barrier;
  out.beside = like.beside;
  if (!take_operands(like, plain, out) || !take_fields(like, out, left_out)) return std::nullopt;
  std::size_t next = 0;
  for (std::size_t k = 0; k < form.operands.size(); ++k)
    if (is_source(form.operands[k], k)) set_source(out, k, sources[next++]);
  return out;
}

Instruction& Builder::append(Instruction i) {
  std::vector<Instruction>& code = program_.blocks[block_].code;
  code.push_back(std::move(i));
  return code.back();
}

// Puts what no form takes into registers: as few of them as possible.
const Form* Builder::form_with_registers(std::string_view mnemonic, std::span<Value> values) {
  const auto registers_for = [&](const Value& v) { return kept_.contains(key_of(v)) ? 0 : v.wide ? 2 : 1; };
  const Form* best = nullptr;
  unsigned best_set = 0;
  int least = 0;
  for (unsigned set = 1; set < 1u << values.size(); ++set) {
    std::array<Value, 4> tried{};
    int count = 0;
    bool useful = true;
    for (std::size_t k = 0; k < values.size(); ++k) {
      tried[k] = values[k];
      if ((set >> k & 1u) == 0) continue;
      useful = useful && values[k].kind != Value::Kind::reg;
      count += registers_for(values[k]);
      tried[k].kind = Value::Kind::reg;
      tried[k].ref = {.reg = 0};
    }
    if (!useful || (best != nullptr && count >= least)) continue;
    const Form* const form = form_for(mnemonic, {tried.data(), values.size()});
    if (form == nullptr) continue;
    best = form;
    best_set = set;
    least = count;
  }
  for (std::size_t k = 0; best != nullptr && k < values.size(); ++k)
    if ((best_set >> k & 1u) != 0) put_in_register(values[k]);
  return best;
}

// Modifiers stay.
void Builder::put_in_register(Value& value) {
  Value plain = value;
  plain.negated = plain.absolute = plain.inverted = false;
  plain.half = plain.part = 0;
  value.ref = in_register(plain);
  value.kind = Value::Kind::reg;
}

Builder::Key Builder::key_of(const Value& value) {
  return {static_cast<int>(value.kind), value.kind == Value::Kind::constant ? value.offset : value.bits,
          std::uint32_t{value.bank} << 1 | (value.wide ? 1u : 0u)};
}

Instruction& Builder::emit(std::string_view mnemonic, Ref result, std::initializer_list<Value> sources,
                           Fields fields) {
  std::array<Value, 4> values{};
  SIMTLAB_ASSERT(sources.size() <= values.size(), "an instruction has few sources");
  std::ranges::copy(sources, values.begin());
  const std::span<Value> given(values.data(), sources.size());
  if (!reads_constants(generation_) && mnemonic != "LDC" && mnemonic != "ULDC") {
    if (mnemonic == "MOV" && given[0].kind == Value::Kind::constant)
      return emit("LDC", result, {given[0]}, {{"size", ""}});
    for (Value& v : given)
      if (v.kind == Value::Kind::constant) put_in_register(v);
  }
  // 0 has a register of its own; that of a float is +0. Numbers of few bits (lanes, barriers) stay.
  const Form* form = form_for(mnemonic, given);
  const bool stays = form != nullptr && has_short_numbers(*form);
  for (Value& v : given)
    if (!stays && v.is_number() && v.bits == 0 && !v.inverted) {
      const bool negative = v.negated;
      v = zero();
      v.negated = negative;
    }
  if (!stays) form = form_for(mnemonic, given);
  if (form == nullptr) form = form_with_registers(mnemonic, given);
  if (form == nullptr) throw GivenUp{"no form of " + std::string(mnemonic) + " takes its sources"};
  Instruction i = start_instruction(*form);
  std::size_t next = 0;
  for (std::size_t k = 0; k < form->operands.size(); ++k) {
    if (is_result(form->operands[k], k)) {
      i.refs[k] = result;
      i.writes |= static_cast<std::uint16_t>(1u << k);
    } else if (is_source(form->operands[k], k)) {
      set_source(i, k, given[next++]);
    }
  }
  set_fields(i, fields);
  return append(std::move(i));
}

Instruction& Builder::access(std::string_view mnemonic, Ref result, Ref base, std::int64_t offset, bool wide,
                             std::initializer_list<Value> values, Fields fields) {
  Instruction& i = emit(mnemonic, result, values, fields);
  for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
    if (i.code.form->operands[k].kind != OperandKind::memory) continue;
    machine::Operand& o = i.code.operands[k];
    o.value = offset;
    o.base = machine::zero_register;
    o.wide = wide;
    // Beside a uniform register, URZ here, the register says by itself that it is a pair.
    o.pair = wide && i.code.form->operands[k].pair != machine::no_bit;
    i.refs[k] = base;
  }
  return i;
}

Instruction Builder::access_like(std::string_view mnemonic, Ref result, const Instruction& like) const {
  Instruction i = start_instruction(*forms(mnemonic).front());
  const int from = like.code.form->operand(machine::Name("mem"));
  SIMTLAB_ASSERT(from >= 0, "it has an address");
  for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
    const OperandForm& operand = i.code.form->operands[k];
    if (operand.name == "Rd" && result) {
      i.refs[k] = result;
      i.writes |= static_cast<std::uint16_t>(1u << k);
    }
    if (operand.kind != OperandKind::memory) continue;
    i.code.operands[k] = like.code.operands[static_cast<std::size_t>(from)];
    i.refs[k] = like.refs[static_cast<std::size_t>(from)];
  }
  return i;
}

void Builder::set_result(Instruction& i, machine::Name operand, Ref predicate) {
  const int at = i.code.form->operand(operand);
  SIMTLAB_ASSERT(at >= 0, "the form has the operand");
  i.refs[static_cast<std::size_t>(at)] = predicate;
  i.writes |= static_cast<std::uint16_t>(1u << at);
}

void Builder::set_condition(Instruction& i, machine::Name operand, Condition condition) {
  const int at = i.code.form->operand(operand);
  SIMTLAB_ASSERT(at >= 0, "the form has the operand");
  i.refs[static_cast<std::size_t>(at)] = condition.ref;
  i.code.operands[static_cast<std::size_t>(at)].inverted = condition.inverted;
}

void Builder::set_number(Instruction& i, machine::Name operand, std::int64_t value) {
  const int at = i.code.form->operand(operand);
  SIMTLAB_ASSERT(at >= 0, "the form has the operand");
  i.code.operands[static_cast<std::size_t>(at)].value = value;
}

void Builder::set_field(Instruction& i, machine::Name field, unsigned value) {
  const int at = i.code.form->field(field);
  SIMTLAB_ASSERT(at >= 0, "the form has the field");
  i.code.fields[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value);
}

void set_uniform_result(Instruction& i) {
  const auto at = static_cast<std::size_t>(i.code.form->operand("URd"));
  i.code.operands[at].number = uniform_result;
  i.writes |= static_cast<std::uint16_t>(1u << at);
}

Ref Builder::in_register(const Value& value) {
  SIMTLAB_ASSERT(value.plain(), "modifiers belong to the instruction");
  if (value.kind == Value::Kind::reg && value.ref) return value.ref;
  const Key key = key_of(value);
  // An address has two halves, which look alike here.
  const bool may_keep = value.kind != Value::Kind::address && value.kind != Value::Kind::uniform;
  if (const auto it = kept_.find(key); may_keep && it != kept_.end()) return it->second;
  const Condition guarded = std::exchange(guard_, always());
  const Ref out = new_register(value.wide ? 2 : 1);
  move(out, value);
  guard_ = guarded;
  if (may_keep) kept_[key] = out;
  return out;
}

void Builder::move_word(Ref d, const Value& value) {
  const bool remakes = value.kind != Value::Kind::reg || !value.ref;
  // A number has an instruction of its own in bundles, but 0, which is a register.
  const bool number = (value.is_number() && value.bits != 0) || value.kind == Value::Kind::address;
  Instruction& i = emit(number && machine::in_bundles(generation_) ? "MOV32I" : "MOV", d, {value});
  if (value.kind == Value::Kind::uniform) return;
  i.copy = !remakes;
  i.remakes = remakes && !i.guarded();
}

void Builder::move(Ref d, const Value& value) {
  if (d.count == 1) return move_word(d, value);
  if (value.kind == Value::Kind::constant && !reads_constants(generation_) && value.offset % 8 == 0) {
    Instruction& i = emit("LDC", d, {value}, {{"size", "64"}});
    i.remakes = !i.guarded();
    return;
  }
  for (const bool high : {false, true}) {
    Ref word = d;
    word.part = static_cast<std::uint8_t>(d.part + (high ? 1 : 0));
    word.count = 1;
    move_word(word, half_of(value, high));
  }
}

}  // namespace simtlab::assembler
