// What the units of one SM have in common: who they are, what time it is, and for which launch they work.
#pragma once

#include <cstdint>
#include <memory>

#include "stream/coalescer.h"
#include "timing/latencies.h"
#include "timing/observer.h"
#include "timing/program.h"
#include "timing/tenant.h"
#include "timing/warp.h"

namespace simtlab::timing {

struct SchedulerPolicy;

// Parameters that all SMs share.
struct SmConfig {
  const device::Device& device;
  const PipeTable& pipes;
  const Latencies& latencies;
  const SchedulerPolicy& policy;
  const device::WhatIf& what_if;
};

struct SmContext {
  SmContext(std::uint32_t number, const SmConfig& shared) : id(number), config(shared) {}

  std::uint32_t id;
  const SmConfig& config;
  std::uint64_t epoch = 0;  // of %clock at cycle 0
  Cycle now = 0;
  Cycle quantum_end = 0;
  bool unused = true;                    // no block has come since begin()
  SmCounters* counters = nullptr;        // of the launch that the SM works for at the moment
  std::uint8_t launch = 0;               // the slot of that launch
  std::unique_ptr<SmObserver> observer;  // null: nobody listens
  stream::Segments segments;             // of the memory instruction that issues

  void work_for(const Warp& warp) {
    counters = &warp.tenant->counters;
    launch = warp.tenant->context->slot;
  }

  // An instruction happens, be it issued or folded into others.
  void count(const InstInfo& info, const stream::Step& step) {
    const unsigned lanes = stream::count_lanes(step.mask);
    const auto c = static_cast<std::size_t>(info.op_class);
    ++counters->warp_instructions;
    counters->thread_instructions += lanes;
    ++counters->by_class[c];
    counters->flops_by_class[c] += std::uint64_t{lanes} * info.flops;
    if (info.inst->op != ptx::Op::bra && info.inst->op != ptx::Op::brx) return;
    ++counters->branches;
    if (step.mask != 0 && step.mask != step.active) ++counters->divergent_branches;
  }
};

}  // namespace simtlab::timing
