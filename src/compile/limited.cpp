#include "compile/limited.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/error.h"

extern char** environ;

namespace simtlab::compile {
namespace {

constexpr std::size_t kept_errors = 2000;
constexpr rlim_t most_file_bytes = rlim_t{8} << 30;

void limit(int what, rlim_t most) {
  const rlimit r{most, most};
  setrlimit(static_cast<__rlimit_resource>(what), &r);
}

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const LimitedRun& run, char* const* argv, char* const* environment, int errors,
                         int failed) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a simtlab that is interrupted
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(run.seconds)) + 1);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, most_file_bytes);
  if (run.memory_bytes > 0) limit(RLIMIT_AS, run.memory_bytes);
  int error = 0;
  if (chdir(run.folder.c_str()) != 0) error = errno;
  if (error == 0) {
    execve(argv[0], argv, environment);
    error = errno;
  }
  [[maybe_unused]] const ssize_t n = write(failed, &error, sizeof error);
  _exit(127);
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw Error(ExitCode::failure, "process", std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  ~Pipe() {
    close_write();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Reads until the program has gone; kills it and all of its group when the time is over.
void follow(pid_t child, int fd, double seconds, LimitedResult& out) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::array<char, 4096> buffer;
  for (int status = 0;;) {
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, 20) > 0) {
      const ssize_t n = read(fd, buffer.data(), buffer.size());
      if (n > 0) out.errors.append(buffer.data(), static_cast<std::size_t>(n));
      if (out.errors.size() > 2 * kept_errors) out.errors.erase(0, out.errors.size() - kept_errors);
      if (n == 0) usleep(2000);  // it closed stderr and goes on
    }
    const pid_t gone = waitpid(child, &status, WNOHANG);
    if (gone == child) {
      out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    if (!out.timed_out && std::chrono::steady_clock::now() > end) {
      out.timed_out = true;
      kill(-child, SIGKILL);
    }
  }
  kill(-child, SIGKILL);                                // what it left behind
  for (pollfd p{fd, POLLIN, 0}; poll(&p, 1, 0) > 0;) {  // its last words
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0) break;
    out.errors.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

LimitedResult run_limited(const LimitedRun& run) {
  std::vector<std::string> words;
  for (char** e = environ; *e != nullptr; ++e) words.emplace_back(*e);
  for (const auto& [name, value] : run.environment) words.push_back(name + "=" + value);
  std::vector<char*> argv, environment;
  for (const std::string& a : run.argv) argv.push_back(const_cast<char*>(a.c_str()));
  for (std::string& e : words) environment.push_back(e.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);

  Pipe errors, failed;
  const pid_t child = fork();
  if (child < 0)
    throw Error(ExitCode::failure, "process", std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(run, argv.data(), environment.data(), errors.write_end(), failed.write_end());
  setpgid(child, child);
  errors.close_write();
  failed.close_write();
  LimitedResult out;
  int error = 0;
  if (read(failed.read_end(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    waitpid(child, nullptr, 0);
    throw Error(ExitCode::failure, "process", "cannot run " + run.argv.front() + ": " + std::strerror(error));
  }
  follow(child, errors.read_end(), run.seconds, out);
  if (out.errors.size() > kept_errors) out.errors.erase(0, out.errors.size() - kept_errors);
  return out;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) out.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0)
    throw Error(ExitCode::usage, "option-value", "a quotation mark is not closed: " + text,
                "close it, or write a backslash before it");
  if (in_word) out.push_back(word);
  return out;
}

}  // namespace simtlab::compile
