// The modelled part of `simtlab corun`: mixes on the fast and the cycle-level host, interference, profiles,
// replays of decision logs.
#pragma once

#include "studies/common/command.h"

namespace simtlab::studies {

// Corun itself, without a sub-command
void add_corun_mixes(Command& corun);
void add_corun_interfere(Command& corun);
void add_corun_profile(Command& corun);
void add_corun_profiles(Command& corun);
void add_corun_replay(Command& corun);
void add_corun_live(Command& corun);

}  // namespace simtlab::studies
