#include "compile/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

extern char** environ;

namespace simtlab::compile {
namespace {

constexpr std::size_t kCaptureLimit = std::size_t{16} << 20;

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string drain(int fd) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (text.size() < kCaptureLimit) text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

thread_local int messages_to = -1;  // see MessagesTo

}  // namespace

MessagesTo::MessagesTo(int descriptor) : before_(messages_to) {
  if (descriptor >= 0) messages_to = descriptor;
}
MessagesTo::~MessagesTo() { messages_to = before_; }

bool was_killed(const ProcessResult& result) {
  return result.status == 128 + SIGKILL || result.status == 128 + SIGXCPU;
}

ProcessResult run_process(const std::vector<std::string>& argv, Capture what, unsigned seconds) {
  const bool capture = what != Capture::none;
  SIMTLAB_ASSERT(!argv.empty(), "a process needs a program");
  std::vector<char*> pointers;
  for (const std::string& a : argv) pointers.push_back(const_cast<char*>(a.c_str()));
  pointers.push_back(nullptr);

  std::array<int, 2> ends{-1, -1};
  FileActions actions;
  if (capture) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ExitCode::failure, "process", std::string("cannot make a pipe: ") + std::strerror(errno));
    if (what != Capture::messages) posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
    if (what != Capture::output) posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDERR_FILENO);
  }
  if ((what == Capture::none || what == Capture::output) && messages_to >= 0)
    posix_spawn_file_actions_adddup2(actions.get(), messages_to, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, pointers[0], actions.get(), nullptr, pointers.data(), environ);
  if (capture) close(ends[1]);
  if (error != 0) {
    if (capture) close(ends[0]);
    throw Error(ExitCode::failure, "process", "cannot run " + argv[0] + ": " + std::strerror(error));
  }
  // Soft and hard: the kernel kills at once, and the process writes no report of a crash.
  const rlimit limit{seconds, seconds};
  if (seconds > 0) prlimit(pid, RLIMIT_CPU, &limit, nullptr);
  ProcessResult result;
  if (capture) {
    result.output = drain(ends[0]);
    close(ends[0]);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw Error(ExitCode::failure, "process", "lost the process " + argv[0]);
  }
  result.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return result;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string::npos) break;
    rest.erase(0, colon + 1);
  }
  return {};
}

}  // namespace simtlab::compile
