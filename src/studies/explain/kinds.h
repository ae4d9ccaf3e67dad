// The parts of word.cpp: each kind of word has a function that prints what simtlab knows of it
// (empty: nothing).
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace simtlab::studies::wordbook {

// "  meaning    text", wrapped; nothing if the text is empty.
std::string field(std::string_view label, std::string_view text);
// "sm.count: parameter of a device".
std::string title(std::string_view word, std::string_view kind);
// With a full stop: texts of keys, options and policies lack it.
std::string sentence(std::string_view text);

// choices.cpp: what a run can be configured with.
std::string key(const std::string& word);
std::string value_of_a_key(const std::string& word);
std::string policy(const std::string& word);
std::string sharing(const std::string& word);
std::string model(const std::string& word);
std::string limit(const std::string& word);
std::string probe_kind(const std::string& word);
std::string data_file(const std::string& word);
// Adds the words that these functions know.
void add_choices(std::set<std::string>& names);

}  // namespace simtlab::studies::wordbook
