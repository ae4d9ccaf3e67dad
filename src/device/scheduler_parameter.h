// Named numbers that a policy of one source file has of its own. They are keys of device files and
// configuration files: `scheduler.NAME.PARAMETER`, beside the key that chooses the policy (`sm.scheduler =
// "NAME"`).
//
// The policy's file declares them as calls of whole_parameter() or real_parameter() with literals. The build
// copies these calls from the text of the file to the list below (cmake/registry.cmake), so that this layer
// knows the keys without the policies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "device/device.h"

namespace simtlab::device {

struct SchedulerParameter {
  std::string_view name;  // "warps"
  bool whole = true;      // a whole number
  double default_value = 0, minimum = 0, maximum = 0;
  std::string_view doc;  // one sentence without the final full stop
};
constexpr SchedulerParameter whole_parameter(std::string_view name, std::uint64_t default_value,
                                             std::uint64_t minimum, std::uint64_t maximum,
                                             std::string_view doc) {
  return {name,
          true,
          static_cast<double>(default_value),
          static_cast<double>(minimum),
          static_cast<double>(maximum),
          doc};
}
constexpr SchedulerParameter real_parameter(std::string_view name, double default_value, double minimum,
                                            double maximum, std::string_view doc) {
  return {name, false, default_value, minimum, maximum, doc};
}

// All parameters of warp schedulers, in the order of the policies' names and of their files.
struct OwnedParameter {
  std::string_view policy;  // "swl"
  SchedulerParameter parameter;
};
std::span<const OwnedParameter> scheduler_parameters();

// The values that a device gives to the parameters of one warp scheduler. A parameter that the device says
// nothing of has its default.
class SchedulerValues {
 public:
  SchedulerValues(const Device& device, std::string_view policy) : device_(device), policy_(policy) {}
  std::uint64_t whole(std::string_view parameter) const;
  double real(std::string_view parameter) const;

 private:
  const Device& device_;
  std::string_view policy_;
};

}  // namespace simtlab::device
