// simtlab validate: every area that is compared with something, or one of them.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/cache.h"
#include "studies/validate/areas/corun.h"
#include "studies/validate/areas/dram.h"
#include "studies/validate/areas/page.h"
#include "studies/validate/areas/predict.h"
#include "studies/validate/areas/probe.h"
#include "studies/validate/areas/timing.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {
namespace {

Outcome validate_all(const Command& app, ValidationOptions o) {
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

void add_validate(Command& app) {
  Command* sub = app.add_subcommand(
      "validate", "Compare the models with published measurements and with each other: all areas, or one");
  sub->require_subcommand(0, 1);
  const auto o = std::make_shared<ValidationOptions>();
  add_validation_options(*sub, *o, quick_areas);
  sub->embeds();
  sub->action([o](const Call& call) { return validate_all(call.command, *o); });
  Command* all = sub->add_subcommand("all", "All areas, as without a name");
  const auto same = std::make_shared<ValidationOptions>();
  add_validation_options(*all, *same, quick_areas);
  all->action([same](const Call& call) { return validate_all(call.command, *same); });
  add_validate_timing(*sub);
  add_validate_cache(*sub);
  add_validate_dram(*sub);
  add_validate_predict(*sub);
  add_validate_probe(*sub);
  add_validate_corun(*sub);
  add_validate_page(*sub);
}

}  // namespace simtlab::studies
