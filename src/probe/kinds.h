// The probes, one file each (kinds/*.cpp), in the order in which they run: later ones size themselves by what earlier ones found.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/bench.h"

namespace simtlab::probe {

struct Kind {
  std::string_view name;    // "cache"
  std::string_view doc;     // one sentence
  void (*run)(Bench&);
  std::string_view needs;   // names of the kinds whose findings it uses, separated by blanks
};

std::span<const Kind> kinds();

void probe_device(Bench& bench);
void probe_clock(Bench& bench);
void probe_arithmetic(Bench& bench);
void probe_issue(Bench& bench);
void probe_shared(Bench& bench);
void probe_cache(Bench& bench);
void probe_constant(Bench& bench);
void probe_memory(Bench& bench);
void probe_tlb(Bench& bench);
void probe_bandwidth(Bench& bench);
void probe_coalescing(Bench& bench);
void probe_departure(Bench& bench);
void probe_atomic(Bench& bench);
void probe_control(Bench& bench);
void probe_launch(Bench& bench);
void probe_copy(Bench& bench);
void probe_occupancy(Bench& bench);

struct Outcome {
  std::vector<std::string> failed;    // "cache: what happened", of kinds that could not be run to their end
  bool interrupted = false, lost = false;
};
// Runs the chosen kinds and what they need; empty: all. What was found before an error or an interrupt stays. begun: told of each kind.
Outcome run_probes(Bench& bench, std::span<const std::string> chosen, const std::function<void(std::string_view)>& begun = {});

}  // namespace simtlab::probe
