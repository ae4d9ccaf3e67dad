#include "studies/suite/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace simtlab::studies {
namespace {

constexpr std::size_t most_in_line = 400;

// Without escape sequences of colours, carriage returns and blanks at both ends.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size() && out.size() < most_in_line; ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0) ++i;
      continue;
    }
    if (line[i] != '\r') out += line[i];
  }
  const std::size_t first = out.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return out.substr(first, out.find_last_not_of(" \t") - first + 1);
}

template <class Visit>  // bool visit(line): false ends it
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!visit(plain(text.substr(0, end)))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool tells_of_error(const std::string& line) {
  static constexpr std::array words = {"error:",      "Error:",
                                       "ERROR:",      "undefined reference",
                                       "CMake Error", "No such file or directory",
                                       "not found",   "No rule to make target",
                                       "cannot find"};
  return std::ranges::any_of(words, [&](const char* w) { return line.find(w) != std::string::npos; });
}

struct Word {
  std::string text;  // in lower case
  std::string given;
};
std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> out;
  std::string word;
  const auto end = [&] {
    if (word.empty()) return;
    Word w{word, word};
    for (char& c : w.text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.push_back(std::move(w));
    word.clear();
  };
  for (const char c : line) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += c;
    else
      end();
  }
  end();
  return out;
}

bool is_upper(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isupper(c) != 0; });
}

bool is_any(const std::string& word, std::initializer_list<const char*> names) {
  return std::ranges::find(names, word) != names.end();
}

bool is_good(const std::string& word) {
  return is_any(word, {"pass", "passed", "success", "successful", "succeeded", "correct"});
}
bool is_bad(const std::string& word) {
  return is_any(word, {"fail", "failed", "failure", "failures", "mismatch", "incorrect", "wrong"});
}

// "0 failed", "no mismatch", "failed: 0"; in "12 passed, 0 failed" the 0 belongs to what follows it.
bool counts_none(const std::vector<Word>& words, std::size_t at) {
  if (at > 0 && is_any(words[at - 1].text, {"0", "no"})) return true;
  if (at + 1 == words.size() || words[at + 1].text != "0") return false;
  return at + 2 == words.size() || !(is_good(words[at + 2].text) || is_bad(words[at + 2].text));
}

// In capitals the word stands for itself; else it needs another that says what passed.
bool is_verdict(const std::vector<Word>& words, std::size_t at) {
  if (is_upper(words[at].given)) return true;
  return std::ranges::any_of(words, [](const Word& w) {
    return is_any(w.text, {"test", "tests", "result", "results", "verification", "verify", "validation",
                           "check", "checks", "comparison", "correctness"});
  });
}

Said verdict_of_line(const std::string& line) {
  const std::vector<Word> words = words_of(line);
  Said out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i].text;
    const bool negated = i > 0 && words[i - 1].text == "not";
    const bool bad = is_bad(w);
    if ((!is_good(w) && !bad) || !is_verdict(words, i) || counts_none(words, i)) continue;
    if (bad != negated) return {Verdict::failed, words[i].given};
    out = {Verdict::passed, words[i].given};
  }
  return out;
}

}  // namespace

std::string first_error(std::string_view text) {
  std::string found, last;
  each_line(text, [&](const std::string& line) {
    if (line.empty()) return true;
    last = line;
    if (!tells_of_error(line)) return true;
    found = line;
    return false;
  });
  return found.empty() ? last : found;
}

Said verdict_of(std::string_view text) {
  Said out;
  each_line(text, [&](const std::string& line) {
    const Said said = verdict_of_line(line);
    if (said.verdict != Verdict::none) out = said;
    return said.verdict != Verdict::failed;
  });
  return out;
}

}  // namespace simtlab::studies
