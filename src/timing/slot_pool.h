// Things under way, known by a small number as long as they are: no allocation once the pool has grown to the
// most that ever were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simtlab::timing {

template <class T>
class SlotPool {
 public:
  using Index = std::uint32_t;

  void reserve(std::size_t count) {
    items_.reserve(count);
    free_.reserve(count);
  }
  Index add(const T& item) {
    if (free_.empty()) {
      items_.push_back(item);
      return static_cast<Index>(items_.size() - 1);
    }
    const Index index = free_.back();
    free_.pop_back();
    items_[index] = item;
    return index;
  }
  void remove(Index index) { free_.push_back(index); }
  T& operator[](Index index) { return items_[index]; }
  const T& operator[](Index index) const { return items_[index]; }
  std::size_t most() const { return items_.size(); }  // numbers are below it
  std::size_t used() const { return items_.size() - free_.size(); }
  void clear() {
    items_.clear();
    free_.clear();
  }

 private:
  std::vector<T> items_;
  std::vector<Index> free_;  // numbers that nothing has
};

}  // namespace simtlab::timing
