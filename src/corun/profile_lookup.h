// Which profile is of a launch: that of its program, its kernel and its shape; never another program's.
#pragma once

#include <optional>
#include <string>

#include "base/program_identity.h"
#include "corun/launch_shape.h"
#include "corun/profiles.h"

namespace simtlab::corun {

enum class Match {
  none,
  exact,      // of this shape
  any_shape,  // the profile has no shape: whoever wrote it says that it holds for all
  nearest,    // of the nearest shape of the same kernel: Profile::nearest is set
};

struct Found {
  Match match = Match::none;
  std::optional<Profile> profile;
  // Nothing is known of this program, but there are profiles of another file of its name
  bool other_build = false;
};

// kernel: as it is launched, mangled or not. Profiles may have its mangled name, its demangled one
// ("scale(float*, int)"), or its bare name.
Found find_profile(const Profiles& profiles, const ProgramIdentity& program, const std::string& kernel,
                   const LaunchShape& shape);

}  // namespace simtlab::corun
