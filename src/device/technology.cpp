#include "device/technology.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "device/assembly.h"
#include "device/data_files.h"
#include "device/known_plugins.h"
#include "device/technology_keys.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr Subject technologies{
    "memory technology",  "memory technology file",         "dram", "technology", "ddr4-3200",
    "simtlab list drams", "simtlab config show --dram NAME"};

// Rules between the values of one technology: what no range of a single value can say.
class Checker {
 public:
  Checker(const Technology& technology, bool trc_has_a_source)
      : t_(technology), trc_has_a_source_(trc_has_a_source) {}

  std::vector<Contradiction> run() {
    check_clock();
    check_organisation();
    check_rows();
    check_groups();
    check_refresh();
    return std::move(found_);
  }

 private:
  void require(bool holds, std::vector<std::string> keys, std::string message, std::string hint) {
    if (!holds) found_.push_back({std::move(keys), std::move(message), std::move(hint)});
  }

  // The burst and the two clocks say the same thing thrice. One per cent covers the rounding of tCK.
  void check_clock() {
    const double per_clock = static_cast<double>(t_.organisation.burst_length) / t_.timing.burst;
    const double expected = per_clock * 1e6 / t_.tck.count;
    require(std::abs(t_.data_rate - expected) <= expected / 100,
            {"clock.data_rate", "clock.tCK", "timing.burst", "organisation.burst_length"},
            fmt::format("{} transfers in {} clocks of {} ps are {:.0f} MT/s", t_.organisation.burst_length,
                        t_.timing.burst, t_.tck.count, expected),
            "burst_length / burst transfers in a clock, within 1 %");
  }

  void check_organisation() {
    const Technology::Organisation& o = t_.organisation;
    require(o.channel_width % o.device_width == 0,
            {"organisation.device_width", "organisation.channel_width"},
            fmt::format("does not divide the channel of {} bits", o.channel_width),
            "a channel is a whole number of devices side by side");
    const bool whole = o.channel_width * o.burst_length % 8 == 0;
    require(
        whole, {"organisation.burst_length", "organisation.channel_width"},
        fmt::format("{} transfers of {} bits are no whole number of bytes", o.burst_length, o.channel_width),
        "burst_length x channel_width must be a multiple of 8");
    require(!whole || o.row_bytes % t_.burst_bytes() == 0,
            {"organisation.row_bytes", "organisation.burst_length", "organisation.channel_width"},
            fmt::format("is no whole number of accesses of {} bytes", t_.burst_bytes()),
            "a row holds whole accesses");
  }

  void check_rows() {
    const Technology::Timing& c = t_.timing;
    require(c.tras <= c.trc, {"timing.tRAS", "timing.tRC"}, "is above tRC",
            "a bank is precharged before its next activation");
    require(c.trc >= c.tras + c.trp || trc_has_a_source_, {"timing.tRC", "timing.tRAS", "timing.tRP"},
            fmt::format("is below tRAS + tRP, {} cycles, and only estimated", c.tras + c.trp),
            "give the source that says so, or raise it");
    require(c.trcd_read <= c.tras, {"timing.tRCD_R", "timing.tRAS"}, "is above tRAS",
            "a row is open until it has been read");
    require(c.trcd_write <= c.tras, {"timing.tRCD_W", "timing.tRAS"}, "is above tRAS",
            "a row is open until it has been written");
    require(c.tfaw == 0 || c.tfaw >= c.trrd_s, {"timing.tFAW", "timing.tRRD_S"},
            "is below tRRD_S, which comes before every activation", "raise it; 0: no such limit");
  }

  void check_groups() {
    const auto ordered = [&](std::uint32_t l, std::uint32_t s, const char* name) {
      const std::string key = std::string("timing.") + name;
      require(l >= s, {key + "_L", key + "_S"}, fmt::format("is below {}_S", name),
              "the same bank group is never faster than another one");
    };
    ordered(t_.timing.tccd_l, t_.timing.tccd_s, "tCCD");
    ordered(t_.timing.trrd_l, t_.timing.trrd_s, "tRRD");
    ordered(t_.timing.twtr_l, t_.timing.twtr_s, "tWTR");
  }

  void check_refresh() {
    const Technology::Timing& c = t_.timing;
    if (t_.refresh == Refresh::none) return;
    const bool all = t_.refresh == Refresh::all_bank;
    const std::string key = all ? "timing.tRFC" : "timing.tRFC_pb";
    const std::uint32_t lasts = all ? c.trfc : c.trfc_pb;
    require(lasts > 0, {key, "commands.refresh"}, "but commands.refresh asks for it",
            "give its duration, or commands.refresh = \"none\"");
    // With one bank at a time there are as many refreshes in tREFI as a rank has banks.
    const std::uint64_t busy = std::uint64_t{lasts} * (all ? 1 : t_.banks());
    require(c.trefi > busy, {"timing.tREFI", key}, fmt::format("refreshing takes {} of these cycles", busy),
            "no time is left for accesses");
  }

  const Technology& t_;
  const bool trc_has_a_source_;
  std::vector<Contradiction> found_;
};

}  // namespace

std::vector<std::string> list_technologies() { return list_data_files(technologies); }

LoadedTechnology load_technology(const std::string& name_or_file, const std::vector<Setting>& settings) {
  const fs::path path = find_data_file(technologies, name_or_file);
  if (path.empty()) {
    const std::string plugin = plugin_hint(name_or_file);
    throw Error(ExitCode::bad_input, "dram-unknown",
                fmt::format("unknown memory technology '{}'", shown(name_or_file, 60)),
                plugin.empty() ? unknown_name_hint(technologies, name_or_file) : plugin);
  }
  const std::vector<Document> chain = read_chain(technologies, path);
  LoadedTechnology out;
  Technology& technology = out.technology;
  RecordOf record(technology_keys(), technology);
  Assembly assembly(record, technologies);
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) assembly.add(*document);
  for (const Setting& setting : settings) assembly.add(setting);
  assembly.require_all(path.string());
  const Origin& trc = *assembly.origin("timing.tRC");
  assembly.refuse(Checker(technology, !trc.estimated && !trc.source.empty()).run(), path.string());
  technology.name = path.stem().string();
  out.entries = assembly.entries();
  for (const Document& document : chain) out.files.emplace_back(document.file);
  return out;
}

std::string technology_reference() {
  Technology scratch;
  RecordOf record(technology_keys(), scratch);
  return key_reference(record);
}

}  // namespace simtlab::device
