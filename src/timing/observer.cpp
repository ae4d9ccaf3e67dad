#include "timing/observer.h"

#include <algorithm>

namespace simtlab::timing {

std::string_view name_of(LoadStage stage) {
  static constexpr std::array<std::string_view, load_stage_count> names = {
      "l1_queue", "mshr", "l1", "crossbar", "l2_queue", "l2", "dram_queue", "dram"};
  return names[static_cast<std::size_t>(stage)];
}

void LoadLatency::add(const LoadLatency& other) {
  for (std::size_t i = 0; i < load_stage_count; ++i) stages[i] += other.stages[i];
  total += other.total;
  loads += other.loads;
  from_dram += other.from_dram;
}

void SmObserver::load_begins(std::uint32_t load, std::uint32_t warp, Cycle now) {
  if (loads_.size() <= load) loads_.resize(std::size_t{load} + 1);
  loads_[load] = {.line = current_,
                  .latency = &launch_->latency,
                  .function = program_,
                  .pc = pc_,
                  .warp = warp,
                  .issued = now,
                  .looked_up = now};
}

void SmObserver::load_refused(std::uint32_t load, LoadStage why, Cycle now) {
  LoadRecord& record = loads_[load];
  if (record.refused != never) return;
  record.refused = now;
  record.why = why;
}

void SmObserver::load_looked_up(std::uint32_t load, Cycle at) { loads_[load].looked_up = at; }

// Walks through the stations in their order; what lies outside of what is left counts for nobody, so that the
// parts add up.
void SmObserver::load_ends(std::uint32_t load, Cycle at) {
  if (load >= loads_.size() || loads_[load].line == nullptr) return;
  const LoadRecord record = loads_[load];
  loads_[load].line = nullptr;
  Cycle here = record.issued;
  const auto until = [&](LoadStage stage, Cycle end) {
    const Cycle reached = std::clamp(end, here, at);
    record.latency->stages[static_cast<std::size_t>(stage)] += reached - here;
    here = reached;
  };
  until(LoadStage::l1_queue, std::min(record.refused, record.looked_up));
  until(record.why, record.looked_up);
  if (answering_) {
    until(LoadStage::l1, flight_.sent);
    until(LoadStage::crossbar, flight_.arrived);
    until(LoadStage::l2_queue, flight_.started);
    until(LoadStage::l2, flight_.looked_up);
    until(flight_.dram_full ? LoadStage::dram_queue : LoadStage::l2_queue, flight_.served);
    if (flight_.from_dram && flight_.dram_done > here) {
      until(LoadStage::dram_queue, flight_.dram_start);
      until(LoadStage::dram, flight_.dram_done);
      ++record.latency->from_dram;
    }
    until(LoadStage::l2, flight_.answered);
    until(LoadStage::crossbar, reply_at_);
  }
  until(LoadStage::l1, at);
  record.latency->total += at - record.issued;
  ++record.latency->loads;
  ++record.line->loads;
  record.line->load_cycles += at - record.issued;
  if (record.function != nullptr) timeline_.load(record.warp, *record.function, record.pc, record.issued, at);
}

}  // namespace simtlab::timing
