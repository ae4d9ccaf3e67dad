// Names of the ways in which launches share a GPU (sharing.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace simtlab::timing {

enum class SharePolicy : std::uint8_t {
  // In the order of their coming, higher priority first: a later one gets what those before it leave. What
  // GPUs do
  leftover,
  spatial,  // the SMs are divided evenly, each launch has neighbours (Adriaens et al., HPCA 2012)
  // Each SM is divided evenly: a launch holds at most its part of the blocks that it could hold alone (Wang
  // et al., HPCA 2016)
  smk,
  serial,  // one after the other
  count_,
};
std::string_view name_of(SharePolicy policy);  // "leftover"
std::optional<SharePolicy> share_policy(std::string_view name);

}  // namespace simtlab::timing
