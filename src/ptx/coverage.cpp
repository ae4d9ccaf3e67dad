#include "ptx/coverage.h"

#include "ptx/opcodes.h"

namespace simtlab::ptx {
namespace {

std::string join(const std::vector<std::string_view>& words, std::string_view before,
                 std::string_view between) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += between;
    out += before;
    out += word;
  }
  return out;
}

}  // namespace

std::vector<CoverageEntry> coverage() {
  std::vector<CoverageEntry> out;
  for (const Form& form : opcode_table()) {
    CoverageEntry entry;
    entry.form = form.base;
    entry.supported = !form.refused;
    entry.note = form.note;
    unsigned types = 0;
    for (const FormGroup& group : groups_of(form)) {
      if (group.rest) {
        entry.form += ".*";
        continue;
      }
      std::string text = join(group.words, ".", "|");
      if (group.types && group.words.size() > 1) {
        text = types == 0 ? ".type" : types == 1 ? ".stype" : ".btype";
        entry.types += types == 0 ? "" : " <- ";
        entry.types += join(group.words, "", ", ");
      } else if (group.types) {
        entry.types += types == 0 ? "" : " <- ";
        entry.types += join(group.words, "", ", ");
      } else if (group.words.size() > 1 && !group.optional) {
        text = "(" + text + ")";
      }
      if (group.types) ++types;
      entry.form += group.optional ? "{" + text + "}" : text;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace simtlab::ptx
