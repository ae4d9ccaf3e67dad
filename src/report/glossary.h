// The words of the reports: what a stall reason, an error or a deviation means and what to do about it.
// `simtlab explain` prints them; a test checks that every error id in the sources has an entry.
#pragma once

#include <string_view>
#include <vector>

namespace simtlab::report {

struct Term {
  std::string_view name;     // "long_scoreboard", "file-missing", "D-TIMING-1"
  std::string_view meaning;  // what it is, one or two sentences
  std::string_view remedy;   // what to do; may be empty
};

const std::vector<Term>& stall_reasons();
const std::vector<Term>& error_ids();
const std::vector<Term>& deviations();  // from the pages of deviations in docs/, embedded at build time
// What other tools call an option, a file or a stall reason. meaning: what it is here; remedy: the whole cell
// of docs/guide/migration.md that names it ("A times B"). Their names of metrics are in the registry of
// metrics.
const std::vector<Term>& foreign_names();

const Term* find_term(const std::vector<Term>& terms, std::string_view name);

}  // namespace simtlab::report
