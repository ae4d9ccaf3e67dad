// The numbers of launches, and which of them are simulated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "gpu/kernel_choice.h"

namespace simtlab::gpu {

class LaunchNumbers {
 public:
  struct Launch {
    std::uint64_t number = 0;  // from 1
    bool chosen = true;
  };
  explicit LaunchNumbers(KernelChoice choice) : choice_(std::move(choice)) {}

  // The next launch, of the kernel with this name.
  Launch next(const std::string& name, const std::string& demangled) {
    Launch out{.number = ++launches_};
    out.chosen = choice_.all() || choice_.selects(name, demangled, launches_, ++launches_of_[name]);
    if (!out.chosen) ++skipped_;
    return out;
  }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t skipped() const { return skipped_; }  // of them, those that were not chosen

 private:
  KernelChoice choice_;
  std::uint64_t launches_ = 0, skipped_ = 0;
  std::map<std::string, std::uint64_t> launches_of_;  // by kernel, while there is a choice
};

}  // namespace simtlab::gpu
