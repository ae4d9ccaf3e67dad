#include "studies/corun/live_mixes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/program_identity.h"
#include "base/shown.h"
#include "corun/fast_host.h"
#include "corun/launch_shape.h"
#include "corun/live/clock.h"
#include "corun/live/server.h"
#include "studies/common/temporary.h"
#include "studies/corun/known.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t no_limit = 65536;

// A program of the mix, in a process group of its own, by which its processes are told from the others'.
struct Child {
  const corun::cycle::Described* application = nullptr;
  pid_t pid = 0;
  std::optional<int> status;
  std::uint64_t began_ns = 0, ended_ns = 0;
};

// `simtlab corun exec` becomes the program. Strict: a launch that went ungated would not be seen.
void start(Child& child, std::int32_t priority, const fs::path& directory, bool quiet) {
  std::vector<std::string> words = {"simtlab",     "corun",           "exec", "--strict", "--quiet",
                                    "--directory", directory.string()};
  if (priority != 0) words.insert(words.end(), {"--priority", std::to_string(priority)});
  words.insert(words.end(), {"--", fs::absolute(child.application->file).string()});
  words.insert(words.end(), child.application->arguments.begin(), child.application->arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  child.began_ns = corun::live::clock_ns();
  child.pid = ::fork();
  if (child.pid < 0)
    throw Error(ExitCode::failure, "program-start",
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child.pid != 0) {
    ::setpgid(child.pid, child.pid);  // both do it: who comes first
    return;
  }
  ::setpgid(0, 0);
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(quiet ? nowhere : STDERR_FILENO, STDOUT_FILENO);
  ::execv(self.c_str(), argv.data());
  ::_exit(127);
}

class Children {
 public:
  explicit Children(std::size_t count) : all(count) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (Child& c : all)
      if (c.pid > 0 && !c.status) ::kill(-c.pid, SIGKILL), ::waitpid(c.pid, nullptr, 0);
  }
  bool look() {
    bool ended = true;
    for (Child& c : all) {
      int word = 0;
      if (!c.status && ::waitpid(c.pid, &word, WNOHANG) == c.pid)
        c.status = word, c.ended_ns = corun::live::clock_ns();
      ended = ended && c.status.has_value();
    }
    return ended;
  }
  std::vector<Child> all;
};

void check_statuses(const Children& children) {
  for (const Child& c : children.all) {
    const std::string who =
        fmt::format("application {} ({})", shown(c.application->name), shown(c.application->file.string()));
    if (WIFSIGNALED(*c.status))
      throw Error(ExitCode::program_failed, "program-exit",
                  fmt::format("{} was ended by signal {} ({})", who, WTERMSIG(*c.status),
                              ::strsignal(WTERMSIG(*c.status))),
                  "a mix is judged only if all of its programs did their work");
    if (WEXITSTATUS(*c.status) != 0)
      throw Error(ExitCode::program_failed, "program-exit",
                  fmt::format("{} ended with status {}", who, WEXITSTATUS(*c.status)),
                  "a mix is judged only if all of its programs did their work");
  }
}

std::string kernel_name(const corun::live::Core::Span& span) {
  return fmt::format("{} {}", span.kernel, corun::text_of(span.shape));
}

}  // namespace

LiveMixes::LiveMixes(const fs::path& applications, LiveMixOptions options)
    : file_(applications),
      applications_(corun::cycle::load_applications(applications)),
      options_(std::move(options)) {
  for (const corun::cycle::Described& a : applications_)
    if (a.is_trace() || a.is_kernel() || a.file.extension() == ".cu" || a.iterations != 1 || a.gap_ns != 0)
      throw Error(ExitCode::bad_input, "corun-applications",
                  fmt::format("{}: application {} is no program that runs as it is", shown(file_.string()),
                              shown(a.name)),
                  "run = an executable, with arguments; simtlab build app.cu -o app makes one");
}

std::vector<std::string> LiveMixes::names() const { return corun::cycle::names_of(applications_); }

const corun::cycle::Described& LiveMixes::find(const std::string& name) const {
  return corun::cycle::named(applications_, name, file_);
}

LiveMixes::Together LiveMixes::run(const std::vector<std::string>& mix,
                                   const std::vector<std::int32_t>& priorities, const corun::Policy& policy,
                                   const corun::HostOptions& options) const {
  const TemporaryDirectory folder;
  std::map<pid_t, pid_t> group_of;  // of each process that asks for launches
  corun::live::ServerOptions server_options;
  server_options.directory = folder.path() / "run";
  server_options.clients_sleep = options_.device.has_value();
  server_options.identify = [&](std::int32_t pid, const std::string&) {
    group_of[pid] = ::getpgid(pid);
    return identity_of_process(pid);
  };
  KnownKernels known(policy, options_.profiles);
  server_options.find_profile = known.find();
  corun::live::Server server(policy, options.settings, server_options);
  Together out;
  out.programs.resize(mix.size());
  if (options.log) {
    options.log("simtlab-corun 1"), options.log(corun::policy_line(policy, options.settings));
    server.core().on_decision = options.log;
  }
  Children children(mix.size());
  server.core().on_span = [&](const corun::live::Core::Span& span) {
    const auto group = group_of.find(span.pid);
    const auto child = group == group_of.end() ? children.all.end()
                                               : std::ranges::find(children.all, group->second, &Child::pid);
    if (child == children.all.end()) return;  // its process group is its own: not seen as part of the mix
    const auto program = static_cast<std::size_t>(child - children.all.begin());
    Ran& ran = out.programs[program];
    const std::uint64_t asked = span.on_device ? span.device_asked_ns : span.asked_ns,
                        granted = span.on_device ? span.device_begin_ns : span.granted_ns,
                        ended = span.on_device ? span.device_end_ns : span.ended_ns;
    if (span.lost) return;
    const auto gpu = static_cast<double>(span.gpu_ns), waited = static_cast<double>(granted - asked);
    if (ran.launches++ == 0) ran.began_ns = static_cast<double>(asked);
    ran.ended_ns = std::max(ran.ended_ns, static_cast<double>(ended));
    ran.gpu_ns += gpu, ran.waited_ns += waited;
    ran.longest_wait_ns = std::max(ran.longest_wait_ns, waited);
    const std::string kernel = kernel_name(span);
    Ran::Kernel& k = ran.kernels[kernel];
    ++k.launches, k.gpu_ns += gpu, k.waited_ns += waited;
    if (out.launches.size() < options.launches)
      out.launches.push_back({program, kernel, asked, granted, ended});
  };
  std::optional<SharedDevice> device;
  if (options_.device) device.emplace(*options_.device, server_options.directory, server.core());
  for (std::size_t i = 0; i < mix.size(); ++i) {
    children.all[i].application = &find(mix[i]);
    start(children.all[i], priorities[i], server_options.directory, options_.quiet);
  }
  server.run([&] {
    if ((options_.stop != nullptr && *options_.stop) || (device && device->failed())) return true;
    // A connection ends a moment before its process does.
    for (int i = 0; i < (server.core().clients() == 0 ? 20 : 1); ++i) {
      if (i != 0) ::usleep(1000);
      if (children.look()) return server.core().clients() == 0;
    }
    return false;
  });
  if (options_.stop != nullptr && *options_.stop)
    throw Error(ExitCode::interrupted, "interrupted", "stopped before all mixes had run");
  if (device && device->failed())
    throw Error(ExitCode::failure, "corun-device", "the shared simulated GPU ended early");
  check_statuses(children);
  for (std::size_t i = 0; i < mix.size(); ++i) {
    Ran& ran = out.programs[i];
    if (ran.launches == 0)
      throw Error(ExitCode::bad_input, "corun-applications",
                  fmt::format("application {} launched no kernel that was gated", shown(mix[i])),
                  "simtlab corun exec says why (docs/guide/corun-live.md)");
    // On a board what its user feels: the whole process.
    if (!options_.device)
      ran.began_ns = static_cast<double>(children.all[i].began_ns),
      ran.ended_ns = static_cast<double>(children.all[i].ended_ns);
  }
  return out;
}

void LiveMixes::check_names(const std::vector<std::vector<std::string>>& mixes) const {
  for (const std::vector<std::string>& mix : mixes)
    for (const std::string& name : mix) find(name);
}

void LiveMixes::run_alone(const std::vector<std::vector<std::string>>& mixes, CorunStudy& study) {
  for (const std::vector<std::string>& mix : mixes)
    for (const std::string& name : mix) {
      if (alone_.contains(name)) continue;
      corun::HostOptions options;
      options.settings.limit = no_limit;
      alone_.emplace(name, run({name}, {0}, corun::policy("mps"), options).programs.front());
    }
  study.workloads = [](const std::vector<std::string>& mix) {
    std::vector<corun::Workload> out;
    for (const std::string& name : mix) out.emplace_back().name = name;
    return out;
  };
  study.host = [this](std::span<const corun::Workload> mix, const corun::Policy& policy,
                      const corun::HostOptions& options) { return run_mix(mix, policy, options); };
}

corun::MixResult LiveMixes::run_mix(std::span<const corun::Workload> mix, const corun::Policy& policy,
                                    const corun::HostOptions& options) const {
  std::vector<std::string> names;
  std::vector<std::int32_t> priorities;
  const bool by_priority = policy.name == "priority";
  for (const corun::Workload& w : mix)
    names.push_back(w.name), priorities.push_back(by_priority ? w.priority : 0);
  const Together together = run(names, priorities, policy, options);
  corun::MixResult out;
  double began = together.programs.front().began_ns, ended = 0;
  std::vector<std::map<std::string, std::size_t>> kernels(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Ran &ran = together.programs[i], &alone = alone_.at(names[i]);
    corun::ApplicationResult& a = out.applications.emplace_back();
    a.name = names[i];
    a.launches = ran.launches;
    a.gpu_ns = ran.gpu_ns, a.solo_ns = std::max(1.0, alone.gpu_ns);
    a.turnaround_ns = ran.ended_ns - ran.began_ns,
    a.alone_ns = std::max(1.0, alone.ended_ns - alone.began_ns);
    a.waited_ns = ran.waited_ns, a.longest_wait_ns = ran.longest_wait_ns;
    for (const auto& [name, k] : ran.kernels) {
      kernels[i].emplace(name, a.kernels.size());
      const auto one = alone.kernels.find(name);
      const double mean = one == alone.kernels.end() || one->second.launches == 0
                              ? 0
                              : one->second.gpu_ns / static_cast<double>(one->second.launches);
      a.kernels.push_back(
          {name, k.launches, mean * static_cast<double>(k.launches), k.gpu_ns, k.waited_ns, {}, {}});
    }
    began = std::min(began, ran.began_ns), ended = std::max(ended, ran.ended_ns);
  }
  out.makespan_ns = ended - began;
  for (const Together::Launch& l : together.launches)
    out.launches.push_back({l.program, kernels[l.program].at(l.kernel), l.asked, l.granted, l.ended});
  return out;
}

}  // namespace simtlab::studies
