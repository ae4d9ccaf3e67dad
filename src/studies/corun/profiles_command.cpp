// simtlab corun profiles: what a file of profiles knows, and the way from one form to another.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "corun/profiles.h"
#include "device/catalogue.h"
#include "report/format.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/corun/model_commands.h"
#include "studies/corun/profile_board.h"
#include "studies/corun/whole_application.h"

namespace simtlab::studies {
namespace {

struct ProfilesOptions {
  std::string file, into;
  OutputOptions output;
};

std::string profiles_text(const corun::Profiles& profiles) {
  const auto shape = [](const std::optional<std::array<std::uint32_t, 3>>& a) {
    return a ? fmt::format("{}", fmt::join(*a, "x")) : std::string("-");
  };
  std::string text = fmt::format(
      "| application | kernel | grid | block | weight | {} | more | source "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      profile_columns);
  std::map<std::string, WholeApplication> wholes;
  for (const auto& [name, a] : profiles.applications) wholes.emplace(name, whole_of(profiles, a));
  for (const auto& [key, k] : profiles.kernels) {
    const corun::Profile& p = k.profile;
    const auto whole = wholes.find(k.application);
    std::string more;
    for (const auto& [name, v] : p.more)
      more += fmt::format("{}{}={:.4g}", more.empty() ? "" : ", ", name, v);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", shown(k.application), shown(k.name),
                        shape(p.grid), shape(p.block),
                        weight_cell(whole == wholes.end() ? nullptr : &whole->second, k.name),
                        profile_cells(p), more.empty() ? "-" : more, shown(k.source));
  }
  text += "\nweight: of the application's time on the GPU.\n";
  text += fmt::format(
      "\n| application | iterations | launches of one | gap after each | {} | source "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      profile_columns);
  for (const auto& [name, a] : profiles.applications)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", shown(name), a.iterations, a.sequence.size(),
                        report::format_time(a.gap_ns), profile_cells(wholes.at(name).all), shown(a.source));
  if (!profiles.applications.empty())
    text +=
        "\nOf an application: time and instructions of all its launches; the rest are means weighted by "
        "time.\n";
  return text;
}

result::Result profiles_result(const corun::Profiles& profiles) {
  result::Result out;
  out.manifest.mode = "corun";
  for (const auto& [key, k] : profiles.kernels) {
    result::KernelResult& row = out.kernels.emplace_back();
    const corun::Profile& p = k.profile;
    row.name = row.demangled = fmt::format("{}: {}", k.application, k.name);
    for (std::size_t i = 0; i < 3; ++i)
      row.grid[i] = p.grid ? (*p.grid)[i] : 1, row.block[i] = p.block ? (*p.block)[i] : 1;
    row.registers = static_cast<std::uint32_t>(p.registers.value_or(0));
    row.shared_bytes = static_cast<std::uint64_t>(p.shared_bytes.value_or(0));
    set_profile_metrics(p, row.metrics);
    if (const auto a = profiles.applications.find(k.application); a != profiles.applications.end())
      if (const WholeApplication whole = whole_of(profiles, a->second); whole.weights.contains(k.name))
        row.metrics.set("corun.weight", whole.weights.at(k.name));
  }
  for (const auto& [name, a] : profiles.applications) {
    result::KernelResult& row = out.kernels.emplace_back();
    row.name = row.demangled = fmt::format("application {}", name);
    const WholeApplication whole = whole_of(profiles, a);
    set_profile_metrics(whole.all, row.metrics);
    row.metrics.set("corun.launches", static_cast<std::uint64_t>(whole.launches));
  }
  return out;
}

Outcome show_profiles(ProfilesOptions& o) {
  const RunClock clock;
  const std::filesystem::path file = o.file.empty()
                                         ? device::data_directory() / "corun" / "titanx-thesis.toml"
                                         : std::filesystem::path(o.file);
  OutputOptions output = o.output;
  if (!o.into.empty()) output.more.push_back({"--into", &o.into});
  check_outputs(output);
  check_inputs(output, {file});
  const corun::Profiles profiles = corun::load_profiles(file);
  if (!o.into.empty()) {
    save_profiles_beside(profiles, o.into);
    if (o.into.ends_with(".csv") && !profiles.applications.empty() && !o.output.quiet)
      talk(fmt::format("note: CSV has kernels alone: the sequences of {} applications are not in {}\n",
                       profiles.applications.size(), shown(o.into)));
  }
  result::Result result = profiles_result(profiles);
  clock.finish(result);
  Outcome out(std::move(result), output);
  out.in_a_file = !o.into.empty();
  out.text = [text = profiles_text(profiles)](const report::Style&) { return text; };
  return out;
}

}  // namespace

void add_corun_profiles(Command& corun) {
  Command* sub =
      corun.add_subcommand("profiles", "Show what a file of profiles knows, or write it in another form");
  const auto o = std::make_shared<ProfilesOptions>();
  sub->add_option("file", o->file,
                  "Profiles: .toml, .csv, .db or .sqlite (default: Table 5.1 of the SHARK thesis)")
      ->check(not_empty())
      ->type_name("FILE");
  sub->add_option("--into", o->into,
                  "Add them to this file, in the form that its name says; what it has under the same names "
                  "is replaced")
      ->check(output_file())
      ->type_name("FILE");
  add_output_options(*sub, o->output);
  sub->footer("Form: simtlab corun profiles [my.db] [--into my.csv]");
  sub->action([o](const Call&) { return show_profiles(*o); });
}

}  // namespace simtlab::studies
