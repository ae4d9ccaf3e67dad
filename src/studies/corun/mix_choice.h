// Which mixes are run under which policies and limits: what the commands for mixes have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/common/command.h"

namespace simtlab::studies {

struct MixChoice {
  std::vector<std::string> policies = {"mps", "shark"};
  std::vector<std::uint32_t> limits;  // none: half of a mix
  std::vector<std::size_t> sizes;
  std::optional<std::size_t> count;
  std::vector<std::string> mixes, priorities;
  std::optional<std::uint64_t> seed;
};

void add_mix_choice(Command& command, MixChoice& o);
void add_priorities(Command& command, MixChoice& o);  // --priority APP=N
void check_mix_choice(const MixChoice& o);
std::vector<std::pair<std::string, std::int32_t>> priorities_of(const MixChoice& o,
                                                                const std::vector<std::string>& applications);

using Groups = std::vector<std::vector<std::vector<std::string>>>;  // mixes, by their size
Groups mixes_of(const MixChoice& o, const std::vector<std::string>& names);
// Without any: half of the applications. With as many slots as applications every policy grants all at once.
std::vector<std::uint32_t> limits_of(const MixChoice& o, std::size_t size);
// Says which are left out; Error(usage, "option-conflict") if all are.
void check_limits(const MixChoice& o, const Groups& groups, bool quiet);

}  // namespace simtlab::studies
