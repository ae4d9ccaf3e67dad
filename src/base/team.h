// A few host threads that do a list of independent jobs together, again and again, with as little delay as
// possible between one list and the next: idle members look for work for a moment before they sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace simtlab {

class Team {
 public:
  // threads: those of the caller included; 1: everything is done by the caller.
  explicit Team(unsigned threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  unsigned threads() const { return static_cast<unsigned>(members_.size()) + 1; }

  // Calls job(i) once for each i < count, on any thread, and returns when all are done. job must not throw.
  // Whoever is late is not waited for.
  template <class Job>
  void run(std::size_t count, Job&& job) {
    if (members_.empty() || count < 2) {
      for (std::size_t i = 0; i < count; ++i) job(i);
      return;
    }
    do_all(
        count, [](void* f, std::size_t i) { (*static_cast<std::remove_reference_t<Job>*>(f))(i); },
        const_cast<void*>(static_cast<const void*>(&job)));
  }

 private:
  using Call = void (*)(void*, std::size_t);
  void do_all(std::size_t count, Call call, void* job);
  void work();
  void member();

  // A list is open while its number is odd; members count themselves in the low half, so that a closed one
  // takes nobody in.
  std::atomic<std::uint64_t> list_{0};
  std::atomic<std::uint32_t> left_{0};  // members that are through with the list
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::size_t count_ = 0;
  Call call_ = nullptr;
  void* job_ = nullptr;
  std::vector<std::thread> members_;
};

// Threads that a request for `asked` gets: 0 means all that this process may use.
unsigned usable_threads(std::uint64_t asked);

}  // namespace simtlab
