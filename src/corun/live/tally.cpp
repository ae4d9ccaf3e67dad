#include "corun/live/tally.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.h"
#include "gpu/shared/socket.h"

namespace simtlab::corun::live {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_prefix = "tally-";

struct Reason {
  const char* text;
  const char* hint;
};
constexpr Reason reasons[ungated_reasons] = {
    {"SIMTLAB_CORUN=off is in its environment", "unset it"},
    {"no daemon answered", "start simtlab corun serve, or let launches wait for it: exec --strict"},
    {"they waited longer than --wait-limit", "give a longer one, or the daemon a higher --limit"},
    {"the stream could not say whether it is being captured",
     "the program's own calls on that stream fail, too"},
    {"a cooperative launch over several devices is not gated", "launch on each device by itself"},
    {"launches of OpenCL are not gated", "use CUDA, or give the daemon fewer other programs meanwhile"},
    {"the calls failed: no loaded library has the function", "load libcudart or libcuda before the call"},
};

struct Seen {
  Tally::Sight sight;
  const char* text;
};
constexpr Seen on_board[] = {
    {Tally::static_runtime,
     "the CUDA runtime is linked in statically and no launch of it was seen: if there were any, they were "
     "not gated"},
    {Tally::second_library,
     "functions of a second CUDA library were asked for by dlsym: its launches are neither gated nor "
     "counted"},
    {Tally::own_scope,
     "a library was opened with RTLD_DEEPBIND or in a namespace of its own: its launches are neither gated "
     "nor counted"},
    {Tally::bare_child,
     "it started a program without the gate, whose LD_PRELOAD it removed: nothing is known of its launches"},
};
constexpr const char* static_on_simulated =
    "a CUDA runtime is linked into a library: it does not use the simulated GPU; link it with nvcc -cudart "
    "shared";

int standard_error = STDERR_FILENO;

// No lock, no memory: also from a signal handler.
[[gnu::format(printf, 1, 2)]] void write_line(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length <= 0) return;
  [[maybe_unused]] const ssize_t n =
      ::write(standard_error, text, std::min(static_cast<std::size_t>(length), sizeof text - 1));
}

bool alive(pid_t process) { return process > 0 && (::kill(process, 0) == 0 || errno == EPERM); }

// Of processes that were killed, so that they said nothing.
void remove_old(const fs::path& directory) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(file_prefix)) continue;
    pid_t process = 0;
    const char* const end = name.data() + name.size();
    const bool number =
        std::from_chars(name.data() + file_prefix.size(), end, process).ptr == end && process > 0;
    if (number && !alive(process)) fs::remove(entry.path(), error);
  }
}

}  // namespace

fs::path Tally::make(const fs::path& directory, bool simulated, bool quiet) {
  const gpu::shared::Descriptor folder = gpu::shared::open_directory(directory, false);
  remove_old(directory);
  const std::string name = fmt::format("{}{}", file_prefix, ::getpid());
  ::unlinkat(folder.get(), name.c_str(), 0);
  const gpu::shared::Descriptor file(
      ::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  void* const memory = file && ::ftruncate(file.get(), sizeof(Page)) == 0
                           ? ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)
                           : MAP_FAILED;
  if (memory == MAP_FAILED)
    throw Error(ExitCode::unavailable, "corun-directory",
                fmt::format("{}: a file for the counts: {}", directory.string(), std::strerror(errno)),
                "it needs room for 64 KiB");
  auto* const page = static_cast<Page*>(memory);  // new files are zero: no record is used
  page->magic = magic;
  page->simulated = simulated ? 1 : 0;
  page->quiet = quiet ? 1 : 0;
  page->root = ::getpid();
  ::munmap(memory, sizeof(Page));
  return fs::absolute(directory) / name;
}

Tally::Tally(const char* path) : named_(path != nullptr), process_(::getpid()) {
  if (path == nullptr || std::strlen(path) >= sizeof path_) return;
  const gpu::shared::Descriptor file(::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || facts.st_uid != ::geteuid() ||
      facts.st_size != static_cast<off_t>(sizeof(Page)))
    return;
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return;
  if (static_cast<Page*>(memory)->magic != magic) {
    ::munmap(memory, sizeof(Page));
    return;
  }
  page_ = static_cast<Page*>(memory);
  std::memcpy(path_, path, std::strlen(path));
  if (page_->root == process_) keep_standard_error();
}

void Tally::keep_standard_error() {
  constexpr int beyond = 100;  // numbers below are the program's to count on
  struct stat facts {};
  error_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, beyond);
  if (error_ < 0 || ::fstat(error_, &facts) != 0) return;
  error_device_ = facts.st_dev, error_file_ = facts.st_ino;
}

bool Tally::has_standard_error() const {
  struct stat facts {};
  return error_ >= 0 && ::fstat(error_, &facts) == 0 && facts.st_dev == error_device_ &&
         facts.st_ino == error_file_;
}

// Two threads at once may take two; one of them then stays empty.
Tally::Record& Tally::claim() {
  Record* mine = &alone_;
  if (page_ != nullptr) mine = &page_->records[std::min(page_->used.fetch_add(1), most_records - 1)];
  Record* expected = nullptr;
  if (!record_.compare_exchange_strong(expected, mine)) return *expected;
  mine->process.store(process_.load());
  std::strncpy(mine->program, program_invocation_short_name, sizeof mine->program - 1);
  for (char& c : mine->program)
    if (c != '\0' && (c < ' ' || c > '~')) c = '?';
  return *mine;
}

void Tally::after_fork_in_child() {
  process_.store(::getpid());
  new (&alone_) Record{};
  record_.store(nullptr);
  ended_.store(false);
  if (has_standard_error())
    ::close(error_);  // one that goes on in the background shall not hold the terminal
  error_ = -1;
}

std::uint64_t Tally::Record::not_gated() const {
  std::uint64_t out = 0;
  for (const auto& n : ungated) out += n.load();
  return out;
}

// A static runtime of which launches were seen asks the driver for its functions where we stand before them.
bool Tally::Record::worth_a_line(bool simulated) const {
  std::uint32_t seen = sights.load();
  if (!simulated && gated.load() + not_gated() != 0) seen &= ~std::uint32_t{static_runtime};
  return seen != 0 || not_gated() != 0;
}

void Tally::say(const Record& r, bool simulated) {
  const char* const who = r.program[0] != '\0' ? r.program : "?";
  const int process = r.process.load();
  for (std::size_t i = 0; i < ungated_reasons; ++i)
    if (const auto n = static_cast<unsigned long long>(r.ungated[i].load()); n != 0)
      write_line("  %s (process %d): %llu not gated: %s\n    hint: %s\n", who, process, n, reasons[i].text,
                 reasons[i].hint);
  const std::uint32_t sights = r.sights.load();
  for (const Seen& s : on_board) {
    if ((sights & s.sight) == 0) continue;
    if (s.sight == static_runtime && !simulated && r.gated.load() + r.not_gated() != 0) continue;
    write_line("  %s (process %d): %s\n", who, process,
               s.sight == static_runtime && simulated ? static_on_simulated : s.text);
  }
}

void Tally::say_all() {
  const std::uint32_t used = std::min(page_->used.load(), most_records);
  const auto of_all = [&](auto&& value) {
    unsigned long long sum = 0;
    for (std::uint32_t i = 0; i < used; ++i) sum += value(page_->records[i]);
    return sum;
  };
  const unsigned long long gated = of_all([](const Record&r) { return r.gated.load(); }),
                           others = of_all([](const Record&r) { return r.not_gated(); });
  const unsigned long long running = of_all(
      [&](const Record& r) { return r.process.load() != page_->root && alive(r.process.load()) ? 1u : 0u; });
  const bool simulated = page_->simulated != 0;
  const bool all_well = std::none_of(page_->records, page_->records + used,
                                     [&](const Record& r) { return r.worth_a_line(simulated); });
  if (page_->quiet != 0 && all_well) return;
  write_line("simtlab corun exec: %llu launches gated, %llu not\n", gated, others);
  for (std::uint32_t i = 0; i < used; ++i)
    if (page_->records[i].worth_a_line(simulated)) say(page_->records[i], simulated);
  if (running != 0)
    write_line("  %llu of its processes still run: each says at its end what it launched\n", running);
}

void Tally::say_as_root() {
  if (has_standard_error()) standard_error = error_;
  say_all();
  ::unlink(path_);
}

void Tally::starts_bare() {
  seen(bare_child);
  const pid_t process = ::getpid();
  if (page_ != nullptr && page_->root == process && process_ == process && !bare_.exchange(true))
    say_as_root();
}

void Tally::at_end() {
  const pid_t process = ::getpid();
  if (process != process_.load() || ended_.exchange(true)) return;
  if (page_ != nullptr && page_->root == process) {
    say_as_root();
    page_->root = 0;
    return;
  }
  // The process that exec became says it; this one does if that has said it already, or is no more. Without
  // exec what is as asked for is not worth a word.
  if (page_ != nullptr && alive(page_->root)) return;
  const Record* const mine = record_.load();
  if (mine == nullptr) return;
  const bool simulated = page_ != nullptr && page_->simulated != 0;
  const std::uint64_t others =
      mine->not_gated() - (!named_ ? mine->ungated[static_cast<std::size_t>(Ungated::off)].load() : 0);
  if (!named_ && others == 0 && mine->sights.load() == 0) return;
  write_line("simtlab corun: %s (process %d): %llu launches gated, %llu not\n", mine->program,
             static_cast<int>(process), static_cast<unsigned long long>(mine->gated.load()),
             static_cast<unsigned long long>(others));
  if (mine->worth_a_line(simulated)) say(*mine, simulated);
}

}  // namespace simtlab::corun::live
