// simtlab corun profile: runs an application on the simulated GPU and keeps what policies and the fast host want to know of its kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/command_corun_model.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/temporary.h"
#include "corun/profiles.h"
#include "device/catalogue.h"
#include "result/json.h"
#include "result/totals.h"

namespace simtlab::cli {
namespace {

constexpr std::size_t longest_sequence = 4096;   // launches that a result keeps one by one

struct ProfileRun {
  Run run;
  std::string database, application;
};

// Of the slots that are lost to a reason, those lost to memory: what nvprof's reasons "memory dependency" and "memory throttle" add up to.
std::optional<double> memory_stall(const result::Metrics& m) {
  double memory = 0, all = 0;
  bool any = false;
  for (const result::Metrics::Value& v : m.values()) {
    if (!v.name.starts_with("stall.")) continue;
    const std::string reason = v.name.substr(6);
    if (reason == "selected" || reason == "no_warp") continue;
    any = true;
    all += v.real;
    for (const char* name : {"long_scoreboard", "lg_throttle", "tex_throttle", "membar", "drain"})
      if (reason == name) memory += v.real;
  }
  if (!any) return std::nullopt;
  return all > 0 ? std::clamp(memory / all, 0.0, 1.0) : 0;
}

// k: all launches of one kernel, merged.
corun::KernelProfile profile_of(const result::KernelResult& k, const std::string& application, const device::Device& device, const std::string& source) {
  corun::KernelProfile out;
  out.application = application;
  out.name = k.name;
  out.source = source;
  corun::Profile& p = out.profile;
  p.grid = {k.grid[0], k.grid[1], k.grid[2]};
  p.block = {k.block[0], k.block[1], k.block[2]};
  p.registers = k.registers;
  p.shared_bytes = static_cast<double>(k.shared_bytes);
  const result::Metrics& m = k.metrics;
  const double launches = k.launches;
  const auto time = m.get("gpu.time"), cycles = m.get("gpu.cycles"), instructions = m.get("gpu.instructions.warp"), l2 = m.get("l2.bytes");
  if (instructions) p.instructions = *instructions / launches;
  if (time && *time > 0) {
    p.time_ns = *time / launches;
    if (l2) p.l2_bandwidth = *l2 / (*time * 1e-9);
    const auto read = m.get("dram.read.bytes"), written = m.get("dram.write.bytes");
    if (read && written) p.dram_bandwidth = (*read + *written) / (*time * 1e-9);
  }
  if (instructions && cycles && *cycles > 0) p.ipc = *instructions / *cycles;
  const auto occupancy = m.get("occupancy.achieved"), active = m.get("gpu.sm.active");
  if (occupancy && active) p.threads = *occupancy * *active * device.sm.count * device.sm.max_threads;
  p.memory_stall = memory_stall(m);
  return out;
}

int profile(const CLI::App& app, ProfileRun o, const std::vector<std::string>& rest, const std::optional<std::vector<std::string>>& after_dashes) {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "result.json").string();
  OutputOptions wished = o.run.output;
  wished.more.push_back({"--database", &o.database});
  check_outputs(wished);
  o.run.output.json = file;
  o.run.output.output = (folder.path() / "report.txt").string();   // the report is of the profiles
  o.run.output.csv.clear();
  o.run.output.quiet = true;
  const int code = run_command(app, o.run, rest, after_dashes);
  if (code != 0) return code;
  const result::Result result = result::result_from_json(read_file(file, result::max_json_bytes, "result file"), file);
  if (result.kernels.empty()) throw Error(ExitCode::bad_input, "corun-profiles", "no kernel was launched: there is nothing to profile");
  std::string name = o.application;
  if (name.empty()) name = std::filesystem::path(!rest.empty() ? rest.front() : after_dashes->front()).stem().string();
  const device::Device device = device::load_device(resolve(o.run.run)).device;
  corun::Profiles profiles;
  const std::string source = fmt::format("simtlab {} on simulated {}", version(), result.manifest.device);
  std::string text = "| kernel | launches | time | IPC | threads | L2 | DRAM | memory stalls |\n|---|---|---|---|---|---|---|---|\n";
  for (const result::KernelResult& k : result::merge_by_name(result.kernels)) {
    corun::KernelProfile one = profile_of(k, name, device, source);
    const corun::Profile& p = one.profile;
    const auto shown = [](const std::optional<double>& v, double scale, const char* unit) { return v ? fmt::format("{:.4g}{}", *v / scale, unit) : std::string("-"); };
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", k.demangled.empty() ? k.name : k.demangled, k.launches, shown(p.time_ns, 1e3, " us"), shown(p.ipc, 1, ""), shown(p.threads, 1, ""),
                        shown(p.l2_bandwidth, 1e9, " GB/s"), shown(p.dram_bandwidth, 1e9, " GB/s"), shown(p.memory_stall, 0.01, " %"));
    profiles.add(std::move(one));
  }
  std::uint64_t launches = 0;
  for (const result::KernelResult& k : result.kernels) launches += k.launches;
  if (launches <= longest_sequence) {
    corun::Application application;
    application.name = name;
    application.source = source;
    for (const result::KernelResult& k : result.kernels)
      for (std::uint32_t i = 0; i < k.launches; ++i) application.sequence.push_back(k.name);
    profiles.add(std::move(application));
  }
  if (std::filesystem::path(o.database).extension() == ".toml" || std::filesystem::path(o.database).extension() == ".csv") {
    std::error_code ignored;
    if (std::filesystem::exists(o.database, ignored)) {
      corun::Profiles all = corun::load_profiles(o.database);
      for (const auto& [key, k] : profiles.kernels) all.add(k);
      for (const auto& [key, a] : profiles.applications) all.add(a);
      profiles = std::move(all);
    }
  }
  corun::save_profiles(profiles, o.database);
  write_outputs(result, wished, text);
  return 0;
}

}  // namespace

void add_corun_profile(CLI::App& corun, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes) {
  CLI::App* sub = corun.add_subcommand("profile", "Run an application on the simulated GPU and add its kernels to a database of profiles");
  const auto o = std::make_shared<ProfileRun>();
  sub->allow_extras();
  sub->footer("Forms: as simtlab run: app.cu [-- ARGUMENTS], -- ./app [ARGUMENTS], kernel.ptx --launch FILE; then simtlab corun --profiles FILE --mix A,B");
  sub->add_option("--database", o->database, "Where the profiles go: .db or .sqlite (SQLite), .toml, .csv; what is there already stays")->required()->check(CLI::Validator(refuse_empty, ""))->type_name("FILE");
  sub->add_option("--application", o->application, "The application's name (default: that of its file)")->check(CLI::Validator(refuse_empty, ""))->type_name("NAME");
  add_run_options(*sub, o->run.run);
  add_kernel_options(*sub, o->run.kernel);
  add_output_options(*sub, o->run.output);
  sub->callback([&corun, &chosen, &after_dashes, o, sub] {
    chosen = [&corun, &after_dashes, o, rest = sub->remaining()] { return profile(corun, *o, rest, after_dashes); };
  });
}

}  // namespace simtlab::cli
