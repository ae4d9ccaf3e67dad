// Strides of warps: when a warp has gone twice by the same distance of lines, the line after the next comes,
// too.
#include <unordered_map>

#include "cache/prefetcher.h"

namespace simtlab::cache {
namespace {

class Stride final : public Prefetcher {
 public:
  void read(std::uint64_t line, bool, const Accessor& who, Ahead& ahead) override {
    Warp& warp = warps_[who.warp];
    const std::uint64_t step = line - warp.line;  // modulo 2^64: backwards, too
    if (step == 0) return;
    if (step == warp.step) ahead.add(line + step);
    warp = {line, step};
  }
  void restart() override { warps_.clear(); }

 private:
  struct Warp {
    std::uint64_t line = 0, step = 0;
  };
  std::unordered_map<std::uint32_t, Warp> warps_;
};

std::unique_ptr<Prefetcher> make() { return std::make_unique<Stride>(); }

}  // namespace

extern constinit const PrefetchPolicy prefetcher_stride{
    "stride", "The next line of a warp that has gone twice by the same distance", make};

}  // namespace simtlab::cache
