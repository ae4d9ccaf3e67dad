#include "assembler/bundled.h"

#include <algorithm>
#include <string>
#include <utility>

#include "assembler/bundled_rewriter.h"
#include "assembler/clean.h"
#include "assembler/lock_shared.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

// A number with the signs of v.
Value with_number(const Value& v, std::uint32_t bits) {
  Value out = number(bits);
  out.negated = v.negated;
  out.absolute = v.absolute;
  out.inverted = v.inverted;
  return out;
}

}  // namespace

void Bundler::run() {
  b_.note_writers();
  find_uses();
  find_numbers();
  find_products();
  p_.generation = b_.generation();
  for (std::uint32_t block = 0; block < p_.blocks.size(); ++block) {
    old_ = std::move(p_.blocks[block].code);
    p_.blocks[block].code.clear();
    gather_sums();
    b_.start(block);
    done_.assign(old_.size(), false);
    for (at_ = 0; at_ < old_.size(); ++at_) {
      if (done_[at_]) continue;
      also_made_.clear();
      rewrite(old_[at_]);
      b_.note_writes(old_[at_]);
      for (const std::size_t k : also_made_) b_.note_writes(old_[k]);
    }
  }
}

void Bundler::rewrite(const Instruction& i) {
  if (i.guard && std::ranges::find(settled_, i.guard.reg) != settled_.end()) return;
  b_.stand_for(i);
  for (const Row& row : rows())
    if (row.name == i.code.mnemonic()) return (this->*row.rewrite)(i);
  same(i);
}

std::span<const Bundler::Row> Bundler::rows() {
  static constexpr Row all[] = {
      {"MOV", &Bundler::move},
      {"IADD3", &Bundler::three_terms},
      {"IADD3.X", &Bundler::high_word},
      {"LEA", &Bundler::scaled},
      {"LEA.HI", &Bundler::scaled_high},
      {"LEA.HI.X", &Bundler::high_word},
      {"LEA.X", &Bundler::refuse},
      {"IMAD", &Bundler::product},
      {"IMAD.X", &Bundler::refuse},
      {"IMAD.HI", &Bundler::high_product},
      {"IMAD.WIDE", &Bundler::wide_product},
      {"LOP3", &Bundler::logic},
      {"SHF", &Bundler::shift},
      {"BREV", &Bundler::reverse},
      {"IABS", &Bundler::magnitude},
      {"SGXT", &Bundler::extend},
      {"PLOP3", &Bundler::predicate_logic},
      {"ISETP", &Bundler::compare},
      {"FADD", &Bundler::float_sum},
      {"FMUL", &Bundler::float_sum},
      {"FFMA", &Bundler::float_product},
      {"DADD", &Bundler::float_product},
      {"DMUL", &Bundler::float_product},
      {"DFMA", &Bundler::float_product},
      {"DSETP", &Bundler::compare_doubles},
      {"BMSK", &Bundler::mask},
      {"FSEL", &Bundler::float_select},
      {"FCHK", &Bundler::check_division},
      {"HADD2", &Bundler::half_sum},
      {"HMUL2", &Bundler::halves},
      {"HFMA2", &Bundler::halves},
      {"HSETP2", &Bundler::halves},
      {"HSET2", &Bundler::halves},
      {"SEL", &Bundler::choose},
      {"MUFU", &Bundler::special},
      {"F2F", &Bundler::convert},
      {"F2F.64", &Bundler::convert},
      {"F2I", &Bundler::convert},
      {"F2I.64", &Bundler::convert},
      {"I2F", &Bundler::convert},
      {"I2F.64", &Bundler::convert},
      {"FRND", &Bundler::convert},
      {"FRND.64", &Bundler::convert},
      {"LDG", &Bundler::load},
      {"LD", &Bundler::load},
      {"LDS", &Bundler::shared_load},
      {"LDC", &Bundler::load_constant},
      {"VABSDIFF", &Bundler::difference},
      {"VABSDIFF4", &Bundler::difference_of_bytes},
      {"STG", &Bundler::store},
      {"ST", &Bundler::store},
      {"ATOM", &Bundler::atomic},
      {"ATOMG", &Bundler::atomic},
      {"ATOMS", &Bundler::atomic},
      {"RED", &Bundler::atomic},
      {"ATOM.CAS", &Bundler::swap},
      {"ATOMG.CAS", &Bundler::swap},
      {"ATOMS.CAS", &Bundler::swap},
      {"MEMBAR", &Bundler::fence},
      {"CS2R", &Bundler::counter},
      {"BAR", &Bundler::barrier},
      {"BSSY", &Bundler::set_meeting},
      {"BSYNC", &Bundler::meet},
      {"WARPSYNC", &Bundler::drop},
      {"YIELD", &Bundler::drop},
      {"NANOSLEEP", &Bundler::drop},
      {"ERRBAR", &Bundler::drop},
      {"CCTL", &Bundler::drop},
      {"MATCH", &Bundler::refuse},
      {"CALL.ABS", &Bundler::call},
  };
  return all;
}

Ref Bundler::result(const Instruction& i, std::string_view name) {
  const int at = i.code.form->operand(name);
  return at < 0 ? Ref{} : i.refs[static_cast<std::size_t>(at)];
}

Condition Bundler::condition(const Instruction& i, std::string_view name) {
  const int at = i.code.form->operand(name);
  if (at < 0) return always();
  return {i.refs[static_cast<std::size_t>(at)], i.code.operands[static_cast<std::size_t>(at)].inverted};
}

std::string_view Bundler::word(const Instruction& i, std::string_view field) {
  const int at = i.code.form->field(field);
  if (at < 0) return {};
  const std::string* const w =
      i.code.form->fields[static_cast<std::size_t>(at)]->word(i.code.fields[static_cast<std::size_t>(at)]);
  return w == nullptr ? std::string_view() : std::string_view(*w);
}

unsigned Bundler::number_of(const Instruction& i, std::string_view operand) {
  return static_cast<unsigned>(
      i.code.operands[static_cast<std::size_t>(i.code.form->operand(operand))].value);
}

std::vector<Value> Bundler::sources(const Instruction& i) const {
  const auto values = source_values(i, true);
  if (!values) throw GivenUp{"sources of " + std::string(i.code.mnemonic()) + " that are not known"};
  std::vector<Value> out(values->all().begin(), values->all().end());
  for (Value& v : out)
    if (v.kind == Value::Kind::constant && v.bank == 0)
      v.offset = place_of(v.offset);
    else if (v.kind == Value::Kind::reg && v.ref && v.ref.count == 1 && v.ref.part == 0 &&
             numbers_[v.ref.reg])
      v = with_number(v, *numbers_[v.ref.reg]);
  return out;
}

std::uint32_t Bundler::place_of(std::uint32_t offset) const {
  const machine::LaunchSlots from = machine::launch_slots(selected_as(b_.generation())),
                             to = machine::launch_slots(b_.generation());
  if (offset >= from.parameters) return offset - from.parameters + to.parameters;
  for (const std::uint32_t word : {0u, 4u, 8u}) {
    if (offset == from.block + word) return to.block + word;
    if (offset == from.grid + word) return to.grid + word;
  }
  if (offset == from.stack) return to.stack;
  if (offset == from.shared_window) return to.shared_window;
  if (offset == from.shared_window + 4) return to.shared_window_high;
  if (offset == from.local_window) return to.local_window;
  if (offset == from.local_window + 4) return to.local_window_high;
  if (offset == from.grid_id) return to.grid_id;
  if (offset == from.sm_count) return to.sm_count;
  throw GivenUp{"a value of the launch that this generation keeps elsewhere"};
}

void Bundler::find_numbers() {
  constexpr std::int32_t limit = 1 << 19;
  std::vector<std::uint8_t> writers(p_.registers.size(), 0);
  numbers_.assign(p_.registers.size(), std::nullopt);
  for (const Block& block : p_.blocks)
    for (const Instruction& i : block.code)
      for_each_ref(i, [&](const Ref& r, bool writes) {
        if (!writes) return;
        if (writers[r.reg] < 2) ++writers[r.reg];
        if (i.code.mnemonic() != "MOV" || i.guarded() || p_.registers[r.reg].width != 1) return;
        const auto values = source_values(i);
        if (!values || i.address != none) return;
        if (!values->values[0].is_number() && !values->values[0].is_zero_register()) return;
        const auto bits = static_cast<std::int32_t>(values->values[0].bits);
        if (bits >= -limit && bits < limit) numbers_[r.reg] = static_cast<std::uint32_t>(bits);
      });
  for (std::size_t r = 0; r < writers.size(); ++r)
    if (writers[r] != 1 || p_.registers[r].fixed != Register::anywhere) numbers_[r] = std::nullopt;
}

void Bundler::find_uses() {
  uses_.assign(p_.registers.size(), 0);
  for (const Block& block : p_.blocks)
    for (const Instruction& i : block.code)
      for_each_ref(i, [&](const Ref& r, bool writes) { uses_[r.reg] += writes ? 0 : 1; });
}

void Bundler::find_products() {
  for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
    for (const Instruction& i : p_.blocks[b].code) {
      if (!i.code.mnemonic().starts_with("IMAD.WIDE")) continue;
      const std::vector<Value> v = sources(i);
      const auto factor = known_number(v[1]);
      if (factor && v[0].kind == Value::Kind::reg && v[0].ref)
        ++products_[{b, v[0].ref.reg, v[0].ref.part, *factor}];
    }
}

bool Bundler::touches(const Instruction& i, const Ref& r, bool as_result) {
  bool out = false;
  for_each_ref(i, [&](const Ref& other, bool is_write) {
    out |= is_write == as_result && other.reg == r.reg && other.part < r.part + r.count &&
           r.part < other.part + other.count;
  });
  return out;
}

const Instruction* Bundler::writer_in_block(const Ref& r, std::size_t at) const {
  for (std::size_t k = at; k-- > 0 && at - k <= farthest_pair;) {
    if (!writes(old_[k], r)) continue;
    bool stands = !old_[k].guarded();
    for (std::size_t m = k; m < at && stands; ++m)
      for_each_ref(old_[k], [&](const Ref& source, bool is_write) {
        if (!is_write && writes(old_[m], source)) stands = false;
      });
    return stands ? &old_[k] : nullptr;
  }
  return nullptr;
}

void Bundler::same(const Instruction& i) { with_name(i, i.code.mnemonic()); }

Instruction& Bundler::with_name(const Instruction& i, std::string_view name) {
  return with_name(i, name, sources(i));
}

Instruction& Bundler::with_name(const Instruction& like, std::string_view name, std::vector<Value> values) {
  static constexpr std::string_view left_out[] = {"sem", "scope", "evict", "defer", "ntz",
                                                  "l2",  "zd",    "x",     "hi",    "kind"};
  // Numbers that no form takes become literals or registers, later ones first.
  for (std::size_t tried = 0; tried <= values.size(); ++tried) {
    for (const machine::Form* form : b_.out().forms(name))
      if (auto out = b_.out().with_form(like, *form, values, left_out)) return append(std::move(*out), like);
    if (tried < values.size()) make_fit(name, values);
  }
  throw GivenUp{"no form of " + std::string(name) + " on sm_" + std::to_string(b_.generation()) +
                " says the same"};
}

void Bundler::make_fit(std::string_view name, std::vector<Value>& values) {
  if (b_.out().form_for(name, values) != nullptr) return;
  for (std::size_t k = values.size(); k-- > 0;) {
    if (!values[k].is_number() || values[k].bits == 0) continue;
    std::vector<Value> tried = values;
    tried[k] = b_.literal(values[k]);
    if (b_.out().form_for(name, tried) != nullptr) {
      values = std::move(tried);
      return;
    }
  }
  for (Value& v : values) {
    if (v.is_number() && v.bits == 0 && !v.inverted) {
      const Value before = v;
      v = zero();
      v.negated = before.negated;
      v.absolute = before.absolute;
      if (b_.out().form_for(name, values) != nullptr) return;
      v = before;
    }
  }
  for (std::size_t k = values.size(); k-- > 0;) {
    Value& v = values[k];
    if (v.kind == Value::Kind::reg) continue;
    std::vector<Value> tried = values;
    const Value kept = plain(v);
    tried[k].kind = Value::Kind::reg;
    tried[k].ref = {.reg = 0};
    const bool enough = b_.out().form_for(name, tried) != nullptr;
    if (!enough && k > 0) continue;
    v.ref = b_.out().in_register(kept);
    v.kind = Value::Kind::reg;
    return;
  }
}

Instruction& Bundler::append(Instruction i, const Instruction& like) {
  i.copy = like.copy;
  i.remakes = like.remakes;
  std::vector<Instruction>& code = p_.blocks[b_.out().block()].code;
  code.push_back(std::move(i));
  return code.back();
}

void Bundler::clear(Instruction& i, std::string_view field) {
  const int at = i.code.form->field(field);
  if (at < 0) return;
  for (const auto& [value, word] : i.code.form->fields[static_cast<std::size_t>(at)]->values)
    if (word.empty()) i.code.fields[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value);
}

void Bundler::move(const Instruction& i) {
  const Value v = sources(i)[0];
  const bool number = v.kind == Value::Kind::number || v.kind == Value::Kind::address;
  Instruction& made = !number                        ? b_.emit("MOV", result(i), {v})
                      : v.is_number() && v.bits == 0 ? b_.emit("MOV", result(i), {zero()})
                                                     : b_.emit("MOV32I", result(i), {v});
  // Arguments of calls have numbers.
  if (!i.refs[0]) made.code.operands[0].number = i.code.operands[0].number;
  made.copy = i.copy;
  made.remakes = i.remakes;
}

Value Bundler::in_register(const Value& v) {
  if (v.kind == Value::Kind::reg) return v;
  Value out = b_.out().as_register(plain(v));
  out.negated = v.negated;
  out.absolute = v.absolute;
  out.inverted = v.inverted;
  return out;
}

void Bundler::refuse(const Instruction& i) {
  throw GivenUp{std::string(i.code.mnemonic()) + " on this generation"};
}

void to_bundles(Program& program, unsigned generation) {
  if (selected_as(generation) == generation) return;
  // Shared memory has no atomics before Maxwell.
  const bool locks = !Builder(program, generation).has_form("ATOMS");
  std::vector<Ref> done = locks ? loop_on_locks(program) : std::vector<Ref>();
  Bundler(program, generation, std::move(done)).run();
  clean(program);
}

}  // namespace simtlab::assembler
