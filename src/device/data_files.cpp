#include "device/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "base/error.h"
#include "base/shown.h"
#include "device/catalogue.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_inheritance = 8;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

fs::path file_of(const Subject& subject, const std::string& name) {
  return data_directory() / subject.folder / (name + ".toml");
}

// The catalogue file whose name or alias is `name`; empty if there is none.
fs::path find_in_catalogue(const Subject& subject, const std::string& name) {
  std::error_code ignored;
  const std::string wanted = lower(name);
  if (const fs::path path = file_of(subject, wanted); fs::is_regular_file(path, ignored)) return path;
  for (const std::string& known : list_data_files(subject)) {
    const Document document = read_document(file_of(subject, known), Form::annotated, subject);
    if (std::find(document.aliases.begin(), document.aliases.end(), wanted) != document.aliases.end())
      return file_of(subject, known);
  }
  return {};
}

}  // namespace

bool names_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".toml");
}

std::vector<std::string> list_data_files(const Subject& subject) {
  std::vector<std::string> names;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_directory() / subject.folder, code))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_data_file(const Subject& subject, const std::string& name_or_file) {
  if (name_or_file.empty()) return {};
  return names_file(name_or_file) ? fs::path(name_or_file) : find_in_catalogue(subject, name_or_file);
}

std::vector<Document> read_chain(const Subject& subject, fs::path path) {
  std::vector<Document> chain;
  std::vector<fs::path> seen;
  for (;;) {
    std::error_code ignored;
    const fs::path real = fs::weakly_canonical(path, ignored);
    const bool cyclic = std::find(seen.begin(), seen.end(), real) != seen.end();
    if (cyclic || seen.size() >= max_inheritance) {
      const Document& last = chain.back();
      throw Error(ExitCode::bad_input, "device-inherits",
                  last.diagnostic(last.inherits_pos,
                                  cyclic ? fmt::format("'{}' inherits from itself", shown(last.inherits))
                                         : fmt::format("more than {} levels of inheritance", max_inheritance),
                                  "let one of the files state its values itself"));
    }
    seen.push_back(real);
    chain.push_back(read_document(path, Form::annotated, subject));
    const Document& document = chain.back();
    if (document.inherits.empty()) return chain;
    // Beside the file first: a pair of files can be carried about together.
    const std::string parent =
        document.inherits.ends_with(".toml") ? document.inherits : document.inherits + ".toml";
    const fs::path beside = path.parent_path() / parent;
    if (fs::is_regular_file(beside, ignored)) {
      path = beside;
    } else if (path = find_in_catalogue(subject, document.inherits); path.empty()) {
      throw Error(
          ExitCode::bad_input, "device-inherits",
          document.diagnostic(
              document.inherits_pos, fmt::format("unknown {} '{}'", subject.noun, shown(document.inherits)),
              fmt::format("name a {} of '{}' or a file beside this one", subject.noun, subject.list)));
    }
  }
}

std::string unknown_name_hint(const Subject& subject, const std::string& name) {
  const std::vector<std::string> known = list_data_files(subject);
  const std::string near = nearest_name(lower(name.substr(0, 60)), known);
  std::string all;
  for (const std::string& each : known) all += fmt::format("{}{}", all.empty() ? "" : ", ", each);
  return near.empty() ? fmt::format("known: {}; or give the path of a .toml file", all)
                      : fmt::format("did you mean '{}'? known: {}", near, all);
}

}  // namespace simtlab::device
