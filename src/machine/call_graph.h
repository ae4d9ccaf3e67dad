// Which functions of device code call which, and what a kernel needs for all that it may call.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace simtlab::machine {

// What one function needs by itself.
struct CalledFunction {
  std::set<std::size_t> calls = {};     // other functions
  std::set<std::uint32_t> shared = {};  // symbols of shared memory that belong to no kernel
  bool calls_pointers = false;          // any function whose address is taken
  bool uses_dynamic_shared = false;
  std::uint32_t registers = 0, barriers = 0, stack_bytes = 0;
};

// What a function needs with all that it may call.
struct CallNeeds {
  std::set<std::uint32_t> shared = {};
  bool uses_dynamic_shared = false;
  std::uint32_t registers = 0, barriers = 0;
  std::uint32_t stack_bytes = 0;  // of the deepest way that calls nothing twice
};

class CallGraph {
 public:
  // taken: functions whose address is taken. `functions` must outlive the graph.
  CallGraph(const std::vector<CalledFunction>& functions, const std::set<std::size_t>& taken);
  CallNeeds needs(std::size_t root);

 private:
  const CalledFunction& function(std::size_t number) const;
  std::uint32_t stack_of(std::size_t root);

  static constexpr std::int64_t unknown = -2, under_way = -1;
  const std::vector<CalledFunction>& functions_;
  std::vector<std::int64_t> depth_;
  std::vector<std::vector<std::size_t>> edges_;
};

}  // namespace simtlab::machine
