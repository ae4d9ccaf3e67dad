#include "assembler/simplify.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

constexpr unsigned most_rounds = 4;

// What an instruction becomes; a MOV has its value as the only source.
struct Simpler {
  std::string_view name;
  std::array<Value, 3> sources{};
  std::size_t count = 0;
  std::vector<FieldWord> fields = {};
  int table = -1;  // of LOP3
};
Simpler copy_of(const Value& value) { return {"MOV", {value}, 1}; }

bool is_number(const Value& v, std::uint32_t wanted) {
  return (v.is_number() && static_cast<std::uint32_t>(v.bits) == wanted) ||
         (wanted == 0 && v.is_zero_register());
}
bool is_known(const Value& v) { return v.is_number() || v.is_zero_register(); }
std::uint32_t bits_of(const Value& v) { return v.is_number() ? static_cast<std::uint32_t>(v.bits) : 0; }

class Simplification {
 public:
  explicit Simplification(Program& program) : p_(program), out_(program, program.generation) {}

  void run() {
    bool changed = true;
    for (unsigned round = 0; changed && round < most_rounds; ++round) {
      find_known();
      changed = false;
      for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
        for (std::size_t k = 0; k < p_.blocks[b].code.size(); ++k) changed = visit(b, k) || changed;
    }
  }

 private:
  using Numbers = std::array<std::optional<std::uint32_t>, 4>;

  // Registers that one instruction writes, with a number.
  void find_known() {
    std::vector<std::array<std::uint8_t, 4>> writes(p_.registers.size());
    read_.assign(p_.registers.size(), false);
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code)
        for_each_ref(i, [&](const Ref& r, bool is_write) {
          for (unsigned part = r.part; is_write && part < 4u && part < unsigned{r.part} + r.count; ++part)
            if (writes[r.reg][part] < 2)
              writes[r.reg][part] = static_cast<std::uint8_t>(writes[r.reg][part] + (i.guarded() ? 2 : 1));
          if (!is_write) read_[r.reg] = true;
        });
    known_.assign(p_.registers.size(), {});
    predicates_.assign(p_.registers.size(), std::nullopt);
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code) {
        if (i.guarded()) continue;
        if (const auto result = single_result(i); result && writes[result->reg][result->part] == 1)
          known_[result->reg][result->part] = number_of(i);
        note_predicate(i, writes);
      }
  }

  // Of one word.
  static std::optional<Ref> single_result(const Instruction& i) {
    const int at = i.code.form->operand("Rd");
    if (at < 0 || !i.refs[static_cast<std::size_t>(at)] || i.refs[static_cast<std::size_t>(at)].count != 1)
      return std::nullopt;
    return i.refs[static_cast<std::size_t>(at)];
  }
  static std::optional<std::uint32_t> number_of(const Instruction& i) {
    if (i.code.mnemonic() != "MOV" || i.address != none) return std::nullopt;
    if (const int imm = i.code.form->operand("imm"); imm >= 0)
      return static_cast<std::uint32_t>(i.code.operands[static_cast<std::size_t>(imm)].value);
    const int reg = i.code.form->operand("Rb");
    if (reg < 0 || i.refs[static_cast<std::size_t>(reg)]) return std::nullopt;
    const bool zero_register =
        i.code.operands[static_cast<std::size_t>(reg)].number == machine::zero_register;
    return zero_register ? std::optional<std::uint32_t>(0) : std::nullopt;
  }

  // x < 0 of an unsigned number, and its opposite; carries of sums of one term
  void note_predicate(const Instruction& i, const std::vector<std::array<std::uint8_t, 4>>& writes) {
    const auto note = [&](std::string_view name, bool value) {
      const int at = i.code.form->operand(machine::Name(name));
      if (at < 0) return;
      const Ref& r = i.refs[static_cast<std::size_t>(at)];
      if (r && writes[r.reg][0] == 1) predicates_[r.reg] = value;
    };
    const std::string_view name = i.code.mnemonic();
    if (name == "ISETP" && i.code.field("ex") == 0 && i.code.field("u32") == 0 && combines_nothing(i)) {
      const auto v = sources_of(i);
      if (!v || v->size() != 2 || !is_number((*v)[1], 0)) return;
      constexpr unsigned less = 1, at_least = 6;
      if (i.code.field("cmp") == less) note("Pd", false);
      if (i.code.field("cmp") == at_least) note("Pd", true);
    } else if (name == "IADD3") {
      const auto v = sources_of(i);
      if (!v || terms(*v) > 1) return;
      for (const Value& term : *v)
        if (term.negated) return;
      note("Pcarry0", false);
      note("Pcarry1", false);
    }
  }
  static std::size_t terms(const std::vector<Value>& values) {
    std::size_t count = 0;
    for (const Value& v : values) count += is_number(v, 0) ? 0 : 1;
    return count;
  }

  // Pc is true and the comparison is combined by AND.
  static bool combines_nothing(const Instruction& i) {
    const auto at = static_cast<std::size_t>(i.code.form->operand("Pc"));
    return i.code.field("bool") == 0 && !i.refs[at] && !i.code.operands[at].inverted;
  }

  // Sources as values, registers that are known as numbers. nullopt: there are others.
  std::optional<std::vector<Value>> sources_of(const Instruction& i) const {
    std::vector<Value> out;
    for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
      const std::string& name = i.code.form->operands[k].name;
      if (name != "Ra" && name != "Rb" && name != "Rc" && name != "imm" && name != "c") continue;
      const machine::Operand& o = i.code.operands[k];
      Value v;
      switch (o.kind) {
        case OperandKind::reg:
          if (!i.refs[k] && o.number != machine::zero_register) return std::nullopt;
          if (i.refs[k].count != 1) return std::nullopt;
          v = value_of(i.refs[k]);
          if (i.refs[k])
            if (const auto& n = known_[i.refs[k].reg][i.refs[k].part]) v = number(*n);
          break;
        case OperandKind::immediate:
          if (i.address != none) return std::nullopt;
          v = number(static_cast<std::uint32_t>(o.value));
          break;
        case OperandKind::constant:
          if (i.refs[k]) return std::nullopt;
          v = parameter(static_cast<std::uint32_t>(o.value));
          v.bank = o.number;
          break;
        default: return std::nullopt;
      }
      v.negated = o.negated;
      v.inverted = o.inverted;
      if (o.absolute) return std::nullopt;
      out.push_back(v);
    }
    return out;
  }

  // That somebody reads.
  bool writes_predicate(const Instruction& i) const {
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.is_write(k) && i.code.operands[k].kind == OperandKind::pred && i.refs[k] && read_[i.refs[k].reg])
        return true;
    return false;
  }

  bool visit(std::uint32_t b, std::size_t k) {
    const Instruction& i = p_.blocks[b].code[k];
    const std::string_view name = i.code.mnemonic();
    if (name == "ISETP") return drop_extension(b, k);
    const auto result = single_result(i);
    if (!result || (name != "LOP3" && name != "SHF" && name != "IADD3" && name != "IADD3.X" &&
                    name != "SEL" && name != "PRMT"))
      return false;
    const auto v = sources_of(i);
    if (!v) return false;
    std::optional<Simpler> simpler;
    if (name == "LOP3") simpler = logic(i, *v);
    if (name == "SHF") simpler = shift(i, *v);
    if (name == "IADD3") simpler = sum(i, *v);
    if (name == "IADD3.X") simpler = extended_sum(i, *v);
    if (name == "SEL") simpler = choice(i, *v);
    if (name == "PRMT") simpler = permutation(i, *v);
    return simpler && replace(b, k, *result, *simpler);
  }

  static unsigned with_bit(unsigned table, unsigned input, bool value) {
    unsigned out = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned bit = 1u << (2 - input);
      out |= (table >> (value ? k | bit : k & ~bit) & 1u) << k;
    }
    return out;
  }

  std::optional<Simpler> logic(const Instruction& i, const std::vector<Value>& v) const {
    if (writes_predicate(i) || v.size() != 3) return std::nullopt;
    auto table =
        static_cast<unsigned>(i.code.operands[static_cast<std::size_t>(i.code.form->operand("lut"))].value);
    for (unsigned k = 0; k < 3; ++k) {
      if (is_number(v[k], 0)) table = with_bit(table, k, false);
      if (is_number(v[k], 0xffffffffu)) table = with_bit(table, k, true);
    }
    if (table == 0x00) return copy_of(number(0));
    if (table == 0xff) return copy_of(number(0xffffffffu));
    constexpr unsigned identity[] = {0xf0, 0xcc, 0xaa};
    for (unsigned k = 0; k < 3; ++k)
      if (table == identity[k]) return copy_of(v[k]);
    if (!is_known(v[0]) || !is_known(v[1]) || !is_known(v[2])) return std::nullopt;
    std::uint32_t out = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      const auto at = [&](unsigned k) { return bits_of(v[k]) >> bit & 1u; };
      out |= (table >> (at(0) << 2 | at(1) << 1 | at(2)) & 1u) << bit;
    }
    return copy_of(number(out));
  }

  static Simpler shifted(bool left, bool sign, const Value& value, std::uint32_t n) {
    if (n == 0) return copy_of(value);
    if (left) return {"SHF", {value, number(n), zero()}, 3, {{"dir", "L"}, {"type", "U32"}}};
    return {
        "SHF", {zero(), number(n), value}, 3, {{"dir", "R"}, {"type", sign ? "S32" : "U32"}, {"hi", "HI"}}};
  }

  static std::optional<Simpler> shift(const Instruction& i, const std::vector<Value>& v) {
    if (i.code.field("w") != 0 || !is_known(v[1])) return std::nullopt;
    const std::uint32_t n = bits_of(v[1]);
    const bool left = i.code.field("dir") == 0, upper = i.code.field("hi") != 0,
               wide = i.code.field("type") < 2, sign = i.code.field("type") % 2 == 0;
    const Value &low = v[0], &high = v[2];
    if (left && !upper) {
      if (n >= 32 || is_number(low, 0)) return copy_of(number(0));
      if (is_known(low)) return copy_of(number(bits_of(low) << n));
      return n == 0 ? std::optional(copy_of(low)) : std::nullopt;
    }
    if (!left && upper) {
      if (is_number(high, 0) || (n >= 32 && !sign)) return copy_of(number(0));
      if (n == 0) return copy_of(high);
      if (is_known(high) && n < 32) {
        const std::uint32_t bits = bits_of(high);
        return copy_of(
            number(sign ? static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> n) : bits >> n));
      }
      return std::nullopt;
    }
    if (!wide || n >= 64) return std::nullopt;
    if (left) {
      if (n == 0) return copy_of(high);
      if (n >= 32) return shifted(true, false, low, n - 32);
      if (is_number(low, 0)) return shifted(true, false, high, n);
      return std::nullopt;
    }
    if (n == 0) return copy_of(low);
    if (n >= 32) return shifted(false, sign, high, n - 32);
    if (is_number(high, 0)) return shifted(false, false, low, n);
    return std::nullopt;
  }

  std::optional<Simpler> sum(const Instruction& i, const std::vector<Value>& v) const {
    if (writes_predicate(i)) return std::nullopt;
    std::uint32_t numbers = 0;
    std::vector<Value> left;
    for (const Value& term : v) {
      if (is_known(term))
        numbers += term.negated ? 0u - bits_of(term) : bits_of(term);
      else
        left.push_back(term);
    }
    if (left.empty()) return copy_of(number(numbers));
    if (left.size() == 1 && numbers == 0 && !left[0].negated) return copy_of(left[0]);
    return std::nullopt;
  }

  // Without a carry it is a plain sum.
  std::optional<Simpler> extended_sum(const Instruction& i, const std::vector<Value>& v) const {
    if (writes_predicate(i)) return std::nullopt;
    for (const char* name : {"Pcin0", "Pcin1"}) {
      const auto at = static_cast<std::size_t>(i.code.form->operand(name));
      const bool inverted = i.code.operands[at].inverted;
      const std::optional<bool> value = i.refs[at] ? predicates_[i.refs[at].reg] : std::optional(true);
      if (!value || *value != inverted) return std::nullopt;  // it is, or may be, true
    }
    for (const Value& term : v)
      if (term.inverted) return std::nullopt;
    return Simpler{"IADD3", {v[0], v[1], v[2]}, 3};
  }

  std::optional<Simpler> choice(const Instruction& i, const std::vector<Value>& v) const {
    const auto at = static_cast<std::size_t>(i.code.form->operand("Pc"));
    const bool inverted = i.code.operands[at].inverted;
    if (i.refs[at] && predicates_[i.refs[at].reg])
      return copy_of(*predicates_[i.refs[at].reg] != inverted ? v[0] : v[1]);
    const bool same =
        (is_known(v[0]) && is_known(v[1]) && bits_of(v[0]) == bits_of(v[1])) ||
        (v[0].kind == Value::Kind::reg && v[1].kind == Value::Kind::reg && v[0].ref && v[0].ref == v[1].ref);
    return same ? std::optional(copy_of(v[0])) : std::nullopt;
  }

  static std::optional<Simpler> permutation(const Instruction& i, const std::vector<Value>& v) {
    if (i.code.field("mode") != 0 || v.size() != 3 || !is_known(v[0]) || !is_known(v[1]) || !is_known(v[2]))
      return std::nullopt;
    const std::uint64_t bytes = std::uint64_t{bits_of(v[2])} << 32 | bits_of(v[0]);
    std::uint32_t out = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t nibble = bits_of(v[1]) >> 4 * k & 15;
      const auto byte = static_cast<std::uint32_t>(bytes >> 8 * (nibble & 7) & 255);
      out |= ((nibble & 8) != 0 ? (byte >= 128 ? 255u : 0u) : byte) << 8 * k;
    }
    return copy_of(number(out));
  }

  // A comparison of upper words behind one of lower words whose result is known.
  bool drop_extension(std::uint32_t b, std::size_t k) {
    Instruction& i = p_.blocks[b].code[k];
    if (i.code.field("ex") == 0) return false;
    const auto at = static_cast<std::size_t>(i.code.form->operand("Pex"));
    if (!i.refs[at] || !predicates_[i.refs[at].reg]) return false;
    const bool below = *predicates_[i.refs[at].reg] != i.code.operands[at].inverted;
    constexpr unsigned less = 1, at_most = 3, greater = 4, at_least = 6;
    const int field = i.code.form->field("cmp");
    std::uint16_t& compare = i.code.fields[static_cast<std::size_t>(field)];
    if (compare == less || compare == at_most)
      compare = below ? at_most : less;
    else if (compare == greater || compare == at_least)
      compare = below ? at_least : greater;
    else
      return false;
    i.code.fields[static_cast<std::size_t>(i.code.form->field("ex"))] = 0;
    i.refs[at] = {};
    i.code.operands[at].number = machine::true_predicate;
    i.code.operands[at].inverted = false;
    return true;
  }

  bool replace(std::uint32_t b, std::size_t k, const Ref& result, const Simpler& simpler) {
    const Instruction like = p_.blocks[b].code[k];
    std::vector<Instruction>& code = p_.blocks[b].code;
    const std::size_t before = code.size();
    out_.start(b);
    Instruction made =
        simpler.count == 1
            ? out_.emit(simpler.name, result, {simpler.sources[0]})
            : out_.emit(simpler.name, result, {simpler.sources[0], simpler.sources[1], simpler.sources[2]});
    for (const FieldWord& f : simpler.fields) out_.set_word(made, f);
    const bool alone = code.size() == before + 1;
    code.resize(before, like);
    if (!alone) return false;
    made.guard = like.guard;
    made.code.guard = like.code.guard;
    made.code.guard_negated = like.code.guard_negated;
    made.line = like.line, made.file = like.file, made.source_line = like.source_line;
    if (simpler.name == "MOV") {
      const bool moves = simpler.sources[0].kind == Value::Kind::reg && simpler.sources[0].ref;
      made.copy = moves && !made.guarded();
      made.remakes = !moves && !made.guarded();
    }
    code[k] = std::move(made);
    return true;
  }

  Program& p_;
  Builder out_;
  std::vector<Numbers> known_;
  std::vector<std::optional<bool>> predicates_;
  std::vector<bool> read_;
};

}  // namespace

void simplify(Program& program) { Simplification(program).run(); }

}  // namespace simtlab::assembler
