// simtlab corun exec: a program whose launches ask the daemon. simtlab becomes the program: signals, terminal
// and exit status are its own.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/elf.h"
#include "base/error.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "cli/commands/corun_daemon.h"
#include "corun/live/tally.h"
#include "corun/policy.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/common/simulated_environment.h"
#include "studies/corun/known.h"
#include "studies/run/program.h"

namespace simtlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t default_limit = 8;

struct ExecOptions {
  std::string policy, directory, gpu, mode;
  std::optional<std::uint32_t> limit;
  std::int32_t priority = 0;
  bool strict = false, quiet = false;
  double wait_limit = 0;
  std::vector<std::string> command;
};

fs::path self() { return fs::read_symlink("/proc/self/exe"); }

// A daemon of its own life: it ends when there has been no client for a while. Its directory's lock decides
// if two start one.
void start_daemon(const ExecOptions& o) {
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitCode::failure, "program-start",
                fmt::format("cannot start a daemon: {}", std::strerror(errno)));
  if (child == 0) {
    ::setsid();
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, fd);
    if (::fork() != 0) ::_exit(0);
    std::vector<std::string> words = {"simtlab",
                                      "corun",
                                      "serve",
                                      "--policy",
                                      o.policy,
                                      "--limit",
                                      std::to_string(o.limit.value_or(default_limit)),
                                      "--linger",
                                      "10"};
    if (!o.directory.empty()) words.insert(words.end(), {"--directory", o.directory});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(self().c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  for (int i = 0; i < 200 && !daemon_in(o.directory); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
}

// A daemon with other settings than those that were asked for is refused: they would have no effect.
corun::live::Totals find_daemon(const ExecOptions& o) {
  if (!o.policy.empty()) static_cast<void>(corun::policy(o.policy));  // the name, before anything is started
  if (!o.policy.empty() && !daemon_in(o.directory)) {
    start_daemon(o);
    if (!daemon_in(o.directory))
      throw Error(ExitCode::unavailable, "corun-daemon", "the daemon did not start",
                  "simtlab corun serve says why");
  }
  const corun::live::Totals runs = DaemonLink(o.directory).stats().totals;
  if (!o.policy.empty() && runs.policy != o.policy)
    throw Error(ExitCode::usage, "corun-policy",
                fmt::format("the daemon that runs has the policy {}, not {}", runs.policy, o.policy),
                "leave out --policy, change it (simtlab corun set --policy), or give another --directory");
  if (o.limit && runs.limit != *o.limit)
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("the daemon that runs has a limit of {}, not {}", runs.limit, *o.limit),
                "leave out --limit, change it (simtlab corun set --limit), or give another --directory");
  if (o.priority != 0 && !corun::looks_at(corun::policy(runs.policy), "--priority"))
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("--priority has no effect under the daemon's policy {}", runs.policy),
                "simtlab corun set --policy priority");
  return runs;
}

// Without profiles a policy may do nothing of what its name says.
void note_unknown(const corun::live::Totals& daemon) {
  const corun::Policy* policy = corun::find_policy(daemon.policy);
  if (policy == nullptr || daemon.profiles != 0 || daemon.learns) return;
  if (const std::string text = without_profiles(*policy); !text.empty())
    talk(fmt::format("note: {}\n", text));
}

fs::path preload_library() {
  std::error_code ignored;
  for (const char* relative : {"../lib/simtlab", "../lib"})
    if (const fs::path file = (self().parent_path() / relative / "libsimtlab_corun.so").lexically_normal();
        fs::exists(file, ignored))
      return file;
  throw Error(ExitCode::failure, "runtime-missing",
              fmt::format("libsimtlab_corun.so of simtlab is not beside {}", self().parent_path().string()),
              "install or build simtlab completely (./dev build)");
}

void before(const char* name, const std::string& value, char separator) {
  const char* old = std::getenv(name);
  ::setenv(name, old != nullptr && *old != '\0' ? (value + separator + old).c_str() : value.c_str(), 1);
}

// On a board a runtime that is linked in statically asks the driver for its functions where the gate stands;
// on a simulated GPU ours takes its place.
void check_linkage(const fs::path& program, const std::string& name, bool simulated) {
  const ElfFacts facts = inspect_elf(program);
  if (simulated) check_cuda_linkage(facts, name);
  if (facts.is_elf && !facts.has_interpreter)
    throw Error(ExitCode::unsupported, "program-static",
                fmt::format("{} is linked statically altogether: nothing can be loaded before it, so none of "
                            "its launches would be gated",
                            name),
                "link it dynamically");
}

// Of the simulated GPU that programs shall find in the place of CUDA's and OpenCL's.
void set_simulated(const std::string& gpu, const std::string& mode) {
  std::error_code ignored;
  for (const EnvironmentVariable& v : simulated_environment())
    v.value ? ::setenv(v.name.c_str(), v.value->c_str(), 1) : ::unsetenv(v.name.c_str());
  ::setenv("SIMTLAB_GPU", (gpu.ends_with(".toml") ? fs::absolute(gpu, ignored) : fs::path(gpu)).c_str(), 1);
  if (!mode.empty()) before("SIMTLAB_SET", "mode=" + mode, ';');
}

int exec(const ExecOptions& o) {
  if (o.command.empty())
    throw Error(ExitCode::usage, "run-what", "no program to run", "simtlab corun exec -- ./app ARGUMENTS");
  if (!(o.wait_limit >= 0) || o.wait_limit > 1e9)
    throw Error(ExitCode::usage, "corun-options", fmt::format("--wait-limit {:g} is no time", o.wait_limit),
                "seconds; 0: no limit");
  if (o.gpu.empty() && !o.mode.empty())
    throw Error(ExitCode::usage, "corun-options", "--mode is of the simulated GPU",
                "give it with --gpu NAME");
  const fs::path program = find_program(o.command.front());
  const fs::path library = preload_library();
  const corun::live::Totals daemon = find_daemon(o);
  const std::string& shared_gpu = daemon.device;
  if (!shared_gpu.empty() && !o.gpu.empty())
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("the daemon has a GPU of its own, {}", shared_gpu), "leave out --gpu");
  const std::string gpu = shared_gpu.empty() ? o.gpu : shared_gpu;
  check_linkage(program, o.command.front(), !gpu.empty());
  ::setenv("SIMTLAB_CORUN_DEVICE", shared_gpu.empty() ? "0" : "1", 1);
  before("LD_PRELOAD", library.string(), ':');
  if (!gpu.empty()) set_simulated(gpu, o.mode);
  std::error_code ignored;
  if (!o.directory.empty()) ::setenv("SIMTLAB_CORUN_DIR", fs::absolute(o.directory, ignored).c_str(), 1);
  ::setenv("SIMTLAB_CORUN_STRICT", o.strict ? "1" : "0", 1);
  ::setenv("SIMTLAB_CORUN_WAIT_LIMIT_MS",
           std::to_string(static_cast<std::uint64_t>(o.wait_limit * 1000)).c_str(), 1);
  const fs::path folder = o.directory.empty() ? corun::live::default_directory() : fs::path(o.directory);
  const fs::path tally = corun::live::Tally::make(folder, !gpu.empty(), o.quiet);
  ::setenv(corun::live::Tally::variable, tally.c_str(), 1);
  if (o.priority != 0)
    ::setenv("SIMTLAB_CORUN_PRIORITY", std::to_string(o.priority).c_str(), 1);
  else
    ::unsetenv("SIMTLAB_CORUN_PRIORITY");
  if (!o.quiet) note_unknown(daemon);
  std::signal(SIGPIPE, SIG_DFL);
  std::vector<std::string> words = o.command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  const int reason = errno;
  ::unlink(tally.c_str());
  errno = reason;
  throw Error(ExitCode::bad_input, "program-exec",
              fmt::format("{} cannot be executed: {}", shown(program.string()), std::strerror(errno)),
              "give the path of an executable after --");
}

}  // namespace

void add_corun_exec(Command& corun) {
  Command* sub = corun.add_subcommand("exec", "Run a CUDA program whose launches ask the daemon");
  const auto o = std::make_shared<ExecOptions>();
  sub->add_option("--policy", o->policy,
                  "The daemon's policy; one is started if none runs, and ends 10 s after its last client")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--limit", o->limit,
                  "Of a daemon that is started: launches at a time (default 8); one that runs must have it")
      ->check(in_range(1, 65536))
      ->type_name("N");
  sub->add_option("--directory", o->directory, "Where the daemon's socket is")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--gpu", o->gpu,
                  "On simtlab's libcudart and this simulated GPU, instead of the machine's CUDA")
      ->check(not_empty())
      ->type_name("NAME|FILE");
  sub->add_option("--mode", o->mode, "Of the simulated GPU: timing (default) or functional")
      ->check(one_of({"timing", "functional"}))
      ->type_name("MODE");
  sub->add_flag("--strict", o->strict, "Without the daemon launches wait, instead of going ungated");
  sub->add_option("--wait-limit", o->wait_limit,
                  "A launch that waits longer goes ungated (default: no limit)")
      ->type_name("SECONDS");
  sub->add_option(
         "--priority", o->priority,
         "Under the policy priority: above 0 the program is served first, the highest foremost (default 0)")
      ->type_name("N");
  sub->add_flag(
      "-q,--quiet", o->quiet,
      "Not a word of what the daemon's policy does not know, nor at the end if every launch was gated");
  sub->footer("Form: simtlab corun exec --policy shark -- ./app ARGUMENTS");
  sub->takes_program();
  sub->action([o](const Call& call) {
    if (call.after_dashes) o->command = *call.after_dashes;
    return exec(*o);
  });
}

}  // namespace simtlab::cli
