#include "memory/traffic/generators.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/shown.h"

namespace simtlab::memory::traffic {
namespace {

// Counts, paces and decides between reads and writes; `Pattern` only gives addresses.
template <class Pattern>
class Generated : public Source {
 public:
  Generated(const GeneratorOptions& options, Pattern pattern)
      : pattern_(std::move(pattern)),
        left_(options.requests),
        interval_(options.interval),
        reads_(static_cast<std::uint64_t>(std::ldexp(options.read_share, 32))),
        kinds_(options.seed ^ 0x7265616473U) {}

  bool next(Access& access) override {
    if (left_ == 0) return false;
    --left_;
    access.cycle = cycle_;
    cycle_ += interval_;
    access.bubbles = 0;
    access.source = 0;
    access.levels = 0;
    access.write = reads_ >> 32 == 0 && kinds_.next32() >= reads_;  // nothing is drawn where all are reads
    pattern_(access);
    return true;
  }
  Pace pace() const override {
    return Pattern::chased ? Pace::chased : interval_ > 0 ? Pace::timed : Pace::eager;
  }

 private:
  Pattern pattern_;
  std::uint64_t left_, interval_, cycle_ = 0;
  std::uint64_t reads_;  // of 2^32
  Rng kinds_;
};

struct Stream {
  static constexpr bool chased = false;
  std::uint64_t step, footprint, at = 0;
  void operator()(Access& access) {
    access.address = at;
    at += step;
    if (at >= footprint) at -= footprint;
  }
};

// One line read from the lower half, the same line of the upper half written.
struct Copy {
  static constexpr bool chased = false;
  std::uint64_t line, half, at = 0;
  bool write = false;
  void operator()(Access& access) {
    access.address = write ? half + at : at;
    access.write = write;
    if (write) at = at + line >= half ? 0 : at + line;
    write = !write;
  }
};

template <bool chase>
struct Random {
  static constexpr bool chased = chase;
  std::uint64_t line, lines;
  Rng rng;
  void operator()(Access& access) { access.address = rng.below(lines) * line; }
};

// Another row each time. Two rows in turn would conflict only without a queue: schedulers serve all that
// waits for one row before they open the other.
struct Conflict {
  static constexpr bool chased = false;
  const memory::dram::AddressMapping* mapping;
  std::uint32_t rows, row = 0;
  void operator()(Access& access) {
    memory::dram::Place place;
    place.row = row;
    access.address = mapping->encode(place);
    row = row + 1 == rows ? 0 : row + 1;
  }
};

template <class Pattern>
std::unique_ptr<Source> made(const GeneratorOptions& options, Pattern pattern) {
  return std::make_unique<Generated<Pattern>>(options, std::move(pattern));
}

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ExitCode::usage, "generate-option", std::move(message), std::move(hint));
}

std::unique_ptr<Source> make_stream(const GeneratorOptions& o) {
  return made(o, Stream{o.line, o.footprint / o.line * o.line});
}

std::unique_ptr<Source> make_copy(const GeneratorOptions& o) {
  const std::uint64_t half = o.footprint / o.line / 2 * o.line;
  if (half == 0) refuse("copy needs a footprint of two lines at least", "raise --footprint");
  return made(o, Copy{o.line, half});
}

std::unique_ptr<Source> make_random(const GeneratorOptions& o) {
  return made(o, Random<false>{o.line, o.footprint / o.line, Rng(o.seed)});
}

std::unique_ptr<Source> make_chase(const GeneratorOptions& o) {
  if (o.interval != 0)
    refuse("pointer-chase has no interval: a request is made when the one before is done",
           "leave --interval out");
  return made(o, Random<true>{o.line, o.footprint / o.line, Rng(o.seed)});
}

std::unique_ptr<Source> make_stride(const GeneratorOptions& o) {
  if (o.stride == 0 || o.stride > o.footprint)
    refuse(fmt::format("a stride of {} bytes within {} bytes", o.stride, o.footprint),
           "a stride is 1 byte to the footprint");
  return made(o, Stream{o.stride, o.footprint});
}

std::unique_ptr<Source> make_conflict(const GeneratorOptions& o) {
  if (o.mapping == nullptr)
    refuse("conflict needs to know where rows are, which a plug-in does not tell",
           "take stride with a row's distance");
  return made(o, Conflict{o.mapping, o.mapping->count(memory::dram::MapField::row)});
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all = {
      {"stream", "one line after the other", make_stream},
      {"copy", "a line read and a line written half the footprint away, one after the other", make_copy},
      {"random", "any line of the footprint", make_random},
      {"stride", "--stride bytes apart", make_stride},
      {"conflict", "the rows of one bank one after the other", make_conflict},
      {"pointer-chase", "any line, each when the one before is back", make_chase},
  };
  return all;
}

std::unique_ptr<Source> generate(std::string_view name, const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (o.footprint == 0) o.footprint = o.capacity != 0 ? o.capacity : std::uint64_t{1} << 30;
  if (o.requests == 0) refuse("0 requests", "--requests is 1 or more");
  if (!(o.read_share >= 0 && o.read_share <= 1))
    refuse(fmt::format("a share of reads of {}", o.read_share), "--read-share is 0 to 1");
  if (o.line == 0 || o.footprint < o.line)
    refuse(fmt::format("a footprint of {} bytes does not hold one line of {}", o.footprint, o.line),
           "raise --footprint");
  if (o.capacity != 0 && o.footprint > o.capacity)
    refuse(fmt::format("a footprint of {} bytes in a memory of {}", o.footprint, o.capacity),
           "lower --footprint, or use more channels");
  if (o.interval > (std::uint64_t{1} << 60) / o.requests)
    refuse(fmt::format("{} requests {} clocks apart", o.requests, o.interval),
           "lower --interval or --requests");
  std::vector<std::string> names;
  for (const Generator& g : generators()) {
    if (g.name == name) return g.make(o);
    names.emplace_back(g.name);
  }
  const std::string near = nearest_name(std::string(name.substr(0, 100)), names);
  throw Error(ExitCode::usage, "generate-unknown", fmt::format("no traffic called '{}'", shown(name)),
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                           : fmt::format("did you mean {}?", near));
}

}  // namespace simtlab::memory::traffic
