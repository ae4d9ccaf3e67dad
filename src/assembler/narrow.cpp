#include "assembler/narrow.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t sign_of_byte = 0x8880, sign_of_half = 0x9910;  // PRMT's selectors
constexpr unsigned longest_chain = 8;

// An operation on one register, with a number.
struct Step {
  enum class Kind : std::uint8_t { mask, left, right, extend } kind = Kind::mask;
  Ref source;
  std::uint32_t number = 0;  // extend: bits
  std::size_t at = 0;        // in the block
};

std::optional<std::size_t> place_in(const Instruction& i, std::string_view operand) {
  const int at = i.code.form->operand(machine::Name(operand));
  return at < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(at));
}
bool is_zero(const Instruction& i, std::string_view operand) {
  const auto at = place_in(i, operand);
  return at && !i.refs[*at] && i.code.operands[*at].number == machine::zero_register;
}

class Narrowing {
 public:
  explicit Narrowing(Program& program)
      : p_(program), out_(program, program.generation), writers_(program.registers.size(), 0) {}

  void run() {
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code)
        for_each_ref(i, [&](const Ref& r, bool writes) { writers_[r.reg] += writes ? 1u : 0u; });
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      steps_.clear();
      written_.clear();
      for (std::size_t k = 0; k < p_.blocks[b].code.size(); ++k) {
        visit(b, k);
        for_each_ref(p_.blocks[b].code[k], [&](const Ref& r, bool writes) {
          if (writes) written_[r.reg] = k;
        });
      }
    }
  }

 private:
  bool is_single(const Ref& r) const { return r && p_.registers[r.reg].width == 1 && writers_[r.reg] == 1; }

  std::optional<Step> step_of(const Instruction& i) const {
    const std::string_view name = i.code.mnemonic();
    const auto d = place_in(i, "Rd"), number = place_in(i, "imm");
    const auto s = place_in(i, name == "SHF" && i.code.field("dir") != 0 ? "Rc" : "Ra");
    if (i.guarded() || i.address != none || !d || !number || !s || !is_single(i.refs[*d]) ||
        !is_single(i.refs[*s]))
      return std::nullopt;
    Step out{.source = i.refs[*s], .number = static_cast<std::uint32_t>(i.code.operands[*number].value)};
    if (name == "LOP3") {
      const auto table = place_in(i, "lut"), p = place_in(i, "Pd");
      const bool is_and = i.code.operands[*table].value == 0xc0 && is_zero(i, "Rc") && !i.refs[*p];
      return is_and ? std::optional(out) : std::nullopt;
    }
    if (name == "PRMT") {
      if (!is_zero(i, "Rc") || i.code.field("mode") != 0) return std::nullopt;
      if (out.number != sign_of_byte && out.number != sign_of_half) return std::nullopt;
      out.kind = Step::Kind::extend;
      out.number = out.number == sign_of_byte ? 8 : 16;
      return out;
    }
    if (name != "SHF" || i.code.field("w") != 0 || out.number >= 32) return std::nullopt;
    constexpr unsigned signed_word = 2, unsigned_word = 3;
    const bool left = i.code.field("dir") == 0, upper = i.code.field("hi") != 0;
    out.kind = left ? Step::Kind::left : Step::Kind::right;
    const bool fits = left ? !upper && i.code.field("type") == unsigned_word && is_zero(i, "Rc")
                           : upper && i.code.field("type") == signed_word && is_zero(i, "Ra");
    return fits ? std::optional(out) : std::nullopt;
  }

  // What made the source in this block, from something that is still what it was.
  const Step* before(const Step& step) const {
    const auto at = steps_.find(step.source.reg);
    if (at == steps_.end()) return nullptr;
    const auto written = written_.find(at->second.source.reg);
    return written == written_.end() || written->second < at->second.at ? &at->second : nullptr;
  }

  static std::uint32_t low_bits(std::uint32_t count) { return (1u << count) - 1; }

  // The same value in fewer steps; `same`: it is the source.
  Step shorter(Step step, bool& same) const {
    for (unsigned k = 0; k < longest_chain; ++k) {
      const Step* const b = before(step);
      if (b == nullptr) break;
      if (step.kind == Step::Kind::mask && b->kind == Step::Kind::mask) {
        step = {Step::Kind::mask, b->source, step.number & b->number, step.at};
      } else if (step.kind == Step::Kind::mask && b->kind == Step::Kind::extend &&
                 (step.number & ~low_bits(b->number)) == 0) {
        step.source = b->source;
      } else if (step.kind == Step::Kind::extend && b->kind == Step::Kind::mask &&
                 (b->number & low_bits(step.number)) == low_bits(step.number)) {
        step.source = b->source;
      } else if (step.kind == Step::Kind::extend && b->kind == Step::Kind::extend) {
        same = b->number <= step.number;
        if (same) break;
        step.source = b->source;
      } else if (step.kind == Step::Kind::right && b->kind == Step::Kind::left && b->number == step.number &&
                 step.number % 8 == 0 && step.number >= 16) {
        step = {Step::Kind::extend, b->source, 32 - step.number, step.at};
      } else if (step.kind == Step::Kind::right && b->kind == Step::Kind::extend && b->number == 16 &&
                 step.number == 8 && before(*b) != nullptr && before(*b)->kind == Step::Kind::left &&
                 before(*b)->number == 8) {
        step = {Step::Kind::extend, before(*b)->source, 8, step.at};
      } else {
        break;
      }
    }
    return step;
  }

  void visit(std::uint32_t b, std::size_t k) {
    auto step = step_of(p_.blocks[b].code[k]);
    if (!step) return;
    step->at = k;
    const Ref d = p_.blocks[b].code[k].refs[*place_in(p_.blocks[b].code[k], "Rd")];
    bool same = false;
    const Step better = shorter(*step, same);
    if (!same) steps_[d.reg] = better;
    if (!same && better.source == step->source && better.kind == step->kind) return;
    replace(b, k, d, better, same);
  }

  void replace(std::uint32_t b, std::size_t k, const Ref& d, const Step& step, bool same) {
    std::vector<Instruction>& code = p_.blocks[b].code;
    out_.start(b);
    if (same)
      out_.emit("MOV", d, {value_of(step.source)}).copy = true;
    else if (step.kind == Step::Kind::mask)
      out_.set_number(out_.emit("LOP3", d, {value_of(step.source), number(step.number), zero()}), "lut",
                      0xc0);
    else
      out_.emit("PRMT", d,
                {value_of(step.source), number(step.number == 8 ? sign_of_byte : sign_of_half), zero()});
    Instruction made = std::move(code.back());
    code.pop_back();
    made.line = code[k].line, made.file = code[k].file, made.source_line = code[k].source_line;
    code[k] = std::move(made);
  }

  Program& p_;
  Builder out_;
  std::vector<std::uint32_t> writers_;                      // instructions, by register
  std::unordered_map<std::uint32_t, Step> steps_;           // of the block at hand, by result
  std::unordered_map<std::uint32_t, std::size_t> written_;  // registers, in this block: where last
};

}  // namespace

void narrow(Program& program) { Narrowing(program).run(); }

}  // namespace simtlab::assembler
