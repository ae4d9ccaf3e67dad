#include "cli/commands/list_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/commands/list_table.h"
#include "device/catalogue.h"
#include "device/elasticity.h"
#include "report/format.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/output.h"

namespace simtlab::cli {
namespace {

struct GpuList {
  std::string name;  // of one GPU; empty: all
  bool sources = false;
  std::string json;
  ListFormat format;
};

// A value that no source gives, or only another simulator's settings, and how much it moves kernels.
struct DoubtfulValue {
  const device::Entry* entry;
  std::optional<double> change;  // nullopt: not measured, as of values that are no numbers
  std::string kernel;
};

struct GpuSources {
  std::string name;
  std::vector<device::Entry> entries;  // the values that its files state
  std::array<std::size_t, device::source_kinds> count{};

  std::size_t of(device::SourceKind kind) const { return count[static_cast<std::size_t>(kind)]; }
};

GpuSources sources_of(const std::string& name) {
  device::LoadedDevice loaded = device::load_device(name);
  GpuSources out{loaded.device.name, {}, {}};
  for (device::Entry& e : loaded.entries) {
    if (e.origin.layer != "device") continue;
    ++out.count[static_cast<std::size_t>(e.origin.kind)];
    out.entries.push_back(std::move(e));
  }
  return out;
}

// Those that move kernels most come first; those of which nothing is known, last, in the order of the keys.
std::vector<DoubtfulValue> doubtful_values(const GpuSources& gpu,
                                           const std::vector<device::Elasticity>& known) {
  std::vector<DoubtfulValue> out;
  for (const device::Entry& e : gpu.entries) {
    if (e.origin.kind != device::SourceKind::estimated && e.origin.kind != device::SourceKind::simulator)
      continue;
    const auto row = std::find_if(known.begin(), known.end(), [&](const device::Elasticity& one) {
      return one.device == gpu.name && one.key == e.key;
    });
    if (row == known.end())
      out.push_back({&e, std::nullopt, {}});
    else
      out.push_back({&e, row->change, row->kernel});
  }
  std::stable_sort(out.begin(), out.end(), [](const DoubtfulValue& a, const DoubtfulValue& b) {
    return a.change.value_or(-1) > b.change.value_or(-1);
  });
  return out;
}

std::string plain_gpu_table(const std::vector<std::string>& names, const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) {
    const device::Device d = device::load_device(name).device;
    rows.push_back({d.name, d.product, d.architecture, fmt::format("{}.{}", d.cc_major, d.cc_minor),
                    fmt::format("{}", d.sm.count), fmt::format("{:.0f} MHz", d.sm_clock_hz / 1e6),
                    report::format_bytes(static_cast<double>(d.l2.bytes)),
                    report::format_bytes(static_cast<double>(d.dram.bytes)),
                    report::format_rate(d.dram.bandwidth)});
  }
  return list_table({"name", "product", "architecture", "cc", "SMs", "SM clock", "L2", "memory", "bandwidth"},
                    rows, format);
}

std::string counts_table(const std::vector<GpuSources>& gpus, const ListFormat& format) {
  std::vector<std::string> head = {"name", "values"};
  for (std::size_t k = 0; k < device::source_kinds; ++k)
    head.emplace_back(device::name_of(static_cast<device::SourceKind>(k)));
  head.emplace_back("share estimated");
  std::vector<std::vector<std::string>> rows;
  for (const GpuSources& gpu : gpus) {
    rows.push_back({gpu.name, fmt::format("{}", gpu.entries.size())});
    for (const std::size_t n : gpu.count) rows.back().push_back(fmt::format("{}", n));
    rows.back().push_back(
        report::format_share(static_cast<double>(gpu.of(device::SourceKind::estimated)) /
                             static_cast<double>(std::max<std::size_t>(gpu.entries.size(), 1))));
  }
  return list_table(head, rows, format);
}

std::string doubtful_table(const GpuSources& gpu, const std::vector<device::Elasticity>& known,
                           const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const DoubtfulValue& v : doubtful_values(gpu, known)) {
    const std::string moves = !v.change ? "-"
                              : v.kernel.empty()
                                  ? "nothing"
                                  : fmt::format("{} {}", report::format_share(*v.change), v.kernel);
    rows.push_back({v.entry->key, v.entry->value, std::string(device::name_of(v.entry->origin.kind)), moves,
                    v.entry->origin.source});
  }
  return list_table({"key", "value", "kind", "20 % of it move", "source or reason"}, rows, format);
}

std::string gpu_sources_json(const std::vector<GpuSources>& gpus,
                             const std::vector<device::Elasticity>& known) {
  std::string out = "{\n  \"schema\": 1,\n  \"gpus\": [";
  const char* between = "\n";
  for (const GpuSources& gpu : gpus) {
    out += fmt::format("{}    {{\"name\": {}, \"values\": {}", between, result::json_string(gpu.name),
                       gpu.entries.size());
    for (std::size_t k = 0; k < device::source_kinds; ++k)
      out += fmt::format(", {}: {}", result::json_string(device::name_of(static_cast<device::SourceKind>(k))),
                         gpu.count[k]);
    out += ", \"doubtful\": [";
    const char* separator = "\n";
    for (const DoubtfulValue& v : doubtful_values(gpu, known)) {
      out += fmt::format("{}      {{\"key\": {}, \"value\": {}, \"kind\": {}, \"source\": {}", separator,
                         result::json_string(v.entry->key), result::json_string(v.entry->value),
                         result::json_string(device::name_of(v.entry->origin.kind)),
                         result::json_string(v.entry->origin.source));
      if (v.change)
        out += fmt::format(", \"change\": {}, \"kernel\": {}", *v.change, result::json_string(v.kernel));
      out += "}";
      separator = ",\n";
    }
    out += "]}";
    between = ",\n";
  }
  return out + "\n  ]\n}\n";
}

int list_gpus(const GpuList& options) {
  const std::vector<std::string> names =
      options.name.empty() ? device::list_devices() : std::vector<std::string>{options.name};
  if (!options.sources) {
    print(plain_gpu_table(names, options.format));
    return 0;
  }
  OutputOptions output;
  output.json = options.json;
  check_outputs(output);
  std::vector<GpuSources> gpus;
  for (const std::string& name : names) gpus.push_back(sources_of(name));
  const std::vector<device::Elasticity> known = device::load_elasticities();
  if (!output.json.empty()) {
    write_to(output.json, gpu_sources_json(gpus, known));
    return 0;
  }
  std::string text = counts_table(gpus, options.format);
  if (!options.name.empty()) text += "\n" + doubtful_table(gpus.front(), known, options.format);
  print(text);
  return 0;
}

}  // namespace

void add_list_gpus(Command& list) {
  Command* sub =
      list.add_subcommand("gpus", "Device files; with --sources how well founded their values are");
  const auto options = std::make_shared<GpuList>();
  sub->add_option("gpu", options->name, "One of them, or a file")->check(not_empty())->type_name("NAME|FILE");
  sub->add_flag("--markdown", options->format.markdown, "As a Markdown table");
  sub->add_flag(
      "--sources", options->sources,
      "How many values of each are measured, the vendor's, another simulator's settings, derived and "
      "estimated; of one GPU also which, and how much kernels move with them");
  sub->add_option("--json", options->json, "With --sources: as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->needs("--sources");
  sub->action([options](const Call&) { return list_gpus(*options); });
}

}  // namespace simtlab::cli
