#include "base/team.h"

#include <sched.h>

#include <algorithm>

#include "base/own_threads.h"

namespace simtlab {
namespace {

constexpr std::uint64_t half = std::uint64_t{1} << 32;
constexpr unsigned looks = 4000;  // for work before sleeping: a fraction of a millisecond

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

unsigned usable_threads(std::uint64_t asked) {
  if (asked != 0) return static_cast<unsigned>(std::min<std::uint64_t>(asked, 256));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

Team::Team(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) members_.emplace_back([this] { member(); });
}

Team::~Team() {
  stop_ = true;
  list_.fetch_add(2 * half);  // a new number wakes those who sleep; it stays closed
  list_.notify_all();
  for (std::thread& thread : members_) thread.join();
}

void Team::work() {
  for (std::size_t i = next_.fetch_add(1, std::memory_order_relaxed); i < count_;
       i = next_.fetch_add(1, std::memory_order_relaxed))
    call_(job_, i);
}

void Team::do_all(std::size_t count, Call call, void* job) {
  count_ = count;
  call_ = call;
  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  left_.store(0, std::memory_order_relaxed);
  const std::uint64_t number = (list_.load(std::memory_order_relaxed) / half + 1) * half;  // odd: open
  list_.store(number, std::memory_order_release);
  list_.notify_all();
  work();
  const std::uint64_t closed = list_.fetch_add(half, std::memory_order_acq_rel);
  const auto joined = static_cast<std::uint32_t>(closed % half);
  for (unsigned i = 0; left_.load(std::memory_order_acquire) != joined; ++i) {
    if (i < looks)
      relax();
    else
      std::this_thread::yield();
  }
}

void Team::member() {
  const OwnThread ours;
  std::uint64_t done = 0;  // number of the last list
  while (true) {
    std::uint64_t now = list_.load(std::memory_order_acquire);
    for (unsigned i = 0; i < looks && now / half == done; ++i) {
      relax();
      now = list_.load(std::memory_order_acquire);
    }
    if (stop_) return;
    if (now / half == done) {
      list_.wait(now, std::memory_order_acquire);
      continue;
    }
    if (now / half % 2 == 0) {
      done = now / half;
      continue;
    }
    if (!list_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) continue;
    done = now / half;
    work();
    left_.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace simtlab
