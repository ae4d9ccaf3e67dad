// simtlab validate: every area that is compared with something, or one of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/validate.h"
#include "cli/validate_cache.h"
#include "cli/validate_corun.h"
#include "cli/validate_dram.h"
#include "cli/validate_page.h"
#include "cli/validate_predict.h"
#include "cli/validate_probe.h"
#include "cli/validate_timing.h"

namespace simtlab::cli {
namespace {

int validate_all(const CLI::App& app, ValidationOptions o) {
  const RunClock clock;
  std::vector<std::string> areas = {"timing", "cache", "dram", "probe", "corun", "predict"};
  if (!o.quick) areas.emplace_back("corun-hosts");
  check_validation(o, areas);
  std::vector<AreaReport> reports;
  std::optional<Error> stopped;
  try {
    Progress progress("validating", o.output);
    const Signals signals(0);
    const auto next = [&](auto&& area) {
      progress.at(fmt::format("{}, {} of {} areas", areas[reports.size()], reports.size() + 1, areas.size()));
      reports.push_back(area());
    };
    next([&] { return timing_area(o.quick, signals.flag()); });
    next([&] { return cache_area(o.quick, signals.flag()); });
    next([&] { return dram_area(signals.flag()); });
    next([&] { return probe_area(); });
    next([&] { return corun_area(signals.flag()); });
    next([&] { return predict_area(app, o.quick, signals.flag()); });
    if (!o.quick) next([&] { return hosts_area(app, signals.flag()); });
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted || reports.empty()) throw interrupted_validation(e);
    stopped.emplace(ExitCode::interrupted, "interrupted",
                    fmt::format("interrupted when {} of {} areas were done", reports.size(), areas.size()),
                    "the report is of those; nothing was compared with the kept rows");
  }
  return end_validation(std::move(reports), clock, o, stopped);
}

constexpr const char* quick_areas =
    "Minutes less: few sizes, devices and nests, and not the fast host of mixes beside the cycle-level one";

}  // namespace

void add_validate(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "validate", "Compare the models with published measurements and with each other: all areas, or one");
  sub->require_subcommand(0, 1);
  const auto o = std::make_shared<ValidationOptions>();
  add_validation_options(*sub, *o, quick_areas);
  const auto run_all = [&app, &chosen, o] { chosen = [&app, o] { return validate_all(app, *o); }; };
  // Options of the whole before an area would be without effect.
  sub->callback([sub, run_all] {
    if (sub->get_subcommands().empty()) return run_all();
    for (const CLI::Option* option : sub->get_options())
      if (option->count() > 0 && option->get_name() != "--help")
        throw Error(ExitCode::usage, "option-conflict",
                    fmt::format("{} stands before the area", option->get_name()),
                    fmt::format("write it behind: simtlab validate {} {} ...",
                                sub->get_subcommands().front()->get_name(), option->get_name()));
  });
  CLI::App* all = sub->add_subcommand("all", "All areas, as without a name");
  const auto same = std::make_shared<ValidationOptions>();
  add_validation_options(*all, *same, quick_areas);
  all->callback([&app, &chosen, same] { chosen = [&app, same] { return validate_all(app, *same); }; });
  add_validate_timing(*sub, chosen);
  add_validate_cache(*sub, chosen);
  add_validate_dram(*sub, chosen);
  add_validate_predict(*sub, chosen);
  add_validate_probe(*sub, chosen);
  add_validate_corun(app, *sub, chosen);
  add_validate_page(*sub, chosen);
}

}  // namespace simtlab::cli
