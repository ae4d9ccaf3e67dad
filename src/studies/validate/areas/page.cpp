#include "studies/validate/areas/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text_file.h"
#include "device/catalogue.h"
#include "studies/common/command.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using studies::validate::Row;

constexpr const char* kept_areas[] = {"timing", "cache", "dram", "predict", "probe", "corun", "corun-hosts"};

class ValidationPage {
 public:
  explicit ValidationPage(const std::vector<AreaReport>& areas) : areas_(areas) {}

  void add(const fs::path& file) {
    std::uint32_t number = 0;
    if (!text_.empty()) text_ += "\n";
    for (const std::string& line :
         checked_lines(read_file(file, 1 << 20, "part of the page"), file.string(), 4096)) {
      ++number;
      text_ += line.starts_with("{{") ? replaced(line, {file.string(), number, 1}) : line + "\n";
    }
  }

  std::string finish() const {
    for (const AreaReport& area : areas_)
      for (const Row& row : area.rows)
        if (!placed_.contains(area.area + "/" + row.group))
          wrong(fmt::format("the rows '{}' of {} are in no part of the page", row.group, area.area), {},
                fmt::format("a line {{{{rows {} {}}}}} puts them into one", area.area, row.group));
    return text_;
  }

 private:
  [[noreturn]] static void wrong(const std::string& what, const SourcePos& at, const std::string& hint) {
    throw Error(ExitCode::bad_input, "validation-page", Diagnostic{what, at, {}, hint});
  }

  const AreaReport& area(const std::string& name, const SourcePos& at) const {
    const auto found = std::ranges::find(areas_, name, &AreaReport::area);
    if (found == areas_.end())
      wrong(fmt::format("there are no rows of an area '{}'", name), at,
            fmt::format("areas: {}", fmt::join(kept_areas, ", ")));
    return *found;
  }

  std::string replaced(const std::string& line, const SourcePos& at) {
    if (!line.ends_with("}}"))
      wrong("a line that begins with {{ ends with }}", at, "for example {{summary}}");
    const std::string inside = line.substr(2, line.size() - 4);
    const std::size_t first = inside.find(' '),
                      second = first == std::string::npos ? first : inside.find(' ', first + 1);
    const std::string what = inside.substr(0, first),
                      name = first == std::string::npos
                                 ? ""
                                 : inside.substr(first + 1,
                                                 second == std::string::npos ? second : second - first - 1);
    if (what == "summary" && name.empty()) return summary_table(areas_);
    if (what == "missed" && !name.empty() && second == std::string::npos) {
      const std::string list = missed_list(area(name, at).rows);
      return list.empty() ? "All targets are met.\n" : "Targets missed:\n\n" + list;
    }
    if (what != "rows" || second == std::string::npos)
      wrong(fmt::format("{{{{{}}}}} is nothing that the page has", inside), at,
            "{{summary}}, {{rows AREA GROUP}} or {{missed AREA}}");
    const std::string group = inside.substr(second + 1);
    std::vector<Row> rows;
    std::ranges::copy_if(area(name, at).rows, std::back_inserter(rows),
                         [&](const Row& r) { return r.group == group; });
    if (rows.empty())
      wrong(fmt::format("{} has no rows '{}'", name, group), at,
            "a group of data/validation/AREA.csv, its first column");
    if (!placed_.insert(name + "/" + group).second)
      wrong(fmt::format("the rows '{}' of {} are on the page twice", group, name), at, "leave one out");
    return rows_table(rows);
  }

  const std::vector<AreaReport>& areas_;
  std::set<std::string> placed_;
  std::string text_;
};

struct PageOptions : ValidationOptions {
  std::string prose;
};

Outcome make_page(PageOptions o) {
  const RunClock clock;
  o.output.more = {{"--html", &o.html}};
  check_outputs(o.output);
  const fs::path prose =
      o.prose.empty() ? (device::data_directory() / ".." / "docs" / "lab" / "validation.d").lexically_normal()
                      : fs::path(o.prose);
  std::vector<AreaReport> areas = kept_rows(rows_folder(o));
  const std::string page = validation_page(prose, areas);
  return end_page(std::move(areas), page, clock, o);
}

}  // namespace

std::vector<AreaReport> kept_rows(const fs::path& folder) {
  std::vector<AreaReport> out;
  for (const char* name : kept_areas) {
    AreaReport& area = out.emplace_back();
    area.area = name;
    for (const char* ending : {".csv", ".recorded.csv"}) {
      const fs::path file = folder / (std::string(name) + ending);
      std::error_code ignored;
      if (std::string_view(ending) != ".csv" && !fs::exists(file, ignored)) continue;
      const std::vector<Row> rows = studies::validate::read_rows(file);
      area.rows.insert(area.rows.end(), rows.begin(), rows.end());
    }
    for (const Row& r : area.rows)
      if (!r.met()) area.misses.push_back(r.name());
  }
  return out;
}

std::string validation_page(const fs::path& prose, const std::vector<AreaReport>& areas) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(prose, failed))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  if (files.empty())
    throw Error(ExitCode::bad_input, "validation-page",
                fmt::format("{} has no parts of the page (*.md)", prose.string()),
                "--prose DIR names their folder: docs/lab/validation.d of the source tree");
  std::ranges::sort(files);
  ValidationPage page(areas);
  for (const fs::path& file : files) page.add(file);
  return page.finish();
}

void add_validate_page(Command& validate) {
  Command* sub = validate.add_subcommand(
      "page",
      "docs/lab/validation.md and its HTML page from the rows that are kept, without running anything");
  const auto o = std::make_shared<PageOptions>();
  sub->add_option("--rows", o->rows, "Folder of the kept rows (default: validation/ in the data folder)")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--prose", o->prose,
                  "Folder of the parts (default: docs/lab/validation.d beside the data folder)")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--html", o->html,
                  "The rows as one self-contained page with charts to stdout, or with --html=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  add_output_options(*sub, o->output);
  sub->action([o](const Call&) { return make_page(*o); });
}

}  // namespace simtlab::studies
