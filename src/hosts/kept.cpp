#include "hosts/kept.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/program_identity.h"
#include "result/json.h"
#include "result/totals.h"

namespace simtlab::hosts {
namespace {

namespace fs = std::filesystem;

// The head of the file, and of each piece behind it. Written and read by one version of simtlab on one
// machine.
struct Head {
  char magic[8] = {'s', 'i', 'm', 'k', 'e', 'p', 't', '1'};
  gpu::Counters counters;
};
struct Piece {
  std::uint64_t bytes = 0, number = 0;  // number: of the launch
  std::uint64_t kind = 0;               // a letter below
};
constexpr char alone = 'k', together = 'm', failed = 'f', elsewhere = 'w', process = 'p';
constexpr unsigned most_processes = 10000;

std::string numbered(const std::string& base, unsigned i) {
  return i == 0 ? base : fmt::format("{}.{}", base, i);
}

bool write_at(int file, const void* bytes, std::size_t count, std::uint64_t at) {
  const auto* from = static_cast<const char*>(bytes);
  while (count != 0) {
    const ssize_t n = ::pwrite(file, from, count, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n, count -= static_cast<std::size_t>(n), at += static_cast<std::uint64_t>(n);
  }
  return true;
}

// A kernel's metrics are most of it, and JSON would cost more than a small kernel: they follow the rest as
// they are.
void put_number(std::string& out, std::uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool take_number(std::string_view& from, std::uint64_t& value) {
  if (from.size() < sizeof value) return false;
  std::memcpy(&value, from.data(), sizeof value);
  from.remove_prefix(sizeof value);
  return true;
}

void put_metrics(std::string& out, const result::Metrics& metrics) {
  put_number(out, metrics.values().size());
  for (const result::Metrics::Value& v : metrics.values()) {
    put_number(out, v.name.size() * 2 + (v.is_integer ? 1 : 0));
    put_number(out, v.is_integer ? v.integer : std::bit_cast<std::uint64_t>(v.real));
    out += v.name;
  }
}

bool take_metrics(std::string_view& from, result::Metrics& metrics) {
  std::uint64_t count = 0, kind = 0, value = 0;
  if (!take_number(from, count)) return false;
  for (; count > 0; --count) {
    if (!take_number(from, kind) || !take_number(from, value) || kind / 2 > from.size()) return false;
    const std::string_view name = from.substr(0, kind / 2);
    if (result::find_metric(name) == nullptr) return false;
    kind % 2 != 0 ? metrics.set(name, value) : metrics.set(name, std::bit_cast<double>(value));
    from.remove_prefix(name.size());
  }
  return true;
}

// A result with one kernel, or with a failure.
std::string packed(const result::Result& piece, const result::Metrics& kernel, const result::Metrics& total) {
  const std::string json = result::to_json(piece);
  std::string out;
  out.reserve(json.size() + 40 * (kernel.values().size() + total.values().size()) + 64);
  put_number(out, json.size());
  out += json;
  put_metrics(out, kernel);
  put_metrics(out, total);
  return out;
}

std::optional<result::Result> unpacked(std::string_view from) {
  std::uint64_t bytes = 0;
  if (!take_number(from, bytes) || bytes > from.size()) return std::nullopt;
  result::Result out = result::result_from_json(from.substr(0, bytes), "what a program left behind");
  from.remove_prefix(bytes);
  result::Metrics none;
  if (!take_metrics(from, out.kernels.empty() ? none : out.kernels.front().metrics) ||
      !take_metrics(from, out.total))
    return std::nullopt;
  return out;
}

result::KernelResult without_metrics(const result::KernelResult& k) {
  result::KernelResult out;
  out.name = k.name, out.demangled = k.demangled;
  std::ranges::copy(k.grid, out.grid);
  std::ranges::copy(k.block, out.block);
  out.shared_bytes = k.shared_bytes, out.registers = k.registers, out.launches = k.launches,
  out.partial = k.partial;
  out.limiter = k.limiter, out.order = k.order, out.bottleneck = k.bottleneck,
  out.not_modelled = k.not_modelled;
  out.profile = k.profile, out.series = k.series, out.tables = k.tables;
  return out;
}

gpu::Counters since(const gpu::Counters& now, const gpu::Counters& before) {
  gpu::Counters out = now;
  out.launches -= before.launches, out.skipped -= before.skipped, out.ended -= before.ended;
  out.copies -= before.copies, out.filled_bytes -= before.filled_bytes, out.copy_ns -= before.copy_ns;
  for (int i = 0; i < 3; ++i) out.copied_bytes[i] -= before.copied_bytes[i];
  // Kernels that the parent launched and both go on with.
  out.launches = std::max(out.launches, out.skipped + out.ended);
  return out;
}

// The pieces of one file, put together.
class Reading {
 public:
  void take(char kind, std::uint64_t number, std::string_view content) {
    if (kind == elsewhere) {
      out_.written = content;
      return;
    }
    std::optional<result::Result> read = unpacked(content);
    if (!read) return;
    result::Result& piece = *read;
    if (kind == process) {
      out_.result.manifest.inputs = std::move(piece.manifest.inputs);
      return;
    }
    if (kind == failed) {
      piece.manifest.inputs = std::move(out_.result.manifest.inputs);
      out_.result.manifest = std::move(piece.manifest);
      return;
    }
    if (piece.kernels.empty()) return;
    out_.result.total = std::move(piece.total);
    result::KernelResult& kernel = piece.kernels.front();
    if (kind == alone)
      alone_.insert_or_assign(number, std::move(kernel));
    else
      together_.insert_or_assign(kernel.name, std::pair(number, std::move(kernel)));
  }

  Kept finish(const gpu::Counters& counters) {
    out_.counters = counters;
    std::uint64_t launches = 0;
    for (auto& [number, kernel] : alone_) out_.result.kernels.push_back(std::move(kernel));
    std::map<std::uint64_t, result::KernelResult> in_order;  // of the last launch that each has
    for (auto& [name, kernel] : together_) in_order.insert(std::move(kernel));
    for (auto& [number, kernel] : in_order) out_.result.kernels.push_back(std::move(kernel));
    for (const result::KernelResult& k : out_.result.kernels) launches += k.launches;
    out_.missing = counters.ended - std::min(counters.ended, launches);
    result::Metrics study = std::exchange(out_.result.total, result::combine(out_.result.kernels));
    for (const result::Metrics::Value& v : study.values())
      v.is_integer ? out_.result.total.set(v.name, v.integer) : out_.result.total.set(v.name, v.real);
    gpu::set_totals(counters, out_.result.total);
    return std::move(out_);
  }

 private:
  Kept out_;
  std::map<std::uint64_t, result::KernelResult> alone_;
  std::map<std::string, std::pair<std::uint64_t, result::KernelResult>> together_;
};

std::optional<Kept> read_one(const fs::path& path) {
  const std::string text = read_file(path, std::uint64_t{1} << 32, "what a program left behind");
  Head head;
  if (text.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, text.data(), sizeof head);
  if (std::memcmp(head.magic, Head{}.magic, sizeof head.magic) != 0) return std::nullopt;
  Reading reading;
  for (std::size_t at = sizeof head; text.size() - at >= sizeof(Piece);) {
    Piece piece;
    std::memcpy(&piece, text.data() + at, sizeof piece);
    at += sizeof piece;
    if (piece.bytes > text.size() - at) break;  // the process ended in the midst of writing
    reading.take(static_cast<char>(piece.kind), piece.number, std::string_view(text).substr(at, piece.bytes));
    at += piece.bytes;
  }
  return reading.finish(head.counters);
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() {
  sigset_t wanted, before;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before);
  blocked_before_ = sigismember(&before, SIGXFSZ) == 1;
}

NoFileSizeSignal::~NoFileSizeSignal() {
  if (blocked_before_) return;
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGXFSZ);
  const timespec now{};
  while (::sigtimedwait(&wanted, nullptr, &now) == SIGXFSZ) {}
  ::pthread_sigmask(SIG_UNBLOCK, &wanted, nullptr);
}

KeptWriter::KeptWriter(std::string name) : base_(std::move(name)) { open(); }

KeptWriter::~KeptWriter() {
  if (file_ >= 0) ::close(file_);
}

void KeptWriter::open() {
  process_ = ::getpid();
  for (unsigned i = 0; i < most_processes && file_ < 0; ++i) {
    path_ = numbered(base_, i);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file_ < 0 && errno != EEXIST) return;
  }
  if (file_ < 0) return;
  Head head;
  head.counters = since(last_, before_);
  end_ = sizeof head;
  const NoFileSizeSignal quiet;
  static_cast<void>(write_at(file_, &head, sizeof head, 0));
  // Which of the program's processes this is.
  const ProgramIdentity self = identity_of_process(process_);
  result::Result piece;
  piece.manifest.inputs.push_back({self.name, self.content});
  append(process, 0, packed(piece, {}, {}));
}

// Whether there is a file of this process.
bool KeptWriter::ours() {
  if (process_ == ::getpid()) return file_ >= 0;
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  before_ = last_;
  open();
  return file_ >= 0;
}

void KeptWriter::count(const gpu::Counters& counters) {
  if (counters == last_ || !ours()) return;
  last_ = counters;
  const gpu::Counters mine = since(counters, before_);
  const NoFileSizeSignal quiet;
  static_cast<void>(write_at(file_, &mine, sizeof mine, offsetof(Head, counters)));
}

void KeptWriter::append(char kind, std::uint64_t number, const std::string& content) {
  const Piece piece{content.size(), number, static_cast<std::uint64_t>(kind)};
  const NoFileSizeSignal quiet;
  // A piece that did not fit is overwritten by the next one.
  if (write_at(file_, &piece, sizeof piece, end_) &&
      write_at(file_, content.data(), content.size(), end_ + sizeof piece))
    end_ += sizeof piece + content.size();
}

void KeptWriter::add(const gpu::EndedKernel& kernel, const result::Metrics& study) {
  constexpr int share = 20;  // merged kernels take at most a twentieth of the time
  const Clock::time_point begin = Clock::now();
  if ((kernel.merged && begin < free_at_) || !ours()) return;
  result::Result piece;
  piece.kernels.push_back(without_metrics(kernel.kernel));
  append(kernel.merged ? together : alone, kernel.number, packed(piece, kernel.kernel.metrics, study));
  const Clock::time_point end = Clock::now();
  free_at_ = end + share * (end - begin);
}

void KeptWriter::fail(const result::Manifest& manifest) {
  if (!ours()) return;
  result::Result piece;
  piece.manifest.failure = manifest.failure;
  piece.manifest.failure_id = manifest.failure_id;
  piece.manifest.failure_code = manifest.failure_code;
  append(failed, 0, packed(piece, {}, {}));
}

void KeptWriter::wrote(const std::string& result_file) {
  if (ours()) append(elsewhere, 0, result_file);
}

void KeptWriter::remove() {
  if (process_ != ::getpid() || file_ < 0) return;
  ::unlink(path_.c_str());
  ::close(std::exchange(file_, -1));
}

std::vector<Kept> read_kept(const fs::path& result) {
  std::vector<Kept> out;
  std::vector<std::pair<std::size_t, fs::path>> left;  // a process that ended in order leaves a gap
  const std::string name = result.filename().string() + ".kept";
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(result.parent_path(), ignored)) {
    const std::string own = entry.path().filename().string();
    if (own.starts_with(name)) left.emplace_back(own.size(), entry.path());  // .kept.2 before .kept.10
  }
  std::ranges::sort(left);
  for (const auto& [length, path] : left)
    if (std::optional<Kept> kept = read_one(path)) out.push_back(std::move(*kept));
  return out;
}

}  // namespace simtlab::hosts
