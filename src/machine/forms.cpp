#include "machine/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/files.h"
#include "base/immortal.h"
#include "device/catalogue.h"
#include "machine/instruction.h"
#include "machine/syntax.h"
#include "machine/table.h"

namespace simtlab::machine {
namespace {

constexpr std::uint16_t decoded[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
constexpr std::uint16_t only_assembled[] = {20, 21, 30, 32, 35, 37};
constexpr std::uint64_t max_table_bytes = 1 << 20;
constexpr unsigned bucket_bits = 8;  // by which forms in bundles are found
const Immortal<std::string> no_word;

// "34:48" or "16:8+34:48": first bit and width of each piece.
Bits bits_of(const Row& row, std::string_view text) {
  const std::vector<std::string_view> pieces = split(text, '+');
  Bits bits;
  if (pieces.size() > bits.pieces.size()) row.wrong(fmt::format("'{}' has more than two pieces", text));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::vector<std::string_view> parts = split(pieces[i], ':');
    if (parts.size() != 2) row.wrong(fmt::format("'{}' is not FIRST:WIDTH", pieces[i]));
    const unsigned first = number_of(row, parts[0], word_bits), width = number_of(row, parts[1], word_bits);
    if (width == 0 || first + width > word_bits)
      row.wrong(fmt::format("'{}' is outside of a word", pieces[i]));
    bits.pieces[i] = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(width)};
  }
  return bits;
}

struct KindName {
  std::string_view name;
  OperandKind kind;
  std::uint8_t width;  // of the number; 0: stated
};
constexpr KindName kinds[] = {
    {"R", OperandKind::reg, 8},         {"U", OperandKind::ureg, 6},          {"P", OperandKind::pred, 3},
    {"UP", OperandKind::upred, 3},      {"I", OperandKind::immediate, 0},     {"C", OperandKind::constant, 0},
    {"CX", OperandKind::bindless, 0},   {"M", OperandKind::memory, 0},        {"B", OperandKind::barrier, 4},
    {"SR", OperandKind::special, 8},    {"T", OperandKind::target, 0},        {"A", OperandKind::absolute, 0},
    {"PR", OperandKind::predicates, 0}, {"UPR", OperandKind::upredicates, 0}, {"CCR", OperandKind::flags, 0},
    {"D", OperandKind::descriptor, 6},  {"X", OperandKind::number, 0},        {"Z", OperandKind::ignored, 0}};

struct PlaceName {
  std::string_view name;
  std::uint8_t OperandForm::*place;
  std::uint8_t width;
};
constexpr PlaceName places[] = {{"neg", &OperandForm::negate, 1},  {"abs", &OperandForm::absolute, 1},
                                {"inv", &OperandForm::invert, 1},  {"not", &OperandForm::negate_pred, 1},
                                {"half", &OperandForm::half, 2},   {"part", &OperandForm::part, 2},
                                {"ra", &OperandForm::base, 8},     {"ur", &OperandForm::uniform, 6},
                                {"wide", &OperandForm::wide, 1},   {"pair", &OperandForm::pair, 1},
                                {"scale", &OperandForm::scale, 2}, {"bank", &OperandForm::bank, bank_bits}};

struct FlagName {
  std::string_view name;
  bool OperandForm::*flag;
};
constexpr FlagName flags[] = {{"optional", &OperandForm::optional},  {"flip", &OperandForm::flipped},
                              {"bracket", &OperandForm::bracket},    {"gdesc", &OperandForm::matrix},
                              {"pair", &OperandForm::register_pair}, {"bytes", &OperandForm::in_bytes},
                              {"words", &OperandForm::in_words},     {"top20", &OperandForm::upper_bits}};

struct ImmediateName {
  std::string_view name;
  Immediate immediate;
};
constexpr ImmediateName immediates[] = {{"signed", Immediate::signed_},
                                        {"f32", Immediate::f32},
                                        {"f64", Immediate::f64},
                                        {"f16x2", Immediate::f16x2},
                                        {"any", Immediate::any}};

void read_attribute(const Row& row, OperandForm& operand, std::string_view word) {
  for (const FlagName& f : flags)
    if (f.name == word) return void(operand.*f.flag = true);
  for (const ImmediateName& i : immediates)
    if (i.name == word) return void(operand.immediate = i.immediate);
  for (const PlaceName& p : places) {
    if (!word.starts_with(p.name)) continue;
    const std::optional<unsigned> place = number(word.substr(p.name.size()));
    if (!place || *place + p.width > word_bits) continue;
    operand.*p.place = static_cast<std::uint8_t>(*place);
    return;
  }
  row.wrong(fmt::format("'{}' is no attribute of an operand", word));
}

// "Ra=R@24 neg72 abs73"
OperandForm read_operand(const Row& row, std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  const std::string_view head = words.front();
  const std::size_t equals = head.find('='), at = head.find('@');
  if (equals == std::string_view::npos || at == std::string_view::npos || at < equals)
    row.wrong(fmt::format("'{}' is not NAME=KIND@PLACE", head));
  OperandForm operand;
  operand.name = head.substr(0, equals);
  const std::string_view kind = head.substr(equals + 1, at - equals - 1), place = head.substr(at + 1);
  const auto* found = std::ranges::find(kinds, kind, &KindName::name);
  if (found == std::end(kinds)) row.wrong(fmt::format("'{}' is no kind of operand", kind));
  operand.kind = found->kind;
  const bool has_place = operand.kind != OperandKind::predicates &&
                         operand.kind != OperandKind::upredicates && operand.kind != OperandKind::flags;
  if (has_place)
    operand.bits =
        bits_of(row, found->width == 0 ? std::string(place) : fmt::format("{}:{}", place, found->width));
  if (operand.bits.width() > 64 && operand.kind != OperandKind::ignored)
    row.wrong(fmt::format("'{}' is wider than 64 bits", head));
  for (std::size_t i = 1; i < words.size(); ++i) read_attribute(row, operand, words[i]);
  return operand;
}

void mark(const OperandForm& operand, Word& mask) {
  operand.bits.mark(mask);
  for (const PlaceName& p : places)
    if (operand.*p.place != no_bit &&
        (p.place != &OperandForm::bank || operand.kind == OperandKind::constant))
      mask.set(operand.*p.place, p.width);
}

FieldForm read_field(const Row& row) {
  const std::vector<std::string_view> cells = split(row.text, ',');
  if (cells.size() != 4) row.wrong("a field has four columns: id,name,bits,values");
  FieldForm field;
  field.id = cells[0];
  field.name = cells[1];
  field.bits = bits_of(row, cells[2]);
  field.any = cells[3] == "*";
  if (field.any) return field;
  for (const std::string_view value : split(cells[3], '/')) {
    const std::size_t colon = value.find(':');
    if (colon == std::string_view::npos) row.wrong(fmt::format("'{}' is not VALUE:WORD", value));
    field.values.emplace_back(number_of(row, value.substr(0, colon), 1u << field.bits.width()),
                              value.substr(colon + 1));
  }
  return field;
}

Trust trust_of(const Row& row, std::string_view text) {
  constexpr std::string_view names[] = {"high", "medium", "low", "outline"};
  const auto* found = std::ranges::find(names, text);
  if (found == std::end(names)) row.wrong(fmt::format("'{}' is no degree of trust", text));
  return static_cast<Trust>(found - names);
}

// Of the uniform datapath: these have uniform predicates as guards, and a result for the warp.
bool is_uniform(std::string_view mnemonic) {
  constexpr std::string_view others[] = {"S2UR", "SYNCS.EXCH", "SYNCS.CAS", "SYNCS.LD"};
  return mnemonic.starts_with('U') || std::ranges::find(others, mnemonic) != std::end(others);
}

using FieldsById = std::unordered_map<std::string_view, const FieldForm*>;

Form read_form(const Row& row, const FieldsById& fields) {
  const std::vector<std::string_view> cells = split(row.text, ',');
  if (cells.size() != 9)
    row.wrong(
        "a form has nine columns: mnemonic,form,generations,opcode,bit_91,operands,fields,sources,trust");
  Form form;
  form.mnemonic = cells[0];
  form.form = cells[1];
  for (const std::string_view range : split(cells[2], ' '))
    form.generations.push_back(generations_of(row, range));
  if (const std::size_t slash = cells[3].find('/'); slash != std::string_view::npos) {
    form.opcode = static_cast<std::uint16_t>(number_of(row, cells[3].substr(0, slash), 1u << 16, 16));
    form.opcode_mask = static_cast<std::uint16_t>(number_of(row, cells[3].substr(slash + 1), 1u << 16, 16));
    if (form.opcode_mask >> (16 - bucket_bits) == 0 || (form.opcode & ~form.opcode_mask) != 0)
      row.wrong(fmt::format("'{}' is not VALUE/MASK", cells[3]));
  } else {
    form.opcode = static_cast<std::uint16_t>(number_of(row, cells[3], 1u << 12, 16));
  }
  form.bit_91 = number_of(row, cells[4], 2) == 1;
  if (!cells[5].empty())
    for (const std::string_view operand : split(cells[5], ';'))
      form.operands.push_back(read_operand(row, operand));
  if (!cells[6].empty())
    for (const std::string_view id : split(cells[6], ' ')) {
      const auto field = fields.find(id);
      if (field == fields.end()) row.wrong(fmt::format("fields.csv has no field '{}'", id));
      form.fields.push_back(field->second);
    }
  if (form.operands.size() > max_operands || form.fields.size() > max_fields)
    row.wrong(fmt::format("a form has at most {} operands and {} fields", max_operands, max_fields));
  form.trust = trust_of(row, cells[8]);
  form.uniform = is_uniform(form.mnemonic);
  form.unguarded = std::ranges::any_of(form.fields, [](const FieldForm* f) { return f->name == "noguard"; });
  if (form.bundled()) {
    form.explained.set(first_guard_bit(form.generations.front().first), 4);
    form.explained = form.explained | Word{std::uint64_t{form.opcode_mask} << first_bundled_opcode_bit, 0};
  } else {
    form.explained.set(0, 16);  // opcode and guard
    form.explained.set(91, 1);
  }
  for (const OperandForm& operand : form.operands) mark(operand, form.explained);
  for (std::size_t f = 0; f < form.fields.size(); ++f) {
    const Word before = form.explained;
    form.fields[f]->bits.mark(form.explained);
    if (form.explained == before) form.views |= 1u << f;
  }
  for (const OperandForm& operand : form.operands) form.operand_names.push_back(name_number(operand.name));
  for (const FieldForm* field : form.fields) form.field_names.push_back(name_number(field->name));
  return form;
}

std::size_t key_of(std::uint16_t opcode, bool bit_91) { return std::size_t{opcode} * 2 + bit_91; }

constexpr std::size_t first_bucket = std::size_t{1} << 13, bucket_count = std::size_t{1} << bucket_bits;

// Where a form is looked for: at one key, or at all whose upper bits its opcode allows.
template <class F>
void for_keys(const Form& form, const F& f) {
  if (!form.bundled()) return f(key_of(form.opcode, form.bit_91));
  constexpr unsigned shift = 16 - bucket_bits;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
    if (((bucket << shift ^ form.opcode) & form.opcode_mask) >> shift == 0) f(first_bucket + bucket);
}

}  // namespace

const std::string* FieldForm::word(std::uint64_t value) const {
  if (any) return &*no_word;
  for (const auto& [known, word] : values)
    if (known == value) return &word;
  return nullptr;
}

bool Form::has(unsigned generation) const {
  return std::ranges::any_of(generations, [&](const auto& range) {
    return range.first <= generation && generation <= range.second;
  });
}

int Form::field(Name wanted) const {
  for (std::size_t i = 0; i < field_names.size(); ++i)
    if (field_names[i] == wanted.number && fields[i]->name == wanted.text) return static_cast<int>(i);
  return -1;
}

int Form::operand(Name wanted) const {
  for (std::size_t i = 0; i < operand_names.size(); ++i)
    if (operand_names[i] == wanted.number && operands[i].name == wanted.text) return static_cast<int>(i);
  return -1;
}

bool is_decoded(unsigned generation) { return std::ranges::find(decoded, generation) != std::end(decoded); }

bool is_assembled(unsigned generation) {
  return is_decoded(generation) || std::ranges::find(only_assembled, generation) != std::end(only_assembled);
}

Forms::Forms(std::string_view forms, std::string_view fields, std::string_view syntax) {
  for_rows("fields.csv", fields, [&](const Row& row) { fields_.push_back(read_field(row)); });
  FieldsById by_id;
  for (const FieldForm& field : fields_) by_id.emplace(field.id, &field);
  for_rows("forms.csv", forms, [&](const Row& row) {
    forms_.push_back(read_form(row, by_id));
    forms_.back().index = static_cast<std::uint16_t>(forms_.size() - 1);
  });
  add_syntax(syntax, forms_);
  std::vector<std::pair<std::size_t, const Form*>> keyed;
  for (const Form& form : forms_) for_keys(form, [&](std::size_t key) { keyed.emplace_back(key, &form); });
  std::ranges::stable_sort(keyed, {}, [](const auto& k) { return k.first; });
  starts_.assign(first_bucket + bucket_count + 1, 0);
  for (const auto& [key, form] : keyed) {
    ++starts_[key + 1];
    sorted_.push_back(form);
  }
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
}

const Forms& Forms::shipped() {
  const auto text = [](const char* name) {
    return read_file(device::data_directory() / "machine" / name, max_table_bytes, "table");
  };
  static const Immortal<Forms> forms(text("forms.csv"), text("fields.csv"), text("syntax.csv"));
  return *forms;
}

std::span<const Form* const> Forms::candidates(unsigned generation, Word word) const {
  const std::size_t key = in_bundles(generation)
                              ? first_bucket + word.bits(64 - bucket_bits, bucket_bits)
                              : key_of(static_cast<std::uint16_t>(word.bits(0, 12)), word.bit(91));
  return std::span(sorted_).subspan(starts_[key], starts_[key + 1] - starts_[key]);
}

}  // namespace simtlab::machine
