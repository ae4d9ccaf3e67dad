// The fast host's machine with SMs: blocks of the launches that were granted take places on them as the
// hardware hands them out.
//
// Launches get places in the order of their grants: the next one has what those before it leave, within what
// --sharing gives it. Blocks that begin together are one group, which goes on at the rate that contention.h
// gives it and leaves its places when it ends; what is kept is a few groups for each launch.
//
// What a process has in L2 it finds there again unless the others have brought in so much since that it is
// the least recently used.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "corun/contention.h"
#include "corun/host.h"
#include "timing/share_policy.h"

namespace simtlab::corun {

// Figures that it needs of a profile and that are not there: "grid, block"; empty if none is missing.
std::string missing_shape(const Profile& profile);

// SMs first to end - 1.
struct SmRange {
  std::uint32_t first = 0, end = 0;
  std::uint32_t count() const { return end - first; }
};

// How launches share the SMs (timing/share_policy.h); part: those that a kernel is bound to, none: it may go
// to all. Without a function none is.
struct SmSharing {
  timing::SharePolicy policy = timing::SharePolicy::leftover;
  std::function<SmRange(const std::string& application, const std::string& kernel)> part;
};

class ResidencyMachine final : public Machine {
 public:
  // Throws Error(bad_input, "corun-profiles") for a kernel without a shape, or one of which no block fits on
  // an SM.
  ResidencyMachine(std::span<const Workload> mix, const device::Device& device,
                   const SmSharing& sharing = {});

  void begin(std::size_t process, std::uint64_t launch, Time now) override;
  Time advance(Time now, Time until, std::vector<std::size_t>& ended) override;

 private:
  // Blocks that have places until the same moment; of a grid of many waves one after another on the same
  // places.
  struct Group {
    std::uint64_t places = 0;
    double ends = 0;  // in Running::done
    SmRange sms;      // that they lie on, evenly
  };
  struct Running {
    std::size_t process = 0;
    GridWork grid;
    double footprint = 0;       // bytes of L2
    SmRange part;               // that it is bound to; none: any
    std::uint64_t pending = 0;  // blocks that have no place yet
    std::uint64_t resident = 0;
    std::vector<Group> groups;
    double stretch = 1;
    // Of a block that began with the launch and went on without an end, in blocks
    double done = 0;
    std::uint64_t settled = 0;  // resident blocks that the stretch is for
  };
  // What is held of all SMs together.
  struct Held {
    std::uint64_t blocks = 0, warps = 0, registers = 0, shared_bytes = 0;
  };

  struct Step {
    GridWork warm, cold;
    double footprint = 0;  // 0: not known, and it is never cold
    SmRange part;
  };
  // What a process does to L2.
  struct Footprint {
    double largest = 0;        // of its launches
    double touched = 0;        // bytes, by the launches that have ended
    bool began = false;        // it has launched something
    std::vector<double> seen;  // what each process had touched when its latest launch began
  };

  double missing(std::size_t process, const Step& step);
  double touched(std::size_t process) const;
  std::uint64_t most(const Running& r, const SmRange& range) const;
  std::uint64_t room(const Running& r) const;
  static void hold(Held& all, const GridWork& grid, std::uint64_t blocks, bool take);
  static void place(Running& r, std::uint64_t places, double rounds, SmRange sms);
  void hand_out();
  SmRange range_of(const Running& r) const;
  bool shares_all(const SmRange& range) const { return range.count() == device_.sm.count; }
  double own_part(const Running& r) const;
  static std::uint64_t blocks_on(const Running& r, const SmRange& range);
  Held held_on(const SmRange& range) const;
  void set_rates();
  double next_end() const;
  void go_on(double span);
  bool retire(std::vector<std::size_t>& ended);

  const device::Device& device_;
  const timing::SharePolicy sharing_;
  const Servers servers_;
  std::vector<std::vector<Step>> steps_;  // of each process
  std::vector<Footprint> footprints_;     // of each process
  std::vector<Running> running_;          // in the order of the grants
  std::vector<Crowd> crowds_;
  std::vector<Running*> crowd_of_;  // of crowds_
  std::size_t settled_ = 0;         // launches that the stretches are for
  std::array<double, Servers::count> delays_{1, 1, 1};
  Held held_;
  bool changed_ = false;
};

}  // namespace simtlab::corun
