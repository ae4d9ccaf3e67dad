#include "machine/translator.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "base/immortal.h"
#include "machine/bundled_flags.h"
#include "machine/bundles.h"
#include "machine/launch_state.h"
#include "machine/print.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

bool is_value(OperandKind kind) {
  return kind == OperandKind::reg || kind == OperandKind::ureg || kind == OperandKind::immediate ||
         kind == OperandKind::constant || kind == OperandKind::bindless;
}

// Operands that hold a value but say something else than a, b or c.
bool is_control(std::string_view name) {
  return name == "lut" || name == "lut1" || name == "shift" || name == "quadmask";
}

bool is_result(const OperandForm& form, std::size_t index) {
  return (form.kind == OperandKind::reg || form.kind == OperandKind::ureg) && form.name.ends_with('d') &&
         index < 4;
}

Semantics semantics_of(const Form& form) {
  const std::string_view mnemonic = form.mnemonic;
  if (form.bundled())
    for (const auto rows : {bundled_semantics(), bundled_compare_semantics(), bundled_video_semantics(),
                            bundled_texture_semantics(), bundled_control_semantics()})
      for (const SemanticsRow& row : rows)
        if (row.mnemonic == mnemonic) return row.translate;
  for (const auto rows :
       {integer_semantics(), floating_semantics(), memory_semantics(), atomic_semantics(), warp_semantics(),
        control_semantics(), logic_semantics(), double_semantics(), half_semantics(), conversion_semantics(),
        texture_semantics(), async_barrier_semantics()})
    for (const SemanticsRow& row : rows)
      if (row.mnemonic == mnemonic) return row.translate;
  return nullptr;
}

// What is the same for all instructions of a form.
struct FormMeaning {
  Semantics translate = nullptr;  // null: it is not executed yet
  std::array<std::uint8_t, max_operands> sources{};
  std::uint8_t source_count = 0;
};

FormMeaning find_meaning(const Form& form) {
  FormMeaning out;
  out.translate = semantics_of(form);
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    if (is_value(form.operands[i].kind) && !is_result(form.operands[i], i) &&
        !is_control(form.operands[i].name))
      out.sources[out.source_count++] = static_cast<std::uint8_t>(i);
  return out;
}

const FormMeaning& meaning_of(const Form& form) {
  static const Immortal<std::vector<FormMeaning>> meanings([] {
    std::vector<FormMeaning> all;
    for (const Form& f : Forms::shipped().all()) all.push_back(find_meaning(f));
    return all;
  }());
  SIMTLAB_ASSERT(&form == &Forms::shipped().all()[form.index], "what is executed is of the shipped tables");
  return (*meanings)[form.index];
}

}  // namespace

Translator::Translator(const Layout& layout, std::vector<ptx::Constant>& constants, Code& code,
                       ConstantBanks banks)
    : layout_(layout), constants_(constants), code_(code), banks_(std::move(banks)) {
  if (in_bundles(code.generation)) find_tests();
}

void Translator::find_tests() {
  for (const Instruction& i : code_.instructions) {
    const std::string_view name = i.mnemonic();
    const auto test = [&] {
      return i.form->operand("Pd") < 0 && i.field("test", test_always) != test_always;
    };
    if (name == "CSET" || name == "CSETP" || name == "P2R.CC" || test()) tests_signs_ = true;
    adds_three_ |= name == "IADD3" && i.field("cc") != 0;
    const int result = name == "LEA.HI" ? i.form->operand("Pd") : -1;
    if (result >= 0 && i.operands[static_cast<std::size_t>(result)].number != true_predicate)
      tests_window_ = true;
  }
}

void Translator::translate(const Instruction& instruction, ptx::Inst& view, const std::string& kernel) {
  instruction_ = &instruction;
  view_ = &view;
  kernel_ = kernel;
  action_ = Action{};
  action_.first = static_cast<std::uint32_t>(code_.operations.size());
  next_temporary_ = first_temporary_row;
  next_predicate_ = 0;
  sources_.clear();
  const FormMeaning& meaning = meaning_of(*instruction.form);
  for (std::size_t i = 0; i < meaning.source_count; ++i)
    sources_.push_back(&instruction.operands[meaning.sources[i]]);
  if (meaning.translate == nullptr) refuse("is not executed yet");
  knows_flags_ = false;
  meaning.translate(*this);
  if (instruction.form->bundled() && field("cc") != 0 && !knows_flags_)
    refuse("sets flags that are not known");
  action_.uniform = instruction.form->uniform;
  action_.count = static_cast<std::uint32_t>(code_.operations.size()) - action_.first;
  code_.actions.push_back(action_);
}

void Translator::refuse(std::string_view why) const {
  throw Error(ExitCode::unsupported, "machine-instruction",
              fmt::format("{} at 0x{:04x} of kernel {} {}", text_of(*instruction_),
                          address_in_file(instruction_->generation, instruction_->address), kernel_, why),
              "run the program's PTX instead (--code ptx), if it has some");
}

std::string_view Translator::word(Name field) const {
  const int i = instruction_->form->field(field);
  if (i < 0) return {};
  const auto at = static_cast<std::size_t>(i);
  const std::string* const word = instruction_->form->fields[at]->word(instruction_->fields[at]);
  return word == nullptr ? std::string_view{} : *word;
}

const Operand& Translator::operand(Name name) const {
  const int i = instruction_->form->operand(name);
  SIMTLAB_ASSERT(i >= 0, "the form has the operand");
  return instruction_->operands[static_cast<std::size_t>(i)];
}

const Operand& Translator::source(unsigned index) const {
  SIMTLAB_ASSERT(index < sources_.size(), "the form has so many sources");
  return *sources_[index];
}

ptx::Operand Translator::row(std::uint32_t index, unsigned bytes) const {
  code_.layout.rows = std::max(code_.layout.rows, index + (bytes + 3) / 4);
  return {.kind = ptx::OperandKind::reg, .bytes = static_cast<std::uint8_t>(bytes), .index = index};
}

ptx::Operand Translator::number(std::uint64_t value, unsigned bytes) {
  const auto [it, fresh] = numbers_.try_emplace({0, value, 0}, static_cast<std::uint32_t>(constants_.size()));
  if (fresh) constants_.push_back({.value = value});
  return {.kind = ptx::OperandKind::imm, .bytes = static_cast<std::uint8_t>(bytes), .index = it->second};
}

ptx::Operand Translator::launch_state(std::uint32_t offset, unsigned bytes) {
  // Where bank 3 lies is known when the module is loaded.
  if (const std::uint32_t slot = launch_slots(code_.generation).constants;
      banks_.contains(3) && (offset == slot || offset == slot + 4)) {
    ptx::Operand address = bank_address(3, 0);
    if (offset == slot) {
      address.bytes = static_cast<std::uint8_t>(bytes);
      return address;
    }
    const ptx::Operand high = temporary();
    emit(Op::mov, Type::b64, {{.kind = ptx::OperandKind::sink, .bytes = 4}, high}, {address});
    return high;
  }
  const auto [it, fresh] =
      numbers_.try_emplace({1, offset, bytes}, static_cast<std::uint32_t>(constants_.size()));
  if (const auto texture = textures_.find(offset); fresh && texture != textures_.end())
    constants_.push_back({.kind = ptx::Constant::Kind::global_symbol, .symbol = texture->second});
  else if (fresh)
    constants_.push_back({.kind = ptx::Constant::Kind::launch_state, .value = offset});
  return {.kind = ptx::OperandKind::imm, .bytes = static_cast<std::uint8_t>(bytes), .index = it->second};
}

ptx::Operand Translator::bank_address(std::uint8_t bank, std::uint32_t offset) {
  const auto variable = banks_.find(bank);
  if (variable == banks_.end())
    refuse(fmt::format("reads constant bank {}, which the file does not have", bank));
  const auto [it, fresh] = numbers_.try_emplace({2, std::uint64_t{bank} << 32 | offset, 8},
                                                static_cast<std::uint32_t>(constants_.size()));
  if (fresh)
    constants_.push_back(
        {.kind = ptx::Constant::Kind::global_symbol, .symbol = variable->second.variable, .value = offset});
  return {.kind = ptx::OperandKind::imm, .bytes = 8, .index = it->second};
}

ptx::Operand Translator::last_result() {
  if (code_.operations.size() == action_.first) refuse("has no result to set flags by");
  ptx::Operand& out = code_.operations.back().dst[0];
  if (out.kind == ptx::OperandKind::sink) out = temporary();
  if (out.kind != ptx::OperandKind::reg || out.bytes != 4) refuse("sets flags that are not known");
  return out;
}

ptx::Operand Translator::temporary_row(std::uint32_t first, std::uint32_t count) const {
  SIMTLAB_ASSERT(first + count <= most_temporary_rows, "an instruction needs few intermediate values");
  return row(layout_.temporary + first, count * 4);
}

ptx::Operand Translator::barrier_count() const { return temporary_row(barrier_result_row, 1); }
ptx::Operand Translator::barrier_predicate() const {
  return {.kind = ptx::OperandKind::pred, .index = Layout::predicates + barrier_result_predicate};
}

ptx::Operand Translator::special(ptx::Special special, unsigned bytes) const {
  return {.kind = ptx::OperandKind::special,
          .bytes = static_cast<std::uint8_t>(bytes),
          .index = static_cast<std::uint32_t>(special)};
}

ptx::Operand Translator::temporary() { return temporary_row(next_temporary_++, 1); }

ptx::Operand Translator::temporary_wide() {
  next_temporary_ += next_temporary_ % 2;
  next_temporary_ += 2;
  return temporary_row(next_temporary_ - 2, 2);
}

ptx::Operand Translator::temporary_predicate() {
  SIMTLAB_ASSERT(next_predicate_ < barrier_result_predicate,
                 "an instruction needs few intermediate predicates");
  return {.kind = ptx::OperandKind::pred, .index = Layout::predicates + next_predicate_++};
}

// The address of a source in another bank than 0.
ptx::Operand Translator::constant_place(const Operand& source) {
  if (source.base != zero_register || source.uniform != zero_uniform)
    refuse("adds a register to the place of a constant, which is not executed here");
  return source.number == 0 ? ptx::Operand{}
                            : bank_address(source.number, static_cast<std::uint32_t>(source.value));
}

// Of a bank that nobody changes: its value, which is known when the kernel is bound.
std::optional<ptx::Operand> Translator::held_constant(const Operand& source, unsigned bytes) {
  constexpr std::uint8_t of_the_program = 3;
  const auto bank = banks_.find(source.number);
  const auto offset = static_cast<std::uint32_t>(source.value);
  if (source.number == of_the_program || bank == banks_.end() || offset % bytes != 0 ||
      std::uint64_t{offset} + bytes > bank->second.bytes)
    return std::nullopt;
  const auto [it, fresh] = numbers_.try_emplace({3, std::uint64_t{source.number} << 32 | offset, bytes},
                                                static_cast<std::uint32_t>(constants_.size()));
  if (fresh)
    constants_.push_back({.kind = ptx::Constant::Kind::global_symbol,
                          .symbol = bank->second.variable | held_value,
                          .value = offset});
  return ptx::Operand{
      .kind = ptx::OperandKind::imm, .bytes = static_cast<std::uint8_t>(bytes), .index = it->second};
}

std::optional<ptx::Operand> Translator::literal(const Operand& source, unsigned bytes) {
  const auto offset = static_cast<std::uint64_t>(source.value);
  if (source.number != 2 || offset % bytes != 0 || offset / 8 >= code_.literals.size()) return std::nullopt;
  const std::uint64_t word = code_.literals[offset / 8] >> 8 * (offset % 8);
  return number(bytes == 8 ? word : word & 0xffffffffu, bytes);
}

// Bank 0 is known at launch. Bank 3 is in memory, where the host may change it between launches.
ptx::Operand Translator::constant(const Operand& source, unsigned bytes) {
  if (const std::optional<ptx::Operand> value = literal(source, bytes)) return *value;
  const ptx::Operand address = constant_place(source);
  if (source.number == 0) return launch_state(static_cast<std::uint32_t>(source.value), bytes);
  if (const std::optional<ptx::Operand> value = held_constant(source, bytes)) return *value;
  const ptx::Operand value = bytes == 8 ? temporary_wide() : temporary();
  emit(Op::ld, bytes == 8 ? Type::b64 : Type::b32, {value}, {address}).mods.space = ptx::Space::constant;
  return value;
}

ptx::Operand Translator::raw(const Operand& source) {
  switch (source.kind) {
    case OperandKind::reg: return source.number == zero_register ? number(0) : row(source.number, 4);
    case OperandKind::ureg:
      return source.number == zero_uniform ? number(0) : row(layout_.uniform + source.number, 4);
    case OperandKind::immediate: {
      if (address_ == nullptr) return number(static_cast<std::uint32_t>(source.value));
      constants_.push_back(*address_);
      return {.kind = ptx::OperandKind::imm,
              .bytes = 4,
              .index = static_cast<std::uint32_t>(constants_.size() - 1)};
    }
    case OperandKind::constant: return constant(source, 4);
    default: refuse("has a source that is not executed yet");
  }
}

ptx::Operand Translator::raw_wide(const Operand& source) {
  switch (source.kind) {
    case OperandKind::immediate: {
      if (address_ != nullptr) refuse("has an address as a 64-bit immediate, which is not executed yet");
      const auto bits = static_cast<std::uint64_t>(source.value);
      // The upper half of a double; an integer is extended by its sign.
      if (form_of(source).immediate == Immediate::f64) return number(bits << 32, 8);
      return number(static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bits))),
                    8);
    }
    case OperandKind::constant: return constant(source, 8);
    default: break;
  }
  const bool zero = source.kind == OperandKind::reg
                        ? source.number == zero_register
                        : source.kind == OperandKind::ureg && source.number == zero_uniform;
  if (zero) return number(0, 8);
  if (source.kind != OperandKind::reg && source.kind != OperandKind::ureg)
    refuse("has a 64-bit source that is not executed yet");
  const ptx::Operand wide = temporary_wide();
  emit(Op::mov, Type::b64, {wide}, {raw(source), register_behind(source, 1)});
  return wide;
}

ptx::Operand Translator::integer(const Operand& source) {
  const ptx::Operand value = raw(source);
  if (!source.negated && !source.inverted) return value;
  const ptx::Operand out = temporary();
  emit(source.negated ? Op::neg : Op::not_, source.negated ? Type::s32 : Type::b32, {out}, {value});
  return out;
}

ptx::Operand Translator::integer_wide(const Operand& source) {
  const ptx::Operand value = raw_wide(source);
  if (!source.negated && !source.inverted) return value;
  const ptx::Operand out = temporary_wide();
  emit(source.negated ? Op::neg : Op::not_, source.negated ? Type::s64 : Type::b64, {out}, {value});
  return out;
}

// Sign bits are changed by logic, which leaves NaN as they are.
ptx::Operand Translator::single(const Operand& source) {
  ptx::Operand value = raw(source);
  const auto change = [&](Op op, std::uint32_t mask) {
    const ptx::Operand out = temporary();
    emit(op, Type::b32, {out}, {value, number(mask)});
    value = out;
  };
  if (source.absolute) change(Op::and_, 0x7fffffffu);
  if (source.negated) change(Op::xor_, 0x80000000u);
  return value;
}

ptx::Operand Translator::real(const Operand& source) {
  ptx::Operand value = raw_wide(source);
  const auto change = [&](Op op, std::uint64_t mask) {
    const ptx::Operand out = temporary_wide();
    emit(op, Type::b64, {out}, {value, number(mask, 8)});
    value = out;
  };
  if (source.absolute) change(Op::and_, 0x7fffffffffffffffull);
  if (source.negated) change(Op::xor_, 0x8000000000000000ull);
  return value;
}

bool Translator::is_true(const Operand& p) const { return p.number == true_predicate && !p.inverted; }
bool Translator::is_false(const Operand& p) const { return p.number == true_predicate && p.inverted; }

ptx::Operand Translator::predicate(const Operand& p) const {
  // Predicates behind those of the frame: one to write to, one that is always false (exec/bind.cpp).
  if (p.number == true_predicate) {
    ptx::Operand always{.kind = ptx::OperandKind::pred, .negated = !p.inverted};
    always.index = Layout::predicates + most_temporary_predicates + 1;
    return always;
  }
  const std::uint32_t base = p.kind == OperandKind::upred ? Layout::uniform_predicate : 0;
  return {.kind = ptx::OperandKind::pred, .negated = p.inverted, .index = base + p.number};
}

ptx::Operand Translator::predicate_result(Name name) const {
  const Operand& p = operand(name);
  if (p.number == true_predicate) return {.kind = ptx::OperandKind::sink};
  ptx::Operand out = predicate(p);
  out.negated = false;
  return out;
}

ptx::Operand Translator::result(const Operand& destination) const {
  const bool uniform = destination.kind == OperandKind::ureg;
  if (destination.number == (uniform ? zero_uniform : zero_register))
    return {.kind = ptx::OperandKind::sink, .bytes = 4};
  return row(uniform ? layout_.uniform + destination.number : destination.number, 4);
}

ptx::Operand Translator::register_behind(const Operand& first, unsigned offset) const {
  const bool uniform = first.kind == OperandKind::ureg;
  const unsigned zero = uniform ? zero_uniform : zero_register;
  if (first.number == zero) return {.kind = ptx::OperandKind::sink, .bytes = 4};
  if (first.number + offset >= zero) refuse("uses registers beyond the last one");
  return row((uniform ? layout_.uniform : 0) + first.number + offset, 4);
}

ptx::Operand Translator::halves(const Operand& source) {
  switch (source.kind) {
    case OperandKind::reg:
    case OperandKind::ureg: {
      if (register_behind(source, 1).kind == ptx::OperandKind::sink) return number(0, 8);
      ptx::Operand pair = raw(source);
      pair.bytes = 8;
      return pair;
    }
    case OperandKind::constant: {
      if (const std::optional<ptx::Operand> value = literal(source, 8)) return *value;
      const ptx::Operand place = constant_place(source);
      if (source.number == 0) return launch_state(static_cast<std::uint32_t>(source.value), 8);
      if (const std::optional<ptx::Operand> value = held_constant(source, 8)) return *value;
      ptx::Operand pair = temporary_wide(), low = pair, high = pair;
      low.bytes = high.bytes = 4;
      ++high.index;
      ptx::Inst& load = emit(Op::ld, Type::b32, {low, high}, {place});
      load.mods.space = ptx::Space::constant;
      load.mods.vector = 2;
      return pair;
    }
    default: refuse("has a 64-bit source that is not executed yet");
  }
}

ptx::Operand Translator::result_halves(const Operand& destination) const {
  ptx::Operand pair = result(destination);
  if (register_behind(destination, 1).kind != ptx::OperandKind::sink) pair.bytes = 8;
  return pair;
}

void Translator::store_wide(const Operand& destination, const ptx::Operand& value) {
  emit(Op::mov, Type::b64, {result(destination), register_behind(destination, 1)}, {value});
}

ptx::Inst& Translator::emit(Op op, Type type, std::initializer_list<ptx::Operand> results,
                            std::initializer_list<ptx::Operand> sources) {
  ptx::Inst inst;
  inst.op = op;
  inst.type = inst.stype = type;
  inst.line = instruction_->address;
  for (const ptx::Operand& o : results) inst.dst[inst.dst_count++] = o;
  for (const ptx::Operand& o : sources) inst.src[inst.src_count++] = o;
  code_.operations.push_back(inst);
  return code_.operations.back();
}

ptx::Inst& Translator::emit_memory(Op op, Type type, std::initializer_list<ptx::Operand> results,
                                   std::initializer_list<ptx::Operand> sources) {
  SIMTLAB_ASSERT(action_.memory == no_operation, "an instruction accesses memory once");
  action_.memory = static_cast<std::uint32_t>(code_.operations.size()) - action_.first;
  return emit(op, type, results, sources);
}

ptx::Operand Translator::pair_of(std::uint32_t first) {
  const ptx::Operand wide = temporary_wide();
  emit(Op::mov, Type::b64, {wide}, {row(first, 4), row(first + 1, 4)});
  return wide;
}

const OperandForm& Translator::form_of(const Operand& operand) const {
  return instruction_->form->operands[static_cast<std::size_t>(&operand - instruction_->operands.data())];
}

// A descriptor says how memory is reached, not where: that of the driver is the identity.
bool Translator::has_uniform(const Operand& memory) const {
  const bool is_descriptor = form_of(memory).name == "mem" && (field("desc") != 0 || field("desc3") != 0);
  return memory.uniform != zero_uniform && !is_descriptor;
}

std::optional<ptx::Operand> Translator::address_halves(const Operand& memory) const {
  const bool uniform = has_uniform(memory), base = memory.base != zero_register;
  if (uniform == base || (!memory.wide && !memory.pair)) return std::nullopt;
  if (uniform) return row(layout_.uniform + memory.uniform, 8);
  if (!memory.pair && form_of(memory).uniform != no_bit) return std::nullopt;  // [Ra.U32]
  return row(memory.base, 8);
}

// [Ra.64 + URb + offset], [Ra.X4 + URb + offset], [Ra.U32 + URb.64 + offset], desc[URb][Ra.64 + offset]
ptx::Operand Translator::address(const Operand& memory) {
  const bool uses_uniform = has_uniform(memory);
  if (!memory.wide && !memory.pair) {
    ptx::Operand base = memory.base == zero_register ? number(0) : row(memory.base, 4);
    if (memory.scale != 1 && memory.base != zero_register) {
      const ptx::Operand scaled = temporary();
      emit(Op::shl, Type::b32, {scaled},
           {base, number(static_cast<std::uint64_t>(std::countr_zero(memory.scale)))});
      base = scaled;
    }
    if (!uses_uniform) return base;
    const ptx::Operand uniform = row(layout_.uniform + memory.uniform, 4);
    if (memory.base == zero_register) return uniform;
    const ptx::Operand sum = temporary();
    emit(Op::add, Type::u32, {sum}, {base, uniform});
    return sum;
  }
  ptx::Operand base = number(0, 8);
  if (memory.base != zero_register) {
    if (memory.pair || form_of(memory).uniform == no_bit) {
      base = pair_of(memory.base);
    } else {
      base = temporary_wide();
      emit(Op::mov, Type::b64, {base}, {row(memory.base, 4), number(0)});
    }
  }
  if (!uses_uniform) return base;
  const ptx::Operand uniform = pair_of(layout_.uniform + memory.uniform);
  if (memory.base == zero_register) return uniform;
  const ptx::Operand sum = temporary_wide();
  emit(Op::add, Type::u64, {sum}, {base, uniform});
  return sum;
}

}  // namespace simtlab::machine
