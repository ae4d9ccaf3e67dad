#include "studies/sweep/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/shown.h"

extern char** environ;

namespace simtlab::studies::sweep {
namespace {

constexpr std::size_t most_output = std::size_t{1} << 20;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& w : words) out.push_back(const_cast<char*>(w.c_str()));
  out.push_back(nullptr);
  return out;
}

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const Process::Start& start, char* const* argv, char* const* environment,
                         const char* errors, pid_t parent, int failed) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it ended before that was said
  for (const int s : {SIGINT, SIGTERM, SIGPIPE, SIGALRM}) ::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDWR);
  const int text = ::open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  int output = nothing;
  if (start.output == start.errors)
    output = text;
  else if (!start.output.empty())
    output = ::open(start.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  int error = nothing < 0 || text < 0 || output < 0 ? errno : 0;
  if (error == 0) {
    ::dup2(nothing, STDIN_FILENO), ::dup2(output, STDOUT_FILENO), ::dup2(text, STDERR_FILENO);
    for (const int done : {nothing, text, output})
      if (done > 2) ::close(done);
    if (start.most_file_bytes > 0) {
      const rlimit most{start.most_file_bytes, start.most_file_bytes};
      ::setrlimit(RLIMIT_FSIZE, &most);
    }
    if (start.kept_open >= 0) ::fcntl(start.kept_open, F_SETFD, 0);
    if (::chdir(start.folder.c_str()) != 0) error = errno;
  }
  if (error == 0) {
    ::execve(argv[0], argv, environment);
    error = errno;
  }
  [[maybe_unused]] const ssize_t n = ::write(failed, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Process::Process(const Start& start) {
  const std::vector<char*> argv = pointers_to(start.argv);
  const std::vector<char*> variables = pointers_to(start.environment);
  char* const* const environment = start.environment.empty() ? environ : variables.data();
  const std::string errors = start.errors.string();
  std::array<int, 2> failed{-1, -1};
  const auto refuse = [&](const char* what, int error) {
    throw Error(ExitCode::failure, "process",
                fmt::format("{} {}: {}", what, shown(start.argv.front()), std::strerror(error)),
                "the limits of processes and open files (ulimit -u, -n), the folder, the program");
  };
  if (::pipe2(failed.data(), O_CLOEXEC) != 0) refuse("no pipe for", errno);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  const int error = errno;
  if (pid_ == 0) become(start, argv.data(), environment, errors.c_str(), parent, failed[1]);
  ::close(failed[1]);
  if (pid_ < 0) {
    ::close(failed[0]);
    refuse("cannot start", error);
  }
  ::setpgid(pid_, pid_);
  int reason = 0;
  ssize_t got = 0;
  do got = ::read(failed[0], &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  ::close(failed[0]);
  if (got == static_cast<ssize_t>(sizeof reason)) {
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    refuse("cannot run", reason);
  }
  descriptor_ =
      static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)) /* sys/pidfd.h of glibc 2.36 has no C linkage */;
  if (descriptor_ < 0) {
    const int why = errno;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    refuse("cannot watch", why);
  }
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(number == SIGKILL ? -pid_ : pid_, number);
}

void Process::signal_group(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

bool Process::ended() {
  if (pid_ < 0) return true;
  int status = 0;
  const pid_t gone = ::waitpid(pid_, &status, WNOHANG);
  if (gone != pid_) return false;
  ::kill(-pid_, SIGKILL);  // what it left behind
  pid_ = -1;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

Finished run_program(const std::vector<std::string>& argv, bool with_errors) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ExitCode::failure, "process", fmt::format("no pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (with_errors)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::vector<char*> words = pointers_to(argv);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    throw Error(ExitCode::unavailable, "sweep-slurm",
                fmt::format("cannot run {}: {}", shown(argv.front()), std::strerror(error)),
                "Slurm's commands must be in PATH (Debian: slurm-client)");
  }
  Finished out;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(ends[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (out.output.size() < most_output) out.output.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

std::string end_of_file(const std::filesystem::path& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, in.tellg()));
  std::string out(std::min(size, most), '\0');
  in.seekg(static_cast<std::streamoff>(size - out.size()));
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  utsname host{};
  ::uname(&host);
  return host.nodename;
}

}  // namespace simtlab::studies::sweep
