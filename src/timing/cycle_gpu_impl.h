// Private state of CycleGpu, shared by the files that implement it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stream/executed.h"
#include "timing/active.h"
#include "timing/machine.h"
#include "timing/memory_system.h"
#include "timing/metrics.h"
#include "timing/progress_watch.h"
#include "timing/quantum.h"
#include "timing/sharing.h"

namespace simtlab::timing {

struct CycleGpu::Impl {
  // What instructions take on the device.
  struct Models {
    Models(const device::Device& device, bool lower, const Latencies& measured)
        : pipes(device), lowering(device, lower), as_it_is(device, false), latencies(measured) {}
    const PipeTable pipes;
    const Lowering lowering, as_it_is;  // of PTX, of machine code
    const Latencies latencies;
  };
  // How far what was done has been given to the launches that did it.
  struct Accounted {
    SharedUse used;  // of what they share
    Cycle until = 0;
    Cycle slots_until = 0;  // issue slots are charged until here at least
  };
  // A launch of which a part was simulated.
  struct Sampled {
    std::optional<Sampler> sampler;
    std::uint64_t blocks = 0;  // simulated
    LeftOut left_out;
  };

  Impl(Machine machine, const Options& o);

  // cycle_gpu.cpp: time
  ActiveLaunch& begin(const stream::WarpSource& launch, const Setup& setup, Cycle at);
  void begin_period();
  void place(ActiveLaunch& launch, const stream::WarpSource& source, const Setup& setup);
  void reshare();
  void hand_out(Cycle at);
  Cycle next_opening() const;
  void open(Cycle now);
  ActiveLaunch* advance(Cycle until);
  ActiveLaunch* ended();
  Cycle next_event() const;
  void step(Cycle now);
  void run_quantum(Cycle end);
  void send(std::span<Sm* const> neighbours);
  void collect_ended(Sm& sm);
  void drain();
  std::uint32_t l1_ways(const LaunchContext& launch) const;
  ActiveLaunch& find(Id id);

  // collect.cpp: results
  Ended finish(ActiveLaunch& launch);
  void give_up();
  std::vector<Ended> partial();
  SharedUse shared_use() const;
  void account(Cycle now);
  LaunchStatistics statistics_of(const ActiveLaunch& launch, Cycle end, bool channels);
  void add_tenants(const ActiveLaunch& launch, LaunchStatistics& statistics, InstTable& lines);
  result::KernelResult collect(ActiveLaunch& launch, Cycle end, bool channels);
  Snapshot snapshot(Cycle at) const;
  void take_snapshots(Cycle now);
  void sample(ActiveLaunch& launch, Cycle now);

  // progress.cpp: limits and faults
  void check_end(Cycle end) const;
  void look_ahead(Cycle until);
  void check_stuck(std::uint32_t steps, Cycle until);
  void check_limits(Cycle now, Cycle until);
  void beat(Cycle now);
  void tell(const ActiveLaunch& launch, Cycle now) const;
  void stuck() const;

  const device::Device device;
  const Options options;
  const Models models;
  const SmConfig sm_config;
  Interconnect network;
  MemorySystem memory;
  std::deque<Sm> sms;
  MemoryObserver listener;  // listens only if somebody asked
  QuantumRunner quantum;
  BlockDispatcher dispatcher;

  std::vector<std::unique_ptr<ActiveLaunch>> active;  // in the order in which they are served
  std::vector<LaunchContext*> contexts;               // theirs
  std::uint64_t launches = 0;
  std::optional<stream::ExecutedLaunch> executed;  // of run(), kept for partial()
  Accounted accounted;
  bool arrived = false;  // launches whose blocks have not been handed out yet

  ProgressWatch watch;
  std::uint64_t epoch = 0;
  Cycle horizon = 0;  // nothing has been simulated beyond
  Sampled last;       // the launch that ended last
};

}  // namespace simtlab::timing
