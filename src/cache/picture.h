// Single accesses for a picture: offset in a buffer over order, of one SM.
//
// A bounded number of points whatever the length: when the store is full every second one is dropped, and
// from then on one access of twice as many is kept. Deterministic, and even over the run.
#pragma once

#include <cstdint>
#include <vector>

namespace simtlab::cache {

struct Point {
  std::uint64_t order = 0;               // number of the thread access on the SM
  std::uint64_t offset = 0;              // bytes from the start of the buffer
  std::uint32_t buffer = 0, thread = 0;  // thread of the launch
  bool store = false;
};

class Picture {
 public:
  explicit Picture(std::uint32_t most) : most_(most) {}
  bool wanted() const { return most_ != 0; }
  void add(std::uint64_t offset, std::uint32_t buffer, std::uint32_t thread, bool store) {
    const std::uint64_t order = count_++;
    if (order % step_ != 0) return;
    points_.push_back({order, offset, buffer, thread, store});
    if (points_.size() <= most_) return;
    step_ *= 2;
    std::erase_if(points_, [this](const Point& p) { return p.order % step_ != 0; });
  }
  const std::vector<Point>& points() const { return points_; }
  std::uint64_t step() const { return step_; }  // one of so many accesses is here

 private:
  std::uint32_t most_;
  std::uint64_t count_ = 0, step_ = 1;
  std::vector<Point> points_;
};

}  // namespace simtlab::cache
