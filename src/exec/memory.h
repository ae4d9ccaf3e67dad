// The simulated GPU's global memory: one flat reserved range, committed page by page as it is touched,
// with bounds by allocation. Device addresses equal host addresses of the range when the host grants the
// preferred place (the normal case), so that managed memory needs no copies; device addresses are the same in
// every run in any case. Between two allocations there is always a gap, so that running over the end of one
// is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace simtlab::exec {

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string what;          // "cudaMalloc", "global variable 'lut'", ...
  bool read_only = false;    // constants
  bool host_writes = false;  // the program on the host reaches it, too: page-locked, managed
};

class OutsideAccesses;

class GlobalMemory {
 public:
  // capacity: device memory size in bytes (address space that allocations may fill);
  // commit_limit: most host memory that allocations may ask for in sum (0 = capacity).
  GlobalMemory(std::uint64_t capacity, std::uint64_t commit_limit);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // Lowest fit, 256-byte aligned (or more), zero-filled, deterministic. nullopt: does not fit. Of 0 bytes: an
  // address without memory.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::string what, std::uint64_t align = 256);
  // At the end of the memory and beyond its capacity, of a memory that holds nothing yet: what a simulator
  // needs for itself moves no allocation of the program.
  std::uint64_t allocate_last(std::uint64_t bytes, std::string what);
  bool release(std::uint64_t address);  // false: not the start of an allocation
  // Between allocations from now on lies as much as they have bytes, and at least this, where there is room.
  void set_gap(std::uint64_t least) { wide_gap_ = least; }
  // What is released lies idle until so many bytes do, or until nothing else is left: who still uses it is
  // noticed.
  void hold_released(std::uint64_t bytes) { most_held_ = bytes; }
  const Allocation* find(std::uint64_t address,
                         std::uint64_t bytes = 1) const;   // the allocation that holds all of it
  const Allocation* nearest(std::uint64_t address) const;  // for messages; null if none
  void set_read_only(std::uint64_t address, bool read_only);
  // The host may write to the allocation that holds the address, at any time if something of it runs
  // meanwhile (host_runs()).
  void set_host_writes(std::uint64_t address);
  bool host_writes() const { return host_writes_; }  // to anything, ever
  // Accesses outside of every allocation go on there; null: they are faults.
  void set_outside(OutsideAccesses* outside) { outside_ = outside; }
  OutsideAccesses* outside() const { return outside_; }
  // Hears of what write() and fill() do.
  void set_on_write(std::function<void(std::uint64_t address, std::uint64_t bytes)> tell) {
    on_write_ = std::move(tell);
  }
  bool host_runs() const { return host_runs_ && host_runs_(); }
  void set_host_runs(std::function<bool()> runs) { host_runs_ = std::move(runs); }
  // Allocations that overlap [begin, end), in the order of their addresses.
  void for_each(std::uint64_t begin, std::uint64_t end,
                const std::function<void(const Allocation&)>& take) const;

  std::uint64_t begin() const { return first_; }
  // Host pointer of a device address that find() accepted.
  std::byte* host(std::uint64_t address) { return base_ + (address - first_); }
  const std::byte* host(std::uint64_t address) const { return base_ + (address - first_); }
  // Host address = device address + this, modulo 2^64.
  std::uint64_t host_delta() const { return reinterpret_cast<std::uint64_t>(base_) - first_; }
  bool read(std::uint64_t address, std::span<std::byte> out) const;  // false: out of bounds
  bool write(std::uint64_t address, std::span<const std::byte> in);
  bool fill(std::uint64_t address, std::byte value, std::uint64_t bytes);

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const { return used_; }
  // Changes whenever an allocation appears or goes: executors cache bounds under this number.
  std::uint64_t generation() const { return generation_; }

 private:
  std::uint64_t take(std::uint64_t bytes, std::uint64_t align);
  void give_back(std::uint64_t address, std::uint64_t bytes);
  bool let_go_of_held(std::uint64_t most);
  void clear(std::uint64_t address, std::uint64_t bytes);

  std::byte* base_ = nullptr;
  std::uint64_t first_ = 0, capacity_ = 0, commit_limit_ = 0, used_ = 0, generation_ = 1;
  std::uint64_t wide_gap_ = 0, most_held_ = 0, held_bytes_ = 0;
  bool host_writes_ = false;
  OutsideAccesses* outside_ = nullptr;
  std::function<bool()> host_runs_;
  std::function<void(std::uint64_t, std::uint64_t)> on_write_;
  struct Map;
  std::unique_ptr<Map> map_;
};

}  // namespace simtlab::exec
