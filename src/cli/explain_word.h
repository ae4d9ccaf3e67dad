// What simtlab knows of one word: `simtlab explain WORD`.
#pragma once

#include <string>
#include <vector>

namespace simtlab::cli {

// Every meaning of the word, printable; empty: the word is unknown. A word with several meanings, such as
// `l2.bytes` (a metric and a parameter of a device), has all of them.
std::string explained(const std::string& word);
// Words that explained() knows, for suggestions.
std::vector<std::string> explained_words();

}  // namespace simtlab::cli
