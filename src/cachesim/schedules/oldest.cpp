// The ready warp that began first.
#include "cachesim/schedules/ages.h"

namespace simtlab::cachesim {
namespace {

class Oldest final : public Schedule {
 public:
  explicit Oldest(std::uint32_t places) : ages_(places) {}
  void began(std::uint32_t warp) override { ages_.began(warp); }
  std::uint32_t pick(const WarpSet& ready) override { return ages_.oldest(ready); }

 private:
  Ages ages_;
};

}  // namespace

std::unique_ptr<Schedule> make_oldest(std::uint32_t places) { return std::make_unique<Oldest>(places); }

}  // namespace simtlab::cachesim
