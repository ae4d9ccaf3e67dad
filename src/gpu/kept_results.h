// The results of launches, in the order of the launches and within bounds: a program may have millions of
// them.
//
// Of very many launches the first ones stand one by one, and the later ones of a kernel are merged. Profiles
// of lines and series over time have bounds of their own, over all launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "result/metrics.h"

namespace simtlab::gpu {

struct EndedKernel;

class KeptResults {
 public:
  struct Bounds {
    std::size_t launches = 4096;
    // Of all launches together: 150 MB.
    std::size_t series_rows = std::size_t{1} << 19;
    // Lines of all launches with a profile of their own; later launches are added to the first of their
    // kernel.
    std::size_t profile_lines = 20000;
  };

  // on_kept: as a result has its place; may be empty.
  explicit KeptResults(std::function<void(const EndedKernel&)> on_kept)
      : KeptResults(std::move(on_kept), Bounds{}) {}
  KeptResults(std::function<void(const EndedKernel&)> on_kept, const Bounds& bounds)
      : on_kept_(std::move(on_kept)), bounds_(bounds) {}

  void keep(std::uint64_t launch, result::KernelResult&& result);  // launch: its number, from 1

  std::uint64_t ended() const { return ended_; }  // launches that were kept
  std::vector<result::KernelResult> all() const;  // single ones, then the merged ones

 private:
  void add_profile_to_earlier(result::KernelResult& result);
  void keep_alone(std::uint64_t launch, result::KernelResult&& result);
  void merge(std::uint64_t launch, result::KernelResult&& result);
  void halve_longest_series();

  std::function<void(const EndedKernel&)> on_kept_;
  Bounds bounds_;
  std::vector<result::KernelResult> single_;         // in the order of the launches
  std::vector<std::uint64_t> numbers_;               // theirs
  std::size_t profile_lines_ = 0, series_rows_ = 0;  // that single_ holds
  std::vector<result::KernelResult> merged_;         // launches beyond the bound, one entry a kernel
  std::uint64_t ended_ = 0;
};

}  // namespace simtlab::gpu
