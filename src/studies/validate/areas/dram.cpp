// simtlab validate dram: main memory beside the laws of its technologies and beside other simulators.
#include "studies/validate/areas/dram.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/validate/dram.h"

namespace simtlab::studies {
namespace {

Outcome validate_dram(ValidationOptions o) {
  const RunClock clock;
  check_validation(o, {"dram"});
  return validated(o, clock, [&](const volatile bool* stop) { return dram_area(stop); });
}

}  // namespace

AreaReport dram_area(const volatile bool* stop) {
  const std::filesystem::path peers = device::data_directory() / "measured" / "dram-peers.csv";
  const std::vector<studies::validate::Row> laws = studies::validate::dram_laws(stop),
                                            beside = studies::validate::dram_peers(
                                                studies::validate::Table::read(peers), stop);
  AreaReport out{"dram", {}, {}, {}, laws};
  out.rows.insert(out.rows.end(), beside.begin(), beside.end());
  for (const studies::validate::Row& r : out.rows)
    if (!r.met())
      out.misses.push_back(fmt::format("{}, {}: {}, {} known", r.device, r.quantity,
                                       studies::validate::ours_text(r),
                                       studies::validate::reference_text(r)));
  out.text = "## Laws in closed form\n\n" + rows_table(laws) + "\n## Beside other simulators, clocks\n\n" +
             rows_table(beside) + misses_text(out.misses);
  out.result.manifest.mode = "dram";
  out.result.manifest.inputs = hash_inputs({peers});
  return out;
}

void add_validate_dram(Command& validate) {
  Command* sub = validate.add_subcommand(
      "dram", "Main memory: laws of every technology, and clocks of other simulators");
  const auto o = std::make_shared<ValidationOptions>();
  add_validation_options(*sub, *o, nullptr);
  sub->action([o](const Call&) { return validate_dram(*o); });
}

}  // namespace simtlab::studies
