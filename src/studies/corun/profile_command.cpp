// simtlab corun profile: runs an application on the simulated GPU and keeps what policies and the fast host
// want to know of its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/program_identity.h"
#include "corun/cycle/profile.h"
#include "corun/profiles.h"
#include "device/catalogue.h"
#include "report/format.h"
#include "result/totals.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/corun/model_commands.h"
#include "studies/corun/profile_board.h"
#include "studies/corun/whole_application.h"
#include "studies/run/run.h"

namespace simtlab::studies {

namespace {

constexpr std::size_t longest_sequence = 4096;  // launches that a result keeps one by one

struct ProfileRun {
  Run run;
  std::string database, application;
  std::optional<std::string> device;
};

using Kernels = std::vector<result::KernelResult>;

struct ProfiledProcess {
  Kernels kernels;
  ProgramIdentity program;
};

// Launches of each process that used the GPU, called by their steps. Processes end in any order: they are put
// into that of what they launch, so that the same program gives the same profiles.
std::vector<ProfiledProcess> processes_of(const Kernels& all, const std::vector<GpuProcess>& processes) {
  std::vector<ProfiledProcess> out;
  auto at = all.begin();
  const auto add = [&](const GpuProcess& process) {
    if (process.kernels == 0) return;
    const auto end = at + static_cast<std::ptrdiff_t>(process.kernels);
    Kernels& kernels = out.emplace_back(ProfiledProcess{Kernels(at, end), process.program}).kernels;
    at = end;
    std::vector<corun::cycle::ShapedKernel> shapes;
    for (const result::KernelResult& k : kernels) shapes.push_back(corun::cycle::shape_of(k));
    const std::vector<std::string> steps = corun::cycle::step_names(shapes);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (steps[i] != kernels[i].name) kernels[i].name = kernels[i].demangled = steps[i];
  };
  for (const GpuProcess& process : processes) add(process);
  add({static_cast<std::size_t>(all.end() - at), {}});  // of no program
  std::ranges::stable_sort(out, [](const ProfiledProcess& a, const ProfiledProcess& b) {
    return std::ranges::lexicographical_compare(a.kernels, b.kernels, {}, &result::KernelResult::name,
                                                &result::KernelResult::name);
  });
  return out;
}

struct Source {
  const device::Device& device;
  std::string text;
};

// What one process launched, added to the profiles; its rows of the table.
std::string add_process(const ProfiledProcess& process, const std::string& name, const Source& source,
                        corun::Profiles& profiles) {
  const Kernels& kernels = process.kernels;
  std::string text;
  struct ProfiledKernel {
    std::string shown;
    corun::KernelProfile profile;
    std::uint64_t launches = 0;
  };
  std::vector<ProfiledKernel> rows;
  for (const result::KernelResult& k : result::merge_by_name(kernels)) {
    corun::KernelProfile one{name, k.name, corun::cycle::profile_of(k, source.device), source.text};
    one.content = process.program.content;
    if (process.program.name != name) one.program = process.program.name;
    // The first launch finds the least in L2.
    if (const auto first = std::ranges::find(kernels, k.name, &result::KernelResult::name);
        first->launches == 1)
      corun::cycle::add_cold(*first, source.device, one.profile);
    rows.push_back({k.demangled.empty() ? k.name : k.demangled, std::move(one), k.launches});
  }
  std::vector<LaunchedKernel> launched;
  for (const ProfiledKernel& r : rows)
    launched.push_back({r.profile.name, static_cast<double>(r.launches), &r.profile.profile});
  const WholeApplication whole = whole_of(launched);
  for (const ProfiledKernel& r : rows)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, r.shown, r.launches,
                        weight_cell(&whole, r.profile.name), profile_cells(r.profile.profile));
  text += fmt::format("| {} | all of it | {} | {} | {} |\n", name, whole.launches, report::format_share(1),
                      profile_cells(whole.all));
  for (ProfiledKernel& r : rows) profiles.add(std::move(r.profile));
  std::uint64_t launches = 0;
  for (const result::KernelResult& k : kernels) launches += k.launches;
  if (launches > longest_sequence) return text;
  corun::Application application;
  application.name = name;
  application.source = source.text;
  for (const result::KernelResult& k : kernels)
    for (std::uint32_t i = 0; i < k.launches; ++i) application.sequence.push_back(k.name);
  profiles.add(std::move(application));
  return text;
}

Outcome profile(const Call& call, ProfileRun o) {
  const std::vector<std::string>& rest = call.rest;
  Outcome out;
  out.output = o.run.output;
  out.output.more.push_back({"--database", &o.database});
  check_outputs(out.output);
  std::vector<GpuProcess> ran;
  o.run.processes = &ran;
  o.run.output.quiet = true;
  {
    const Progress progress("simulating", out.output);
    Outcome run = run_command(call, o.run);
    if (run.failure || run.code != 0) {
      run.output = {};  // the report would be of the profiles
      run.text = [](const report::Style&) { return std::string(); };
      return run;
    }
    out.result = std::move(run.result);
  }
  const result::Result& result = *out.result;
  if (result.kernels.empty())
    throw Error(ExitCode::bad_input, "corun-profiles", "no kernel was launched: there is nothing to profile");
  const std::string program = program_name(!rest.empty() ? rest.front() : call.after_dashes->front());
  const std::string name = o.application.empty() ? program : o.application;
  // Of a source another file is made elsewhere: it is known by its name alone.
  if (!rest.empty())
    for (GpuProcess& process : ran) process.program = {program, {}};
  const device::Device device = options::load_device(resolve(o.run.given)).device;
  const Source source{device, fmt::format("simtlab {} on simulated {}", version(), result.manifest.device)};
  corun::Profiles profiles;
  std::string text = fmt::format(
      "| application | kernel | launches | weight | {} |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      profile_columns);
  const std::vector<ProfiledProcess> processes = processes_of(result.kernels, ran);
  for (std::size_t i = 0; i < processes.size(); ++i)
    text += add_process(processes[i], i == 0 ? name : fmt::format("{}.{}", name, i + 1), source, profiles);
  Writing writing;
  writing([&] { save_profiles_beside(std::move(profiles), o.database); });
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  out.text = [text](const report::Style&) { return text; };
  return out;
}

Outcome run_on_board(ProfileRun& o, const Call& call) {
  const std::vector<std::string>& rest = call.rest;
  const std::optional<std::vector<std::string>>& after_dashes = call.after_dashes;
  if (!rest.empty() || !after_dashes || after_dashes->empty())
    throw Error(ExitCode::usage, "run-what", "on a board a program is run that is compiled already",
                "simtlab corun profile --device 0 --database FILE -- ./app ARGUMENTS");
  OutputOptions output = o.run.output;
  output.more.push_back({"--database", &o.database});
  check_outputs(output);
  return profile_on_board({*o.device, o.database, o.application, output, *after_dashes});
}

}  // namespace

// A text file is written whole: with what it has.
void save_profiles_beside(corun::Profiles profiles, const std::string& file) {
  const std::filesystem::path database = file;
  std::error_code ignored;
  if ((database.extension() == ".toml" || database.extension() == ".csv") &&
      std::filesystem::exists(database, ignored)) {
    corun::Profiles all = corun::load_profiles(database);
    for (const auto& [key, k] : profiles.kernels) all.add(k);
    for (const auto& [key, a] : profiles.applications) all.add(a);
    profiles = std::move(all);
  }
  corun::save_profiles(profiles, database);
}

void add_corun_profile(Command& corun) {
  Command* sub = corun.add_subcommand("profile",
                                      "Run an application on the simulated GPU, or on a board, and add its "
                                      "kernels to a database of profiles");
  const auto o = std::make_shared<ProfileRun>();
  sub->allow_extras();
  sub->takes_program();
  sub->embeds();
  sub->footer(
      "Forms: as simtlab run: app.cu [-- ARGUMENTS], -- ./app [ARGUMENTS], kernel.ptx --launch FILE; then "
      "simtlab corun --profiles FILE --mix A,B");
  std::optional<ReadBy> all(std::in_place, *sub, options::timed | options::Study::profile_board);
  sub->add_option("--database", o->database,
                  "Where the profiles go: .db or .sqlite (SQLite), .toml, .csv; what is there already stays")
      ->required()
      ->check(output_file())
      ->type_name("FILE");
  sub->add_option("--application", o->application, "The application's name (default: that of its file)")
      ->check(not_empty())
      ->type_name("NAME");
  all.reset();
  std::optional<ReadBy> board(std::in_place, *sub, options::Study::profile_board);
  sub->add_option("--device", o->device,
                  "Measure on a board: its number, or the beginning of its UUID (simtlab doctor lists them); "
                  "shapes, registers and times, no bandwidths")
      ->check(not_empty())
      ->type_name("N|UUID");
  board.reset();
  add_options(*sub, options::timed, o->run.given);
  {
    const ReadBy kernels(*sub, options::Study::time_kernel);
    add_kernel_options(*sub, o->run.kernel);
  }
  add_output_options(*sub, o->run.output);
  add_progress_option(*sub, o->run.output);
  sub->action([o](const Call& call) {
    refuse_unread(call.command, o->device ? options::Study::profile_board : study_of(o->run, call));
    return o->device ? run_on_board(*o, call) : profile(call, *o);
  });
}

}  // namespace simtlab::studies
