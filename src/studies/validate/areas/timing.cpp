#include "studies/validate/areas/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ranges>

#include "base/error.h"
#include "base/files.h"
#include "device/catalogue.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/validate/probe.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions : ValidationOptions {
  std::vector<std::string> gpus;
  std::string results;  // folder with one result file an application
};

constexpr double large_l2 = 16 << 20;  // bytes; to fill it takes most of the time

constexpr const char *kernel_table = "kernels.csv", *peer_table = "gpgpusim.csv";

fs::path measured(const char* name) { return device::data_directory() / "measured" / name; }

// sets: "key=value;key=value..." or empty.
device::LoadedDevice device_for(const std::string& name, const std::string& set,
                                const std::string& also = {}) {
  std::vector<device::Setting> settings;
  for (const std::string& sets : {set, also})
    for (const auto part : std::views::split(sets, ';')) {
      const std::string one(part.begin(), part.end());
      const std::size_t equals = one.find('=');
      if (equals != std::string::npos)
        settings.push_back(
            {one.substr(0, equals), one.substr(equals + 1), {"command line", "data/measured", "", false}});
    }
  return device::load_device(name, settings);
}

// Everything that one device is compared in.
class Curves {
 public:
  Curves(const std::string& device, bool quick, const std::string& ptx, const volatile bool* stop,
         std::vector<studies::validate::Comparison>& out)
      : name_(device), quick_(quick), ptx_(ptx), stop_(stop), out_(out) {}

  void run() {
    curves("latency.csv", "cycles", "latency of a chase", studies::validate::Quantity::latency,
           [](studies::validate::Probe& p, std::uint64_t bytes) { return p.chase(bytes); });
    if (!quick_ && device_for(name_, {}).device.tlb.miss_latency > 0)
      curves(
          "latency.csv", "cycles", "latency of a chase, tlb.enabled", studies::validate::Quantity::latency,
          [](studies::validate::Probe& p, std::uint64_t bytes) { return p.chase(bytes); },
          "tlb.enabled=true");
    curves("cache-bandwidth.csv", "gbs", "reads of one buffer by all SMs",
           studies::validate::Quantity::bandwidth,
           [](studies::validate::Probe& p, std::uint64_t bytes) { return p.cache_bandwidth(bytes); });
    curves("l2-bandwidth.csv", "gbs", "reads past L1", studies::validate::Quantity::bandwidth,
           [](studies::validate::Probe& p, std::uint64_t bytes) { return p.shared_bandwidth(bytes); });
    levels();
    memory();
  }

 private:
  template <class Measure>
  void curves(const char* file, const char* column, const char* what, studies::validate::Quantity quantity,
              Measure measure, const char* also = "") {
    const double scale = quantity == studies::validate::Quantity::bandwidth ? 1e9 : 1;
    for (studies::validate::Curve& curve :
         studies::validate::curves_of(studies::validate::Table::read(measured(file)), name_, column)) {
      for (studies::validate::Point& p : curve.points) p.value *= scale;
      const device::Device device = device_for(name_, curve.set, also).device;
      studies::validate::Probe probe(device, ptx_, stop_);
      studies::validate::Comparison& c = out_.emplace_back();
      c.device = name_;
      c.name = what;
      c.source = fmt::format("data/measured/{}", file);
      c.quantity = quantity;
      studies::validate::compare(c, device, curve, quick_ || *also != '\0',
                                 [&](std::uint64_t bytes) { return measure(probe, bytes); });
    }
  }

  // Published as one figure a level.
  void levels() {
    const studies::validate::Table table = studies::validate::Table::read(measured("levels.csv"));
    std::vector<studies::validate::Curve> found = studies::validate::curves_of(table, name_, "cycles");
    for (const studies::validate::Curve& curve : found) {
      const device::Device device = device_for(name_, curve.set).device;
      studies::validate::Probe probe(device, ptx_, stop_);
      studies::validate::Comparison& c = out_.emplace_back();
      c.device = name_;
      c.name = "latency of levels";
      c.source = "data/measured/levels.csv";
      studies::validate::compare(c, device, curve, false,
                                 [&](std::uint64_t bytes) { return probe.chase(bytes); });
      c.knees.clear();  // one size a level says nothing about its end
    }
  }

  void memory() {
    const studies::validate::Table table = studies::validate::Table::read(measured("memory-bandwidth.csv"));
    const device::Device device = device_for(name_, {}).device;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table.text(i, "devices") != name_) continue;
      studies::validate::Probe probe(device, ptx_, stop_);
      const bool scale = table.text(i, "kernel") == "scale";
      const double simulated = scale ? probe.memory_scale() : probe.memory_read();
      studies::validate::Comparison& c = out_.emplace_back();
      c.device = name_;
      c.board = table.text(i, "board");
      c.name = "memory, " + table.text(i, "kernel");
      c.source = "data/measured/memory-bandwidth.csv";
      c.quantity = studies::validate::Quantity::bandwidth;
      const double value = table.number(i, "gbs") * 1e9;
      c.points.push_back({0, studies::validate::Level::dram, value, simulated});
      const double error = std::abs(c.points.back().error());
      c.plateaus.push_back({studies::validate::Level::dram, 1, value, simulated, error, error});
    }
  }

  std::string name_;
  bool quick_;
  const std::string& ptx_;
  const volatile bool* stop_;
  std::vector<studies::validate::Comparison>& out_;
};

std::vector<std::string> devices_with_figures() {
  std::vector<std::string> out;
  for (const char* file :
       {"latency.csv", "cache-bandwidth.csv", "l2-bandwidth.csv", "levels.csv", "memory-bandwidth.csv"})
    for (const std::string& name :
         studies::validate::devices_of(studies::validate::Table::read(measured(file))))
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  const std::vector<std::string> known = device::list_devices();
  std::erase_if(out, [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  return out;
}

std::vector<std::string> chosen_devices(const ValidateOptions& o) {
  std::vector<std::string> all = devices_with_figures();
  if (o.gpus.empty()) {
    if (o.quick)
      std::erase_if(all, [](const std::string& name) {
        return static_cast<double>(device_for(name, {}).device.l2.bytes) > large_l2;
      });
    return all;
  }
  if (!o.results.empty())
    for (const char* file : {kernel_table, peer_table})
      for (std::string& name :
           studies::validate::devices_of(studies::validate::Table::read(measured(file)), "device"))
        all.push_back(std::move(name));
  std::vector<std::string> out;
  for (const std::string& gpu : o.gpus) {
    const std::string name = device::load_device(gpu).device.name;  // an alias; unknown names are an error
    if (std::ranges::find(all, name) == all.end()) {
      std::string names;
      for (const std::string& n : all) names += (names.empty() ? "" : ", ") + n;
      throw Error(ExitCode::bad_input, "validate-device",
                  fmt::format("no published measurements of '{}' are at hand", name),
                  "there are some of " + names);
    }
    out.push_back(name);
  }
  return out;
}

// DIR/DEVICE/APP.json, results of `simtlab run`; bench/cross_check.py writes such a folder.
std::vector<studies::validate::KernelRow> kernels(const ValidateOptions& o, const char* file_name,
                                                  const std::vector<std::string>& devices) {
  std::vector<studies::validate::KernelRow> rows;
  if (o.results.empty()) return rows;
  const studies::validate::Table table = studies::validate::Table::read(measured(file_name));
  std::vector<std::pair<std::string, std::string>> done;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::pair key(table.text(i, "device"), table.text(i, "app"));
    if (std::ranges::find(done, key) != done.end()) continue;
    done.push_back(key);
    if (!o.gpus.empty() && std::ranges::find(devices, key.first) == devices.end()) continue;
    const fs::path file = fs::path(o.results) / key.first / (key.second + ".json");
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
      if (!o.output.quiet)
        talk(fmt::format("note: {} is not there: the kernels of {} are left out\n", file.string(),
                         key.second));
      continue;
    }
    const result::Result run = result::read_result_file(file);
    const auto found = studies::validate::compare_kernels(table, key.first, key.second, run);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  return rows;
}

AreaReport run_timing(const ValidateOptions& o, const volatile bool* stop) {
  const std::vector<std::string> devices = chosen_devices(o);
  const fs::path probes = device::data_directory() / "probes" / "validate.ptx";
  const std::string ptx = read_file(probes, 1 << 20, "probe kernels");
  ValidationReport report;
  for (const std::string& device : devices) Curves(device, o.quick, ptx, stop, report.curves).run();
  report.kernels = kernels(o, kernel_table, devices);
  report.peers = kernels(o, peer_table, devices);
  AreaReport out{"timing", text_of(report, o.output.all || o.output.verbose), result_of(report),
                 missed_targets(report), rows_of(report)};
  out.result.manifest.mode = "validate";
  out.result.manifest.inputs = hash_inputs({probes});
  return out;
}

Outcome validate_timing(ValidateOptions o) {
  const RunClock clock;
  o.recorded = !o.results.empty() && o.update;
  o.computed = {"plateaus", "ends of levels"};
  check_validation(o, {"timing"},
                   o.recorded           ? std::nullopt
                   : !o.gpus.empty()    ? std::optional<std::string>("--gpu")
                   : !o.results.empty() ? std::optional<std::string>("--results")
                                        : std::nullopt);
  return validated(o, clock, [&](const volatile bool* stop) { return run_timing(o, stop); });
}

}  // namespace

AreaReport timing_area(bool quick, const volatile bool* stop) {
  ValidateOptions o;
  o.quick = quick;
  return run_timing(o, stop);
}

void add_validate_timing(Command& validate) {
  Command* timing =
      validate.add_subcommand("timing", "The cycle-level model: latencies, bandwidths, capacities, kernels");
  const auto o = std::make_shared<ValidateOptions>();
  timing->add_option("--gpu", o->gpus, "Only this device (default: all with measurements); may be repeated")
      ->check(not_empty())
      ->type_name("NAME")
      ->one_at_a_time();
  timing
      ->add_option("--results", o->results,
                   "Also compare the kernels of programs: folder with DEVICE/PROGRAM.json, results of "
                   "`simtlab run` or of bench/cross_check.py")
      ->check(not_empty())
      ->type_name("DIR");
  add_validation_options(*timing, *o,
                         "Fewer sizes, and no device with more than 16 MiB of L2 unless --gpu names it");
  timing->action([o](const Call&) { return validate_timing(*o); });
}

}  // namespace simtlab::studies
