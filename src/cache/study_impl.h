// Private state of a Study.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cache/l1.h"
#include "cache/l2.h"
#include "cache/picture.h"
#include "cache/sm.h"
#include "cache/study.h"

namespace simtlab::cache {

// What became of one SM, of a launch or of all.
struct SmTotals {
  std::uint64_t blocks = 0;
  CacheCounts l1;
};

struct StudyState {
  StudyState(const device::Device& d, const Options& o)
      : device(d), options(on_device(o, d)), totals(d.sm.count), picture(o.pictures) {
    if (options.l2) l2.emplace(device, options.sample, options.fetch_on_write, options.l2_in_flight);
  }
  bool simulated(std::uint32_t sm) const { return options.sms.has(sm); }
  void prepare(std::uint32_t l1_ways);
  void work(const Study::Launch& launch, LaunchState& state);
  void mark(const LaunchState& state);
  void check_memory(std::uint64_t most, const std::vector<std::unique_ptr<Sm>>& active) const;
  void close();  // what the SMs counted, once

  device::Device device;
  Options options;
  std::optional<L2> l2;
  std::vector<std::unique_ptr<L1>> l1;  // by SM; null: not simulated
  std::vector<SmTotals> totals;         // of all launches
  std::uint64_t thread_accesses = 0;
  // Of the launch that runs or ran last.
  std::vector<SmTotals> sms;
  std::unique_ptr<Codes> codes;
  std::unique_ptr<Buffers> buffers;
  Picture picture;                   // of the first SM
  std::vector<Picture> sm_pictures;  // of each
  const stream::WarpSource* source = nullptr;
  device::Occupancy occupancy;
  std::uint64_t warp_instructions = 0, thread_instructions = 0, launch_accesses = 0;
  std::vector<Study::Mark> marks;
  std::vector<std::uint64_t>
      dealt;  // with Options::sms: how many blocks each SM has had, of first + sm, first + sm + SMs, ...
  struct Span {
    std::uint64_t first = 0, end = 0;
  };
  Span given,
      chosen;  // blocks of the launch that are its own to run; those of them that Options::groups names
};

// describe.cpp: metrics and tables of the launch.
result::KernelResult describe(const StudyState& study);
// Median, least and greatest value over SMs that ran blocks.
void set_over_sms(result::Metrics& metrics, const std::vector<SmTotals>& sms);
// advice.cpp; single_threads: they took turns, not warps
result::Table advice(const result::Table& instructions, const result::Metrics& metrics, bool single_threads);

}  // namespace simtlab::cache
