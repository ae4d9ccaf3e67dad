#include "machine/syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "machine/table.h"

namespace simtlab::machine {
namespace {

// One row: the forms that it is about, and how they are written.
struct SyntaxRow {
  Row row;
  std::string_view mnemonic, name, operands;
  std::vector<unsigned> opcodes = {};  // the low 8 bits; none: all
  std::pair<std::uint16_t, std::uint16_t> generations{0, 0xffff};

  // Of the forms with its mnemonic.
  bool is_about(const Form& form) const {
    const unsigned byte = form.bundled() ? unsigned{form.opcode} >> 8 : form.opcode & 0xffu;
    if (!opcodes.empty() && std::ranges::find(opcodes, byte) == opcodes.end()) return false;
    return std::ranges::all_of(form.generations, [&](const auto& range) {
      return generations.first <= range.first && range.second <= generations.second;
    });
  }
};

SyntaxRow read_row(const Row& row) {
  const std::vector<std::string_view> cells = split(row.text, ',');
  if (cells.size() != 5) row.wrong("a row has five columns: mnemonic,opcodes,generations,name,operands");
  SyntaxRow out{.row = row, .mnemonic = cells[0], .name = cells[3], .operands = cells[4]};
  if (!cells[1].empty())
    for (const std::string_view opcode : split(cells[1], ' '))
      out.opcodes.push_back(number_of(row, opcode, 256, 16));
  if (!cells[2].empty()) out.generations = generations_of(row, cells[2]);
  return out;
}

// Index of a field of the form; -1: this form does not have it.
int field_named(const Form& form, std::string_view name) { return form.field(name); }

ComputedWord computed_named(const Row& row, std::string_view name) {
  const ComputedWord found = computed_word(name);
  if (found == nullptr) row.wrong(fmt::format("'{}' is no computed word", name));
  return found;
}

// "IMAD.WIDE.{u32}.X", "F2I.{ftz}.{=integer}": words between dots.
std::vector<NamePart> read_name(const Row& row, std::string_view text, const Form& form) {
  std::vector<NamePart> out;
  for (const std::string_view word : split(text, '.')) {
    if (!word.starts_with('{')) {
      out.push_back({.text = std::string(word)});
      continue;
    }
    if (!word.ends_with('}') || word.size() < 3) row.wrong(fmt::format("'{}' is not {{FIELD}}", word));
    const std::string_view name = word.substr(1, word.size() - 2);
    if (name.starts_with('='))
      out.push_back({.computed = computed_named(row, name.substr(1))});
    else if (const int field = field_named(form, name); field >= 0)
      out.push_back({.field = field});
  }
  return out;
}

// "hidden", "shown", "optional", "whole", "space", ".ROW", ".{b}", ".{=part}", "~{inv}", "-{neg}",
// "when=relu", "when=mode:2", "unless=sx32"
void read_word(const Row& row, std::string_view word, const Form& form, OperandText& out) {
  constexpr std::pair<std::string_view, bool OperandText::*> flags[] = {{"hidden", &OperandText::hidden},
                                                                        {"shown", &OperandText::shown},
                                                                        {"optional", &OperandText::optional},
                                                                        {"whole", &OperandText::whole},
                                                                        {"space", &OperandText::spaced}};
  const auto* flag = std::ranges::find(flags, word, [](const auto& f) { return f.first; });
  if (flag != std::end(flags)) {
    out.*flag->second = true;
  } else if (word.starts_with(".{=")) {
    out.computed = computed_named(row, word.substr(3, word.size() - 4));
  } else if (word.starts_with(".{")) {
    out.suffix_field = field_named(form, word.substr(2, word.size() - 3));
  } else if (word.starts_with('.')) {
    out.suffix = word.substr(1);
  } else if (word.starts_with("~{")) {
    out.tilde_field = field_named(form, word.substr(2, word.size() - 3));
  } else if (word.starts_with("-{")) {
    out.minus_field = field_named(form, word.substr(2, word.size() - 3));
  } else if (word.starts_with("when=")) {
    const std::vector<std::string_view> parts = split(word.substr(5), ':');
    out.when_field = field_named(form, parts.front());
    if (parts.size() > 1) out.when_value = number_of(row, parts[1], 256);
  } else if (word.starts_with("unless=")) {
    out.unless_field = field_named(form, word.substr(7));
  } else {
    row.wrong(fmt::format("'{}' says nothing about an operand", word));
  }
}

void read_operands(const SyntaxRow& row, Form& form) {
  if (row.operands.empty()) return;
  for (const std::string_view operand : split(row.operands, ';')) {
    const std::vector<std::string_view> words = split(operand, ' ');
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      if (form.operands[i].name != words.front()) continue;
      for (std::size_t w = 1; w < words.size(); ++w) read_word(row.row, words[w], form, form.texts[i]);
    }
  }
}

void write_plainly(Form& form) {
  form.name.push_back({.text = form.mnemonic});
  for (std::size_t i = 0; i < form.fields.size(); ++i) form.name.push_back({.field = static_cast<int>(i)});
}

}  // namespace

void add_syntax(std::string_view table, std::vector<Form>& forms) {
  std::vector<SyntaxRow> rows;
  for_rows("syntax.csv", table, [&](const Row& row) { rows.push_back(read_row(row)); });
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_mnemonic;
  for (std::size_t i = 0; i < rows.size(); ++i) by_mnemonic[rows[i].mnemonic].push_back(i);
  std::vector<bool> used(rows.size());
  for (Form& form : forms) {
    form.texts.resize(form.operands.size());
    for (const std::size_t i : by_mnemonic[form.mnemonic]) {
      if (!form.name.empty()) break;
      if (!rows[i].is_about(form)) continue;
      used[i] = true;
      if (!rows[i].name.empty())
        form.name = read_name(rows[i].row, rows[i].name, form);
      else
        write_plainly(form);
      read_operands(rows[i], form);
    }
    if (form.name.empty()) write_plainly(form);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!used[i]) rows[i].row.wrong("no form of forms.csv is written so");
}

}  // namespace simtlab::machine
