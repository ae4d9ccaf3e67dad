// What a scheduler or page policy of a channel is made from: the size of the channel, and the parameters that
// its file declares, with the values of the controller.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "device/policy_parameters.h"

namespace simtlab::memory::dram {

class PolicySetup {
 public:
  PolicySetup(std::uint32_t banks, std::span<const device::PolicyParameter> declared,
              const device::ParameterValues& given)
      : banks_(banks), declared_(declared), given_(given) {}

  std::uint32_t banks() const { return banks_; }  // of the channel
  // The value of a parameter that the policy declares.
  std::uint32_t operator[](std::string_view parameter) const {
    const auto declared = std::ranges::find(declared_, parameter, &device::PolicyParameter::name);
    SIMTLAB_ASSERT(declared != declared_.end(), "a policy reads the parameters that its file declares");
    const auto given = given_.find(parameter);
    return given == given_.end() ? declared->default_value : given->second;
  }

 private:
  std::uint32_t banks_;
  std::span<const device::PolicyParameter> declared_;
  const device::ParameterValues& given_;
};

// The event, if a policy overrides its function: Own and Base are pointers to it, of one type unless it does.
template <class Own, class Base>
constexpr unsigned if_overridden(Own, Base, unsigned event) {
  return std::is_same_v<Own, Base> ? 0 : event;
}

// A policy from its setup, or from nothing if it needs none.
template <class Policy>
std::unique_ptr<Policy> make_policy(const PolicySetup& setup) {
  if constexpr (std::is_constructible_v<Policy, const PolicySetup&>)
    return std::make_unique<Policy>(setup);
  else
    return std::make_unique<Policy>();
}

}  // namespace simtlab::memory::dram
