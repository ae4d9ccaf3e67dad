// Suppressions as compute-sanitizer keeps them: records of earlier reports. Of a record its kind, and the
// function, file and line of the device code count; stacks of the host are not compared.
#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "studies/check/suppressions.h"
#include "studies/check/xml.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t most_suppression_bytes = std::uint64_t{16} << 20;

// Which rules a kind of record is about; none: any.
std::vector<std::string> rules_of_kind(const std::string& kind) {
  static const std::vector<std::pair<std::string_view, std::vector<std::string>>> kinds = {
      {"Precise", {"memory.*"}},     {"Imprecise", {"memory.*"}}, {"Memory", {"memory.*"}},
      {"InvalidFree", {"memory.*"}}, {"Leak", {"memory.leak"}},   {"Api", {"api.*"}},
      {"Initcheck", {"init.*"}},     {"Race", {"race.*"}},        {"Racecheck", {"race.*"}},
      {"Hazard", {"race.*"}},        {"Barrier", {"barrier.*"}},  {"Sync", {"barrier.*"}},
      {"Synccheck", {"barrier.*"}},
  };
  for (const auto& [name, rules] : kinds)
    if (name == kind) return rules;
  return {};
}

std::uint32_t line_number(const std::string& text) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : 0;
}

}  // namespace

std::vector<Suppression> sanitizer_suppressions(std::string_view xml, const std::string& file,
                                                std::vector<std::string>& warnings) {
  const XmlElement root = parse_xml(xml, file);
  if (root.name != "ComputeSanitizerOutput")
    throw Error(ExitCode::bad_input, "check-suppression",
                Diagnostic{"the root of the XML is not ComputeSanitizerOutput",
                           {file, root.line, 0},
                           {},
                           "a file that compute-sanitizer wrote with --xml --save"});
  std::vector<Suppression> out;
  for (const XmlElement& record : root.children) {
    if (record.name != "record") continue;
    Suppression one;
    one.from = fmt::format("{}:{}", file, record.line);
    one.rules = rules_of_kind(record.text_of("kind"));
    one.reason = fmt::format("a record of compute-sanitizer in {}", file);
    if (const XmlElement* where = record.child("where")) {
      one.kernel = where->text_of("func");
      if (std::string path = where->text_of("path"); !path.empty())  // its folder was another machine's
        one.file = path.substr(path.rfind('/') + 1);
      one.line = line_number(where->text_of("line"));
    }
    if (one.kernel.empty() && one.file.empty())
      warnings.push_back(fmt::format("{}: the record names no device code: it suppresses nothing", one.from));
    else
      out.push_back(std::move(one));
  }
  return out;
}

std::vector<Suppression> read_suppressions(const std::string& file, std::vector<std::string>& warnings) {
  const std::string text = read_file(file, most_suppression_bytes, "suppression file");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '<' || text.starts_with("\xef\xbb\xbf<")))
    return sanitizer_suppressions(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text, file, warnings);
  return suppressions_from(text, file);
}

}  // namespace simtlab::studies
