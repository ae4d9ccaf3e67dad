#include "result/fingerprint.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "base/hash.h"

namespace simtlab::result {
namespace {

std::string_view file_name(std::string_view path) {
  path.remove_prefix(std::min(path.size(), path.rfind('/') + 1));
  return path;
}

// Runs of blanks count as one: formatting changes no finding.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c)))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// A message without its numbers: sizes and addresses differ from run to run.
std::string without_numbers(std::string_view message) {
  std::string out;
  for (std::size_t i = 0; i < message.size();) {
    if (!std::isdigit(static_cast<unsigned char>(message[i]))) {
      out += message[i++];
      continue;
    }
    out += '#';
    while (i < message.size() && std::isalnum(static_cast<unsigned char>(message[i]))) ++i;
  }
  return out;
}

// Each part with its length, so that no two lists of parts give the same text.
void put(std::string& out, std::string_view part) {
  out += fmt::format("{}:", part.size());
  out += part;
}

std::string hash_of(const Finding& finding) {
  std::string text;
  put(text, finding.rule);
  if (finding.accesses.empty()) put(text, without_numbers(finding.message));
  for (const Access& a : finding.accesses) {
    const CodePlace& p = a.place;
    put(text, p.kernel);
    put(text, p.function);
    put(text, squeezed(p.text));
    if (!p.text.empty()) continue;  // the source is not there
    put(text, file_name(p.file));
    put(text, p.instruction);
    if (p.kernel.empty() && p.instruction.empty()) put(text, without_numbers(finding.message));
  }
  return hash_bytes(text);
}

}  // namespace

std::vector<std::string> fingerprints(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  std::map<std::string, unsigned> seen;
  for (const Finding& f : findings) {
    const std::string hash = hash_of(f);
    out.push_back(fmt::format("{}:{}", hash, ++seen[hash]));
  }
  return out;
}

}  // namespace simtlab::result
