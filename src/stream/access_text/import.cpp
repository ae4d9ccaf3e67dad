#include "stream/access_text/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "stream/accelsim/import.h"
#include "stream/access_text/accesses.h"

namespace simtlab::stream::access_text {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;  // all of it is in memory
constexpr std::uint64_t most_threads = 1u << 24, most_in_a_group = 1024;
constexpr std::string_view local_size = "local size:";

// The lines of the text, and what is wrong with one.
class Lines {
 public:
  Lines(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  [[noreturn]] void refuse(const std::string& what, std::string hint = {}) const {
    Diagnostic d;
    d.message = what;
    d.pos = {name_, number_, 1};
    d.text = shown(std::string(line_), 120);
    d.hint = std::move(hint);
    throw Error(ExitCode::bad_input, "access-text", std::move(d));
  }
  // The next word up to a blank, as a number.
  template <class T>
  T word(std::string_view& rest, const char* what, int base = 10) const {
    while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    const T value = number<T>(rest.substr(0, end), what, base);
    rest.remove_prefix(end);
    return value;
  }
  template <class T>
  T number(std::string_view text, const char* what, int base) const {
    if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
      refuse(fmt::format("'{}' is no {}", shown(std::string(text), 40), what));
    return value;
  }

 private:
  std::string name_;
  std::string_view rest_, line_;
  std::uint32_t number_ = 0;
};

// What a text says, kernel by kernel.
class Importer {
 public:
  Importer(const std::filesystem::path& file, trace::Writer& to, const volatile bool* stop)
      : name_(file.stem().string()), to_(to), stop_(stop), table_(machine::SassTable::of_version(70)) {
    std::ranges::replace_if(
        name_, [](char c) { return c == '\n' || c == '\r'; }, '_');
  }

  void launch(const Launch& launch) {
    const std::string text = warp_text(launch, name_.empty() ? "trace" : name_, stop_);
    accelsim::Imported imported;
    accelsim::import_kernel([&] { return accelsim::memory_text(text); }, name_, table_, to_, 0, imported,
                            stop_);
    ++out_.kernels;
  }
  Imported& result() { return out_; }
  void look() const {
    if (stop_ != nullptr && *stop_)
      throw Error(ExitCode::interrupted, "interrupted", "while a trace was read");
  }

 private:
  std::string name_;
  trace::Writer& to_;
  const volatile bool* stop_;
  machine::SassTable table_;
  Imported out_;
};

// Accesses as their threads made them: "address, R or W, instruction | thread | loops", all hexadecimal.
class Recorded {
 public:
  Recorded(Lines& lines, Importer& importer) : lines_(lines), importer_(importer) {}

  void read() {
    read_local_size();
    for (std::uint64_t n = 0; lines_.next(); ++n) {
      if (n % 65536 == 0) importer_.look();
      const std::string_view line = lines_.line();
      if (line.empty()) continue;
      if (line.find('|') == std::string_view::npos) {
        if (line.size() < 2 || line.find_first_not_of('-') != std::string_view::npos)
          lines_.refuse("a line is ADDRESS|THREAD|LOOPS, or hyphens at the end of an execution");
        finish();
      } else {
        read_access(line);
      }
    }
    finish();
  }

 private:
  void read_local_size() {
    std::string_view rest = lines_.line().substr(local_size.size());
    for (unsigned d = 0; d < 3 && (d == 0 || rest.find_first_not_of(" \t") != std::string_view::npos); ++d)
      local_[d] = lines_.word<std::uint32_t>(rest, "size of a group");
    const std::uint64_t threads = std::uint64_t{local_[0]} * local_[1] * local_[2];
    if (rest.find_first_not_of(" \t") != std::string_view::npos || threads == 0 ||
        local_[0] > most_in_a_group || local_[1] > most_in_a_group || threads > most_in_a_group)
      lines_.refuse("a group has one to three sizes and 1 to 1024 threads");
  }

  void read_access(std::string_view line) {
    const std::size_t first = line.find('|'), second = line.find('|', first + 1);
    if (second == std::string_view::npos) lines_.refuse("a line has three fields: ADDRESS|THREAD|LOOPS");
    std::string_view what = line.substr(0, first);
    const auto thread =
        lines_.number<std::uint64_t>(line.substr(first + 1, second - first - 1), "thread (hexadecimal)", 16);
    const auto loops = lines_.number<std::uint64_t>(line.substr(second + 1), "loop data (hexadecimal)", 16);
    Access access;
    if (what.starts_with("0x")) what.remove_prefix(2);
    const auto value = lines_.number<std::uint64_t>(what, "access (hexadecimal, 16 digits)", 16);
    if (what.size() == 1) {  // 1: of the group; 2: of global memory
      if (value != 1 && value != 2) lines_.refuse("a barrier is 1 (local) or 2 (global)");
      access.kind = Access::Kind::barrier;
    } else {
      const std::uint64_t kind = value >> 28 & 0xf;
      if (kind != 0xf && kind != 0xa)
        lines_.refuse("the ninth digit of an access is F for a read or A for a write",
                      "addresses have eight digits; zeros before them may be left out");
      access.kind = kind == 0xf ? Access::Kind::read : Access::Kind::write;
      access.address = value >> 32;
      access.instruction = static_cast<std::uint32_t>(value & 0xfffffff);
    }
    for (unsigned i = 0; i < 3; ++i) {
      const auto loop = static_cast<std::uint32_t>(loops >> (20 * i) & 0xfffff);
      if ((loop & 0xffff) == 0) continue;  // a loop is in its first iteration or a later one
      unsigned to = access.place.depth++;
      for (; to > 0 && access.place.loops[to - 1] > loop; --to)
        access.place.loops[to] = access.place.loops[to - 1];
      access.place.loops[to] = loop;
    }
    std::array<std::uint32_t, 3> id{};
    for (unsigned d = 0; d < 3; ++d) {
      id[d] = static_cast<std::uint32_t>(thread >> (20 * d) & 0xfffff);
      size_[d] = std::max(size_[d], id[d] + 1);
    }
    threads_[id].push_back(access);
    ++importer_.result().accesses;
  }

  void finish() {
    if (threads_.empty()) return;
    Launch launch;
    std::array<std::uint32_t, 3> grid{};
    for (unsigned d = 0; d < 3; ++d) grid[d] = (size_[d] + local_[d] - 1) / local_[d];
    launch.grid = {grid[0], grid[1], grid[2]};
    launch.block = {local_[0], local_[1], local_[2]};
    const std::uint64_t groups = std::uint64_t{grid[0]} * grid[1] * grid[2],
                        per_group = std::uint64_t{local_[0]} * local_[1] * local_[2];
    if (groups > most_threads / per_group)
      lines_.refuse(fmt::format("the threads lie in {} groups of {}: more than 16777216", groups, per_group));
    launch.groups.resize(groups);
    for (Group& group : launch.groups) group.threads.resize(per_group);
    for (auto& [id, accesses] : threads_) {
      std::array<std::uint64_t, 3> group{}, at{};
      for (unsigned d = 0; d < 3; ++d) group[d] = id[d] / local_[d], at[d] = id[d] % local_[d];
      launch.groups[(group[2] * grid[1] + group[1]) * grid[0] + group[0]]
          .threads[(at[2] * local_[1] + at[1]) * local_[0] + at[0]] = std::move(accesses);
    }
    threads_.clear();
    size_ = {};
    importer_.launch(launch);
  }

  Lines& lines_;
  Importer& importer_;
  std::array<std::uint32_t, 3> local_{1, 1, 1}, size_{};
  std::map<std::array<std::uint32_t, 3>, std::vector<Access>> threads_;
};

// Accesses that a scheduler has put in order: "address R|W group warp instruction". Neighbouring lines of one
// instruction of a warp, as many as it has threads, are what these did together.
class Scheduled {
 public:
  Scheduled(Lines& lines, Importer& importer) : lines_(lines), importer_(importer) {}

  void read() {
    do read_launch();
    while (!ended_);
  }

 private:
  struct Warp {
    std::uint32_t steps = 0, used = 0;  // of the last step: threads
    Access last;
  };

  // To the next line of two words, or to the end.
  void read_launch() {
    std::string_view head = lines_.line();
    width_ = lines_.word<std::uint32_t>(head, "warp size");
    const auto groups = lines_.word<std::uint64_t>(head, "number of groups");
    if (head.find_first_not_of(" \t") != std::string_view::npos || width_ == 0 || width_ > 32 ||
        groups == 0 || groups > most_threads / 32)
      lines_.refuse("the first line is WARP_SIZE GROUPS, with a warp size of 1 to 32");
    groups_.assign(groups, {});
    last_.reset();
    threads_ = 0;
    ended_ = true;
    for (std::uint64_t n = 0; lines_.next(); ++n) {
      if (n % 65536 == 0) importer_.look();
      if (lines_.line().empty()) continue;
      if (std::ranges::count(lines_.line(), ' ') == 1) {
        ended_ = false;
        break;
      }
      read_access();
    }
    finish();
  }

  void read_access() {
    std::string_view rest = lines_.line();
    Access access;
    access.address = lines_.word<std::uint64_t>(rest, "address (hexadecimal)", 16);
    while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
    if (!rest.starts_with("R ") && !rest.starts_with("W ")) lines_.refuse("an access is R or W");
    access.kind = rest.front() == 'R' ? Access::Kind::read : Access::Kind::write;
    rest.remove_prefix(1);
    const auto group = lines_.word<std::uint64_t>(rest, "number of a group");
    const auto warp = lines_.word<std::uint32_t>(rest, "number of a warp");
    access.instruction = lines_.word<std::uint32_t>(rest, "number of an instruction");
    if (rest.find_first_not_of(" \t") != std::string_view::npos)
      lines_.refuse("a line is ADDRESS R|W GROUP WARP INSTRUCTION");
    if (group >= groups_.size())
      lines_.refuse(fmt::format("group {}: the first line says that there are {}", group, groups_.size()));
    if (warp >= most_in_a_group / width_)
      lines_.refuse(fmt::format("warp {}: a group has at most {} of {} threads", warp,
                                most_in_a_group / width_, width_));
    Scheduled::Group& of = groups_[group];
    if (warp >= of.warps.size()) {
      of.warps.resize(warp + 1);
      of.threads.resize(std::size_t{warp + 1} * width_);
    }
    threads_ = std::max(threads_, (warp + 1) * width_);
    Warp& w = of.warps[warp];
    const std::pair<std::uint64_t, std::uint32_t> place(group, warp);
    const bool same = last_ == place && w.last.instruction == access.instruction &&
                      w.last.kind == access.kind && w.used < width_;
    if (!same) ++w.steps, w.used = 0;
    w.last = access;
    last_ = place;
    // Steps are in their order whatever the instruction's number is: the place in a loop says so.
    access.place.depth = 1;
    access.place.loops[0] = w.steps;
    if (w.steps > 0xffff) {  // beyond what one loop counts
      access.place.depth = 2;
      access.place.loops = {w.steps >> 16, w.steps & 0xffff, 0};
    }
    of.threads[std::size_t{warp} * width_ + w.used++].push_back(access);
    ++importer_.result().accesses;
  }

  void finish() {
    if (threads_ == 0) return;
    Launch launch;
    launch.grid = {static_cast<std::uint32_t>(groups_.size()), 1, 1};
    launch.block = {threads_, 1, 1};
    launch.groups.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      launch.groups[g].threads = std::move(groups_[g].threads);
      launch.groups[g].threads.resize(threads_);
    }
    importer_.launch(launch);
  }

  Lines& lines_;
  Importer& importer_;
  struct Group {
    std::vector<Warp> warps;
    std::vector<std::vector<Access>> threads;
  };
  std::uint32_t width_ = 1, threads_ = 0;
  bool ended_ = false;
  std::vector<Group> groups_;
  std::optional<std::pair<std::uint64_t, std::uint32_t>> last_;  // group and warp of the line before
};

}  // namespace

bool is_access_text(const std::string& file) { return file.ends_with(".trace"); }

Imported import(const std::filesystem::path& file, trace::Writer& to, const volatile bool* stop) {
  const std::string text = read_file(file, largest_file, "trace of accesses");
  Lines lines(file.string(), text);
  Importer importer(file, to, stop);
  if (!lines.next()) lines.refuse("the file is empty");
  if (lines.line().starts_with(local_size))
    Recorded(lines, importer).read();
  else
    Scheduled(lines, importer).read();
  if (importer.result().kernels == 0) lines.refuse("the text has no access");
  return importer.result();
}

}  // namespace simtlab::stream::access_text
