// One row of the table of parameters.
#pragma once

#include <string>
#include <utility>

#include "device/parameters.h"

namespace simtlab::device {

inline constexpr double max_latency = 1e6;  // cycles; no hardware operation comes near
inline constexpr double mebi = 1024.0 * 1024.0;

template <class Member>
Parameter row(std::string key, Unit unit, double minimum, double maximum, Member member, std::string doc) {
  return {{std::move(key), unit, minimum, maximum, std::move(doc)},
          [member](Device& d) -> Field { return member(d); }};
}

}  // namespace simtlab::device
