// What simtlab knows of one word: `simtlab explain WORD`.
#pragma once

#include <string>
#include <vector>

#include "studies/common/command.h"

namespace simtlab::studies {

// Every meaning of the word, printable; empty: the word is unknown. A word with several meanings, such as
// `l2.bytes` (a metric and a parameter of a device), has all of them. tool: whose commands and options the
// words may be.
std::string explained(const Command& tool, const std::string& word);
// Words that explained() knows, for suggestions.
std::vector<std::string> explained_words(const Command& tool);

}  // namespace simtlab::studies
