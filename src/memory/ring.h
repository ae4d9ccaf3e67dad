// First-in first-out queue in one growing array: no allocation once it has grown.
#pragma once

#include <cstddef>
#include <vector>

namespace simtlab::memory {

template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  // The n-th, which is there; 0 is the front.
  const T& operator[](std::size_t n) const { return items_[(head_ + n) & (items_.size() - 1)]; }

  void push(const T& item) {
    if (count_ == items_.size()) grow();
    items_[(head_ + count_) & (items_.size() - 1)] = item;
    ++count_;
  }
  void pop() {
    head_ = (head_ + 1) & (items_.size() - 1);
    --count_;
  }
  void clear() { head_ = count_ = 0; }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = items_[(head_ + i) & (items_.size() - 1)];
    items_.swap(larger);
    head_ = 0;
  }
  std::vector<T> items_;  // size is zero or a power of two
  std::size_t head_ = 0, count_ = 0;
};

}  // namespace simtlab::memory
