// The core behind traces of instructions: a window of instructions that are executed out of order and retired
// in order, as Ramulator's SimpleO3 has it.
//
// Each core clock retires up to `width` instructions from the front of the window as long as they are done,
// then takes up to `width` in at its back: first those that touch no memory (done at once), then the load,
// which is done when the memory answers. At most one memory access a clock; the write-back of a line follows
// its load one clock later and takes no place in the window. There is no cache: traces of this kind are what
// a last-level cache lets through.
#pragma once

#include <cstdint>
#include <vector>

namespace simtlab::memory::traffic {

struct CoreOptions {
  std::uint32_t window = 128;  // instructions
  std::uint32_t width = 4;     // instructions a clock
  double clock_hz = 3.2e9;
};

class Core {
 public:
  explicit Core(const CoreOptions& options) : width_(options.width), done_(options.window) {}

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == done_.size(); }
  // Loads in the window that the memory has not answered yet.
  std::uint32_t waiting() const { return waiting_; }
  std::uint64_t retired() const { return retired_; }

  // The first half of a clock; returns how many left.
  std::uint32_t retire() {
    std::uint32_t n = 0;
    while (n < width_ && count_ > 0 && done_[front_] != 0) {
      front_ = after(front_);
      --count_;
      ++n;
    }
    retired_ += n;
    return n;
  }

  // Instructions that touch no memory, as many of `bubbles` as fit in this clock; returns how many.
  std::uint32_t insert(std::uint64_t bubbles) {
    std::uint32_t n = 0;
    while (n < width_ && n < bubbles && !full()) {
      put(true);
      ++n;
    }
    return n;
  }

  // Not when full. Returns the place that answered() takes.
  std::uint32_t insert_load() {
    ++waiting_;
    return put(false);
  }
  void answered(std::uint32_t place) {
    done_[place] = 1;
    --waiting_;
  }

  // Clocks that only pass instructions through, if no load is waited for: takes them off `bubbles` at once.
  std::uint64_t pass(std::uint64_t& bubbles) {
    if (waiting_ > 0 || bubbles < 4 * done_.size()) return 0;
    const std::uint64_t clocks = bubbles / width_ - 1;
    bubbles -= clocks * width_;
    retired_ += clocks * width_;
    return clocks;
  }

  std::uint32_t width() const { return width_; }

 private:
  std::uint32_t after(std::uint32_t place) const { return place + 1 == done_.size() ? 0 : place + 1; }
  std::uint32_t put(bool done) {
    const std::uint32_t place = back_;
    done_[place] = done ? 1 : 0;
    back_ = after(back_);
    ++count_;
    return place;
  }

  std::uint32_t width_, front_ = 0, back_ = 0, count_ = 0, waiting_ = 0;
  std::uint64_t retired_ = 0;
  std::vector<std::uint8_t> done_;
};

}  // namespace simtlab::memory::traffic
