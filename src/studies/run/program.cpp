#include "studies/run/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/elf.h"
#include "base/error.h"
#include "base/files.h"
#include "base/pulse.h"
#include "base/shown.h"
#include "result/json.h"
#include "studies/common/host.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/relay.h"
#include "studies/common/signals.h"
#include "studies/common/simulated_environment.h"
#include "studies/common/temporary.h"
#include "studies/run/program_results.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

void check_startable(const fs::path& path) {
  struct stat info {};
  const std::string name = path.string();
  if (::stat(name.c_str(), &info) != 0)
    throw Error(ExitCode::bad_input, "program-missing", fmt::format("{}: {}", name, std::strerror(errno)),
                "give the path of an executable after --");
  if (S_ISDIR(info.st_mode))
    throw Error(ExitCode::bad_input, "program-missing", fmt::format("{} is a directory", name),
                "give the path of an executable after --");
  if (!S_ISREG(info.st_mode))  // opening a pipe would wait for its writer
    throw Error(ExitCode::bad_input, "program-missing", fmt::format("{} is no regular file", name),
                "give the path of an executable after --");
  if (::access(name.c_str(), X_OK) != 0)
    throw Error(ExitCode::bad_input, "program-permission", fmt::format("{} is not executable", name),
                "chmod +x it, or, for a source or a .ptx, leave out the --");
}

// Environment of the child as "NAME=value" strings.
std::vector<std::string> child_environment(const fs::path& config, const fs::path& result) {
  std::vector<EnvironmentVariable> ours = simulated_environment();
  ours.push_back({"SIMTLAB_RESULT", result.string()});
  ours.push_back({"SIMTLAB_RUN_CONFIG", config.string()});
  const auto is_ours = [&](std::string_view entry) {
    return std::ranges::any_of(ours,
                               [&](const EnvironmentVariable& v) { return entry.starts_with(v.name + "="); });
  };
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_ours(*entry)) out.emplace_back(*entry);
  for (const EnvironmentVariable& v : ours)
    if (v.value) out.push_back(v.name + "=" + *v.value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// What the child gets for its standard output and error; -1: ours.
struct Streams {
  int out = -1, err = -1;
  bool stdout_to_stderr = false, mute = false;
  bool of_a_caller = false;  // the signals are those of the program that called us
};

// In the child, before it becomes the program.
void take_streams(const Streams& streams) {
  if (streams.out >= 0) ::dup2(streams.out, STDOUT_FILENO);
  if (streams.err >= 0) ::dup2(streams.err, STDERR_FILENO);
  if (streams.stdout_to_stderr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!streams.mute) return;
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
    ::dup2(nowhere, STDOUT_FILENO);
}

// Starts the child; a pipe that exec closes tells whether it worked.
pid_t start(const fs::path& program, std::vector<std::string> command, std::vector<std::string> environment,
            const Streams& streams) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    throw Error(ExitCode::failure, "program-start", fmt::format("pipe: {}", std::strerror(errno)));
  const std::vector<char*> argv = pointers(command), envp = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // A simtlab that is killed outright must not leave its program running.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
    if (streams.of_a_caller) {
      // The thread that works for a caller leaves signals to the caller's own.
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
    }
    take_streams(streams);
    ::execve(program.c_str(), argv.data(), envp.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t ignored = ::write(report[1], &reason, sizeof reason);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(report[1]);
  int reason = 0;
  ssize_t got = 0;
  if (child > 0) do
      got = ::read(report[0], &reason, sizeof reason);
    while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (child < 0)
    throw Error(ExitCode::failure, "program-start",
                fmt::format("cannot start a process: {}", std::strerror(fork_error)));
  if (got == sizeof reason) {
    ::waitpid(child, nullptr, 0);
    throw Error(ExitCode::bad_input, "program-exec",
                fmt::format("{} cannot be executed: {}", program.string(), std::strerror(reason)),
                reason == ENOEXEC ? "is it an x86-64 executable, or a script with a #! line?" : "");
  }
  return child;
}

// Of a program that somebody else's program started through us: what it prints is theirs to look at, not to
// be mixed into what they print.
class Words {
 public:
  explicit Words(const fs::path& folder) : file_(folder / "words") {
    if (host() == nullptr) return;
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor_ < 0)
      throw Error(ExitCode::failure, "program-start",
                  fmt::format("{}: {}", file_.string(), std::strerror(errno)));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  void hand_over() const {
    if (descriptor_ < 0) return;
    constexpr std::uintmax_t most = 64u << 20;
    std::error_code ignored;
    const bool all = fs::file_size(file_, ignored) <= most;
    if (!all) fs::resize_file(file_, most, ignored);
    host()->add_message(read_file(file_, most, "what the program printed"));
    if (!all) host()->add_message("\n(cut off after 64 MiB)\n");
  }

 private:
  fs::path file_;
  int descriptor_ = -1;
};

// What became of a program, in words.
std::string ending(int status, const Signals& signals) {
  if (signals.timed_out()) return "stopped by the time limit";
  if (signals.interrupted()) return "interrupted";
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "done" : fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* search = std::getenv("PATH");
  std::string rest = search == nullptr ? "/usr/local/bin:/usr/bin:/bin" : search;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(end == 0 ? "." : rest.substr(0, end)) / name;
    rest.erase(0, end + 1);
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  std::error_code ignored;
  throw Error(
      ExitCode::bad_input, "program-missing", fmt::format("no program '{}' in PATH", name),
      fs::exists(name, ignored) ? fmt::format("did you mean ./{} ?", name) : "give its path after --");
}

ProgramResult run_program(const ProgramRun& run) {
  const fs::path program = find_program(run.command.front());
  check_startable(program);
  const ElfFacts facts = inspect_elf(program);
  check_cuda_linkage(facts, run.command.front());
  const TemporaryDirectory folder;
  const fs::path config = folder.path() / "run.json", result = folder.path() / "result.json";
  Relay relay(host() == nullptr && Progress::row_wanted(run.output));
  // Without a relay what it prints would be mixed with the row that is overwritten.
  const bool shares_terminal = !run.mute && !relay.possible();
  options::RunFile given = run.run;
  std::optional<PulseFile> pulse;
  if (Progress::wanted(run.output, shares_terminal)) {
    given.options.pulse = folder.path() / "pulse";
    pulse.emplace(given.options.pulse, PulseFile::Mode::create);
  }
  write_file_atomically(config, options::to_json(given));
  std::vector<std::string> environment = child_environment(config, result);
  narrate(run.output, 1,
          fmt::format("{} runs with the CUDA and OpenCL libraries of {}", shown(program.string()),
                      runtime_directory().string()));
  for (const std::string& e : environment)
    if (e.starts_with("SIMTLAB_") || e.starts_with("LD_LIBRARY_PATH=") || e.starts_with("OCL_ICD_VENDORS="))
      narrate(run.output, 2, "its environment: " + shown(e));

  const Words words(folder.path());
  const options::Options& options = given.options;
  Signals signals(options.max_time_s());
  Progress progress(options.mode == "predict" ? "predicting" : "simulating", run.output,
                    {pulse ? pulse->get() : nullptr, shares_terminal, run.device, options.mode});
  const bool of_a_caller = words.descriptor() >= 0;
  ProgramResult out;
  out.begun = fs::last_write_time(config);  // by the clock of files
  const pid_t child = start(program, run.command, std::move(environment),
                            {of_a_caller ? words.descriptor() : relay.in_place_of(STDOUT_FILENO),
                             of_a_caller ? words.descriptor() : relay.in_place_of(STDERR_FILENO),
                             run.stdout_to_stderr, run.mute, of_a_caller});
  signals.forward_to(child);
  relay.started(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  signals.forward_to(0);
  relay.ended();
  progress.end(ending(status, signals));
  words.hand_over();

  out.linked = facts.static_runtime != 0 || std::ranges::any_of(facts.needed, [](const std::string& name) {
                 return name.starts_with("libcudart.so") || name.starts_with("libcuda.so") ||
                        name.starts_with("libOpenCL.so");
               });
  out.interrupted = signals.interrupted();
  out.timed_out = signals.timed_out();
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  out.exit_status = out.signal != 0 ? 128 + out.signal : WEXITSTATUS(status);
  collect_results(result, out);
  out.result.manifest.program_exit_status = out.exit_status;
  return out;
}

}  // namespace simtlab::studies
