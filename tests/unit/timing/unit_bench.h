// What a unit of an SM needs around it to be tested alone: a device, a program, warps and their launch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator.h"
#include "stream/executed.h"
#include "timing/scheduler.h"
#include "timing/sm_context.h"

namespace simtlab::timing {

class UnitBench {
 public:
  // The warps of a block of kernel k, on an SM of the device.
  explicit UnitBench(const std::string& body, unsigned warps = 4, const device::Device& d = device_of("v100"))
      : simulator(d, body),
        pipes(simulator.device),
        lowering(simulator.device, true),
        latencies(simulator.device) {
    launch = simulator.prepare("k", {4, 1, 1}, {warps * 32, 1, 1});
    source = std::make_unique<stream::ExecutedLaunch>(*launch);
    context.launch = source.get();
    context.warps_per_block = warps;
    context.blocks_per_sm = 1;
    context.occupancy = device::occupancy(simulator.device, warps * 32, 32, 0);
    context.programs.begin(source->function(), pipes, lowering);
    tenant.context = &context;
    tenant.work = source->make_share(stream::Effects::at_commit);
    this->warps.resize(warps);
    for (unsigned i = 0; i < warps; ++i) {
      this->warps[i].tenant = &tenant;
      this->warps[i].program = &program();
      this->warps[i].scheduler = static_cast<std::uint8_t>(i % simulator.device.sm.schedulers);
      this->warps[i].local = static_cast<std::uint8_t>(i / simulator.device.sm.schedulers);
    }
    sm.work_for(this->warps[0]);
  }

  const Program& program() { return *context.programs.of(source->function()); }
  std::uint32_t slots() const { return context.programs.scoreboard_slots(); }

  Simulator simulator;
  PipeTable pipes;
  Lowering lowering;
  Latencies latencies;
  device::WhatIf what_if;
  SmConfig config{simulator.device, pipes, latencies, scheduler_policy(simulator.device.sm.scheduler),
                  what_if};
  SmContext sm{0, config};
  std::unique_ptr<exec::Launch> launch;
  std::unique_ptr<stream::ExecutedLaunch> source;
  LaunchContext context;
  Tenant tenant;
  std::vector<Warp> warps;
};

}  // namespace simtlab::timing
