// The next two lines with every miss, and one more after each miss that the line before had as well: a stream
// that the prefetches don't keep up with gets further ahead. (What is there already costs nothing.)
#include "cache/prefetcher.h"

namespace simtlab::cache {
namespace {

class TwoLines final : public Prefetcher {
 public:
  void read(std::uint64_t line, bool missed, const Accessor&, Ahead& ahead) override {
    if (!missed) return;
    const std::uint64_t lines = line == last_ + 1 ? 3 : 2;
    for (std::uint64_t i = 1; i <= lines; ++i) ahead.add(line + i);
    last_ = line;
  }
  void restart() override { last_ = 0; }

 private:
  std::uint64_t last_ = 0;  // the line that missed last
};

std::unique_ptr<Prefetcher> make() { return std::make_unique<TwoLines>(); }

}  // namespace

extern constinit const PrefetchPolicy prefetcher_two_lines{"two-lines",
                                                           "The next two lines, with every miss of L1", make};

}  // namespace simtlab::cache
