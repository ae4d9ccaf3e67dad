// How a warp scheduler decides which warp goes first. One file a policy, schedulers/NAME.cpp, which gives a
// SchedulerPolicy scheduler_NAME. A new policy is a new file: the build makes the list of names and of
// parameters (cmake/registry.cmake).
//
// Each scheduler of each SM has an object of its own, so that a policy may keep what it has seen. Objects are
// never shared between host threads. A policy may listen to events by overriding their functions; events that
// it does not override cost nothing.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/named.h"
#include "device/scheduler_parameter.h"
#include "timing/wake_ups.h"

namespace simtlab::timing {

using memory::Cycle;
struct WarpScheduler;

class WarpPolicy {
 public:
  virtual ~WarpPolicy() = default;

  // The warp that issues, out of `eligible`: never empty, all of them could issue in this cycle. A policy may
  // also let none of them go (nobody). Then the slot counts as lost to `dispatch`, and the policy is asked
  // again when another warp becomes ready, when an event that it listens to has come, and at ask_again().
  virtual unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle now) = 0;
  static constexpr unsigned nobody = max_scheduler_warps;
  // After it has let nobody go: the cycle, after `now`, in which it may decide otherwise by itself.
  virtual Cycle ask_again(Cycle now) const {
    static_cast<void>(now);
    return memory::never;
  }
  // The GPU was idle, and its SM gets the first block since: what was before counts no more.
  virtual void begin() {}

  // Events. Warps are numbers within the scheduler; what the warps of other schedulers do is told to their
  // own policies.
  virtual void issued(unsigned /*warp*/, Cycle /*now*/) {}
  // A load of the warp has missed L1: these sectors of a 128-byte line are fetched for it. Sectors that are
  // under way already are not among them.
  virtual void load_missed(unsigned /*warp*/, std::uint64_t /*line*/, std::uint8_t /*sectors*/,
                           Cycle /*now*/) {}
  // All data of a load of the warp is there at that cycle, which lies ahead if the load has hit L1.
  virtual void data_returned(unsigned /*warp*/, Cycle /*now*/) {}
  // A block has started or ended that has these warps of the scheduler.
  virtual void block_started(WarpMask /*warps*/, Cycle /*now*/) {}
  virtual void block_ended(WarpMask /*warps*/, Cycle /*now*/) {}
};

// What a policy listens to.
struct PolicyEvents {
  bool issued = false, load_missed = false, data_returned = false;
  bool block_started = false, block_ended = false;

  // What the class overrides: a pointer to a function that it inherits has the type of the base class's.
  template <class Policy>
  static constexpr PolicyEvents of() {
    return {
        .issued = !std::is_same_v<decltype(&Policy::issued), decltype(&WarpPolicy::issued)>,
        .load_missed = !std::is_same_v<decltype(&Policy::load_missed), decltype(&WarpPolicy::load_missed)>,
        .data_returned =
            !std::is_same_v<decltype(&Policy::data_returned), decltype(&WarpPolicy::data_returned)>,
        .block_started =
            !std::is_same_v<decltype(&Policy::block_started), decltype(&WarpPolicy::block_started)>,
        .block_ended = !std::is_same_v<decltype(&Policy::block_ended), decltype(&WarpPolicy::block_ended)>};
  }
};

// A policy as the list of policies knows it.
struct SchedulerPolicy {
  std::string_view doc;  // one sentence
  std::unique_ptr<WarpPolicy> (*make)(const device::SchedulerValues& values);
  PolicyEvents events = {};
  std::span<const device::SchedulerParameter> parameters = {};
};

// The entry of a policy class. The class is constructed from the values of its parameters, or from nothing if
// it has none.
template <class Policy>
constexpr SchedulerPolicy policy_entry(std::string_view doc,
                                       std::span<const device::SchedulerParameter> parameters = {}) {
  constexpr auto make = [](const device::SchedulerValues& values) -> std::unique_ptr<WarpPolicy> {
    if constexpr (std::is_constructible_v<Policy, const device::SchedulerValues&>) {
      return std::make_unique<Policy>(values);
    } else {
      static_cast<void>(values);
      return std::make_unique<Policy>();
    }
  };
  return {doc, make, PolicyEvents::of<Policy>(), parameters};
}

std::span<const Named<SchedulerPolicy>> scheduler_policies();  // in the order of the names
const SchedulerPolicy& scheduler_policy(device::Scheduler id);

}  // namespace simtlab::timing
