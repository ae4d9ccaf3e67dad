// One-block lookahead: streams find every second line there, and what is read at random pays for a line that
// nobody wants.
#include "cache/prefetcher.h"

namespace simtlab::cache {
namespace {

class NextLine final : public Prefetcher {
 public:
  void read(std::uint64_t line, bool missed, const Accessor&, Ahead& ahead) override {
    if (missed) ahead.add(line + 1);
  }
};

std::unique_ptr<Prefetcher> make() { return std::make_unique<NextLine>(); }

}  // namespace

extern constinit const PrefetchPolicy prefetcher_next_line{"next-line",
                                                           "The next line, with every miss of L1", make};

}  // namespace simtlab::cache
