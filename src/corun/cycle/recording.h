// The launches of an application, as a trace has them: what the cycle-level host runs again and again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stream/trace/reader.h"
#include "stream/trace/replay.h"

namespace simtlab::corun::cycle {

class Recording {
 public:
  // Throws as stream::trace::open(), and Error(bad_input, "corun-recording"): no launches, too many, or a
  // launch of which the trace has a part only.
  explicit Recording(const std::filesystem::path& trace);

  std::size_t launches() const { return kernels_.size(); }
  // Of the kernel of a launch, as C++ writes it, with its parameters.
  const std::string& kernel(std::size_t launch) const { return names_[launch]; }
  const std::string& mangled(std::size_t launch) const;
  // What the program did to memory before a launch, and after the last one (launches()), in its order: copies
  // and fills with their bytes, and ranges that were written.
  struct Transfer {
    stream::trace::OpKind kind = stream::trace::OpKind::copy;  // copy, fill or invalidate
    std::uint64_t a = 0, b = 0;                                // as in stream::trace::OpKind
  };
  std::span<const Transfer> before(std::size_t launch) const;
  // Lives as long as the recording; may run several times at once.
  const stream::trace::ReplayedLaunch& launch(std::size_t launch) const;

 private:
  std::unique_ptr<stream::trace::Reader> reader_;
  std::vector<stream::trace::Kernel> kernels_;
  std::vector<std::string> names_;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> transfers_of_;  // of each launch, and after the last one: where they begin
  mutable std::vector<std::unique_ptr<stream::trace::ReplayedLaunch>> made_;
};

}  // namespace simtlab::corun::cycle
