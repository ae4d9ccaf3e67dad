#include "studies/suite/step.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "studies/sweep/process.h"

extern char** environ;

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int look_every_ms = 20;
constexpr std::chrono::milliseconds look_at_all_every{250};
constexpr std::chrono::seconds patience{3};  // of a process that was asked to end
constexpr unsigned most_kills = 200;         // rounds, against a program that starts others all the time
constexpr std::uint64_t most_file_bytes = std::uint64_t{8} << 30;
constexpr const char* mark_name = "SIMTLAB_SUITE_STEP";

// Of this step alone: it is found again in /proc.
std::string new_mark() {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}={}-{}-{}", mark_name, ::getpid(), ++count,
                     std::chrono::system_clock::now().time_since_epoch().count());
}

bool has_name(std::string_view entry, std::string_view name) {
  return entry.starts_with(name) && (entry.size() == name.size() || entry[name.size()] == '=');
}

std::vector<std::string> environment_of(const Step& step, const std::string& mark) {
  std::vector<std::string> own = step.environment;
  own.push_back(mark);
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    const bool replaced = std::ranges::any_of(
        own, [&](std::string_view o) { return has_name(entry, o.substr(0, o.find('='))); });
    if (!replaced) out.emplace_back(entry);
  }
  for (std::string& o : own)
    if (o.find('=') != std::string::npos) out.push_back(std::move(o));
  return out;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The processes that carry the mark, whoever their parent is now.
std::vector<pid_t> marked(const std::string& mark) {
  std::vector<pid_t> out;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator("/proc", ignored)) {
    const std::string name = e.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
      continue;
    const std::string text = text_of(e.path() / "environ");
    if (text.find(mark + '\0') != std::string::npos || text.ends_with(mark)) out.push_back(pid);
  }
  return out;
}

std::uint64_t resident_bytes(const std::vector<pid_t>& pids) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t sum = 0;
  for (const pid_t pid : pids) {
    std::uint64_t total = 0, resident = 0, shared = 0;
    std::ifstream in(fmt::format("/proc/{}/statm", pid));
    if (in >> total >> resident >> shared) sum += (resident - std::min(shared, resident)) * page;
  }
  return sum;
}

std::uint64_t printed_bytes(const Step& step) {
  std::error_code ignored;
  const auto size = [&](const fs::path& file) {
    const std::uintmax_t bytes = fs::file_size(file, ignored);
    return ignored ? 0 : bytes;
  };
  return size(step.output) + (step.errors == step.output ? 0 : size(step.errors));
}

class Watch {
 public:
  Watch(const Step& step, const std::string& mark, const volatile bool* stop)
      : step_(step), mark_(mark), stop_(stop) {}

  StepEnd follow(studies::sweep::Process& process) {
    StepEnd out;
    Clock::time_point asked;
    while (!process.ended()) {
      pollfd p{process.descriptor(), POLLIN, 0};
      ::poll(&p, 1, look_every_ms);
      if (out.stopped == StepEnd::Stopped::no) {
        out.stopped = reason_to_stop();
        if (out.stopped == StepEnd::Stopped::no) continue;
        asked = Clock::now();
        process.signal_group(SIGTERM);
      } else if (Clock::now() > asked + patience) {
        process.signal_group(SIGKILL);
      }
    }
    out.status = process.status();
    out.seconds = seconds();
    return out;
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
  StepEnd::Stopped reason_to_stop() {
    if (stop_ != nullptr && *stop_) return StepEnd::Stopped::wish;
    if (seconds() > step_.seconds) return StepEnd::Stopped::time;
    if (Clock::now() < look_) return StepEnd::Stopped::no;
    look_ = Clock::now() + look_at_all_every;
    if (printed_bytes(step_) > step_.output_bytes) return StepEnd::Stopped::output;
    if (resident_bytes(marked(mark_)) > step_.memory_bytes) return StepEnd::Stopped::memory;
    return StepEnd::Stopped::no;
  }

  const Step& step_;
  const std::string& mark_;
  const volatile bool* stop_;
  Clock::time_point begun_ = Clock::now(), look_ = begun_ + look_at_all_every;
};

void end_all(const std::string& mark) {
  for (unsigned i = 0; i < most_kills; ++i) {
    const std::vector<pid_t> left = marked(mark);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(2000);
  }
}

}  // namespace

StepEnd run_step(const Step& step, const volatile bool* stop) {
  const std::string mark = new_mark();
  studies::sweep::Process::Start start;
  start.argv = step.argv;
  start.folder = step.folder.string();
  start.errors = step.errors;
  start.output = step.output;
  start.environment = environment_of(step, mark);
  start.most_file_bytes = most_file_bytes;
  StepEnd out;
  {
    studies::sweep::Process process(start);
    out = Watch(step, mark, stop).follow(process);
  }
  end_all(mark);
  return out;
}

}  // namespace simtlab::studies
