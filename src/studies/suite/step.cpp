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
#include <optional>
#include <sstream>

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

// A process without an environment: it was given none, or it is between its old image and its new one.
struct Bare {
  pid_t process;
  std::string begin, end;  // of its environment's memory

  bool operator==(const Bare&) const = default;
};

// None of a process that ended or of a thread of the kernel: they have no memory.
std::optional<Bare> bare(pid_t pid, const fs::path& process) {
  std::uint64_t pages = 0;
  if (!(std::ifstream(process / "statm") >> pages) || pages == 0) return std::nullopt;
  // The environment's bounds are the two fields before the last one (proc(5)).
  std::istringstream stat(text_of(process / "stat"));
  std::vector<std::string> fields{std::istream_iterator<std::string>(stat), {}};
  if (fields.size() < 3) return std::nullopt;
  return Bare{pid, *(fields.end() - 3), *(fields.end() - 2)};
}

// What `now` is bare for good: its bounds say so, and said so before, too.
bool given_none(const Bare& now, const std::vector<Bare>& before) {
  return now.begin == now.end && now.end != "0" && std::ranges::find(before, now) != before.end();
}

struct Marked {
  std::vector<pid_t> processes;
  std::vector<Bare> bare;
};

// The processes that carry the mark, whoever their parent is now.
Marked marked(const std::string& mark) {
  Marked out;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator("/proc", ignored)) {
    const std::string name = e.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
      continue;
    std::ifstream in(e.path() / "environ", std::ios::binary);
    if (!in) continue;
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.find(mark + '\0') != std::string::npos || text.ends_with(mark))
      out.processes.push_back(pid);
    else if (std::optional<Bare> b = text.empty() ? bare(pid, e.path()) : std::nullopt)
      out.bare.push_back(std::move(*b));
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
    if (resident_bytes(marked(mark_).processes) > step_.memory_bytes) return StepEnd::Stopped::memory;
    return StepEnd::Stopped::no;
  }

  const Step& step_;
  const std::string& mark_;
  const volatile bool* stop_;
  Clock::time_point begun_ = Clock::now(), look_ = begun_ + look_at_all_every;
};

void end_all(const std::string& mark) {
  std::vector<Bare> before;
  for (unsigned i = 0; i < most_kills; ++i) {
    Marked left = marked(mark);
    const auto known = [&](const Bare& b) { return given_none(b, before); };
    if (left.processes.empty() && std::ranges::all_of(left.bare, known)) return;
    for (const pid_t pid : left.processes) ::kill(pid, SIGKILL);
    before = std::move(left.bare);
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
