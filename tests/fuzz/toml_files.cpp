// Files that people write by hand: studies of sweeps and profiles of applications. Any bytes give one, or an
// Error with a place; what was read is written and read again without a change.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "corun/profiles.h"
#include "studies/sweep/study_file.h"

using namespace simtlab;

namespace {

void study(std::string_view text) {
  const studies::sweep::StudyFile file = studies::sweep::read_study(text, "input.toml");
  if (file.study.axes.size() > 64 || file.axis_positions.size() > file.study.axes.size()) __builtin_trap();
}

void profiles(std::string_view text) {
  const std::string once = corun::to_toml(corun::profiles_from_toml(text, "input.toml"));
  if (corun::to_toml(corun::profiles_from_toml(once, "again.toml")) != once) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {study, profiles}) {
    try {
      read(text);
    } catch (const Error& e) { static_cast<void>(e.format()); }
  }
  return 0;
}
