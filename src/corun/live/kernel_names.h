// The kernels that a program has launched, by number, and how many of them the daemon has been told on the
// present connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corun/live/protocol.h"

namespace simtlab::corun::live {

class KernelNames {
 public:
  // Beyond so many kernels all share one number.
  static constexpr std::size_t most = 4000;

  std::uint32_t add(std::string_view name, std::uint32_t registers, std::uint32_t shared_bytes) {
    if (kernels_.size() == most) return most - 1;
    if (kernels_.size() == most - 1)
      kernels_.push_back({"(other kernels)", 0, 0});
    else
      kernels_.push_back({std::string(name.substr(0, most_name)), registers, shared_bytes});
    return static_cast<std::uint32_t>(kernels_.size() - 1);
  }
  bool all_told() const { return told_ == kernels_.size(); }
  // Tells those that are new, with send(Register), which says whether it could. False: not all are told.
  template <class Send>
  bool tell(Send&& send) {
    while (!all_told() && send(Register{told_, kernels_[told_].registers, kernels_[told_].shared_bytes,
                                        kernels_[told_].name}))
      ++told_;
    return all_told();
  }
  void begin_connection() { told_ = 0; }

 private:
  struct Kernel {
    std::string name;
    std::uint32_t registers = 0, shared_bytes = 0;
  };
  std::vector<Kernel> kernels_;
  std::uint32_t told_ = 0;
};

}  // namespace simtlab::corun::live
