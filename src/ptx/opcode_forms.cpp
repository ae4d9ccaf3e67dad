#include "ptx/opcode_forms.h"

#include <algorithm>
#include <utility>

#include "base/immortal.h"

namespace simtlab::ptx {
namespace {

constexpr std::pair<std::string_view, Type> type_words[] = {
    {"b8", Type::b8},       {"b16", Type::b16},     {"b32", Type::b32},   {"b64", Type::b64},
    {"u8", Type::u8},       {"u16", Type::u16},     {"u32", Type::u32},   {"u64", Type::u64},
    {"s8", Type::s8},       {"s16", Type::s16},     {"s32", Type::s32},   {"s64", Type::s64},
    {"f16", Type::f16},     {"f16x2", Type::f16x2}, {"bf16", Type::bf16}, {"bf16x2", Type::bf16x2},
    {"tf32", Type::tf32},   {"f32", Type::f32},     {"f64", Type::f64},   {"u16x2", Type::u16x2},
    {"s16x2", Type::s16x2}, {"pred", Type::pred},
};
struct Macro {
  std::string_view name, words;
  bool optional = false, repeats = false;
};
constexpr Macro macros[] = {
    {"INT", "u16|u32|u64|s16|s32|s64"},
    {"CARRY", "u32|s32|u64|s64"},
    {"RND", "rn|rz|rm|rp"},
    {"CMPB", "eq|ne"},
    {"CMP6", "eq|ne|lt|le|gt|ge"},
    {"CMPS", "eq|ne|lt|le|gt|ge"},
    {"CMPU", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"CMPF", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"BOOL", "and|or|xor"},
    {"SETI", "u32|s32|f32"},
    {"I8", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"INTRND", "rni|rzi|rmi|rpi"},
    {"CVTA", "global|shared|local|const|param|shared::cta|shared::cluster|param::entry"},
    {"MEM", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"TESTP", "finite|infinite|number|notanumber|normal|subnormal"},
    {"LDORDER", "weak|volatile|relaxed|acquire|mmio", true, true},
    {"STORDER", "weak|volatile|relaxed|release|mmio", true, true},
    {"ATOMORDER", "relaxed|acquire|release|acq_rel", true},
    {"REDORDER", "relaxed|release", true},
    {"SCOPE", "cta|cluster|gpu|sys", true},
    {"FSCOPE", "cta|cluster|gpu|sys"},
    {"SPACE", "global|shared|local|param|const|shared::cta|shared::cluster|param::entry|param::func", true},
    {"STSPACE", "global|shared|local|param|shared::cta|shared::cluster|param::func", true},
    {"ASPACE", "global|shared|shared::cta|shared::cluster", true},
    {"BARRIERORDER", "relaxed", true},
    {"WAITORDER", "relaxed|acquire", true},
    {"BSPACE", "shared|shared::cta|shared::cluster", true},
    {"BSCOPE", "cta|cluster", true},
    {"CTASCOPE", "cta", true},
    {"LDCACHE", "ca|cg|cs|lu|cv|nc", true, true},
    {"STCACHE", "wb|cg|cs|wt", true},
    {"HINTS",
     "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate|"
     "L2::evict_last|L2::evict_first|L2::evict_normal|L2::cache_hint|L2::64B|L2::128B|L2::256B",
     true, true},
    {"EVICT", "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"},
    {"VECTOR", "v2|v4|v8", true},
    {"V32", "u32|s32"},
    {"VOP", "add|min|max"},
};

Group compile_group(std::string_view text) {
  Group g;
  if (text == "*") {
    g.rest = true;
    return g;
  }
  if (text.front() == '!') {
    g.named = true;
    text.remove_prefix(1);
  }
  if (text.front() == '?') {
    g.optional = true;
    text.remove_prefix(1);
  }
  if (const std::size_t colon = text.find(':');
      colon != std::string_view::npos && text.substr(0, colon) == "OP") {
    g.macro = "OP";
    text.remove_prefix(colon + 1);
  }
  for (const std::string_view word : split(text, '|')) {
    const Macro* macro = nullptr;
    for (const Macro& m : macros)
      if (m.name == word) macro = &m;
    if (macro == nullptr) {
      g.words.push_back(word);
      continue;
    }
    if (g.macro.empty()) g.macro = macro->name;
    g.optional = g.optional || macro->optional;
    g.repeats = macro->repeats;
    for (const std::string_view w : split(macro->words, '|')) g.words.push_back(w);
  }
  g.types = type_of(g.words.front()) != Type::none;
  return g;
}

OperandSpec compile_operand(std::string_view text) {
  using What = OperandSpec::What;
  OperandSpec spec;
  if (text.front() == '=') spec.result = true, text.remove_prefix(1);
  if (text.front() == '?') spec.optional = true, text.remove_prefix(1);
  if (text.back() == '~') spec.relaxed = true, text.remove_suffix(1);
  if (text.ends_with("|p") && text != "p|p") {
    spec.what = What::value_pred;
    text.remove_suffix(2);
  } else if (text == "p|q") {
    spec.what = What::pred_pair;
    return spec;
  }
  const bool pair = spec.what == What::value_pred;
  if (text == "T") {
    spec.what = pair ? What::value_pred : What::type;
    return spec;
  }
  static constexpr std::pair<std::string_view, What> words[] = {
      {"S", What::stype}, {"W", What::wide}, {"p", What::pred}, {"A", What::address}, {"#", What::constant}};
  for (const auto& [word, what] : words)
    if (text == word) spec.what = what;
  if (std::ranges::none_of(words, [&](const auto& w) { return w.first == text; })) {
    spec.fixed = type_of(text);
    if (!pair) spec.what = What::fixed;
  }
  return spec;
}

}  // namespace

Words split(std::string_view s, char separator) {
  Words out;
  while (!s.empty()) {
    const std::size_t at = s.find(separator);
    if (at != 0) out.push_back(s.substr(0, at));
    if (at == std::string_view::npos) break;
    s.remove_prefix(at + 1);
  }
  return out;
}

Type type_of(std::string_view word) {
  for (const auto& [name, type] : type_words)
    if (name == word) return type;
  return Type::none;
}

const FormIndex& compiled_forms() {
  static const Immortal<FormIndex> index([] {
    FormIndex out;
    for (const Form& form : opcode_table()) {
      Compiled c;
      c.form = &form;
      for (const std::string_view group : split(form.modifiers, ' '))
        c.groups.push_back(compile_group(group));
      if (!form.operands.starts_with('<'))
        for (const std::string_view operand : split(form.operands, ' '))
          c.operands.push_back(compile_operand(operand));
      out[form.base].push_back(std::move(c));
    }
    return out;
  }());
  return *index;
}

}  // namespace simtlab::ptx
