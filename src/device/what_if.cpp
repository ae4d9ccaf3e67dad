#include "device/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::device {

std::span<const WhatIfName> what_ifs() {
  static constexpr std::array<WhatIfName, 12> names = {{
      {"perfect-l1", "every weak load of global, local and texture memory hits L1",
       "keep the data near the SM: shared memory, registers, "
       "smaller tiles",
       &WhatIf::perfect_l1},
      {"infinite-dram-bandwidth", "main memory answers after its idle latency, however much is asked of it",
       "move fewer bytes: reuse, "
       "smaller types, data that stays in L2",
       &WhatIf::infinite_dram_bandwidth},
      {"no-bank-conflicts",
       "an access to shared memory takes the passes it would take without bank conflicts",
       "pad or swizzle arrays in "
       "shared memory",
       &WhatIf::no_bank_conflicts},
      {"perfect-coalescing", "a load or store touches as few sectors as its bytes fill",
       "let neighbouring threads access neighbouring "
       "addresses",
       &WhatIf::perfect_coalescing},
      {"double-occupancy",
       "an SM has room for twice the warps, blocks, registers and shared memory, with the same L1",
       "use fewer registers "
       "or less shared memory, or launch more blocks",
       &WhatIf::double_occupancy},
      {"double-math", "arithmetic pipelines take twice the instructions per cycle; latencies stay",
       "execute fewer or cheaper arithmetic "
       "instructions",
       &WhatIf::double_math},
      {"zero-launch-cost", "launching kernels and blocks takes no time",
       "launch fewer, longer kernels and blocks", &WhatIf::zero_launch_cost},
      {"perfect-fetch", "instructions are always at hand, and branches drop none that were fetched",
       "make loops shorter than the instruction cache and longer than a few instructions: unroll less or "
       "more",
       &WhatIf::perfect_fetch},
      {"no-register-conflicts", "instructions read all their registers at once",
       "nothing in CUDA: registers are the assembler's; fewer live values leave it more choice",
       &WhatIf::no_register_conflicts},
      {"unlimited-tags", "L1 looks up the tags of all lines of an access in one cycle",
       "let a warp touch fewer lines at once", &WhatIf::unlimited_tags},
      {"wide-writes",
       "each SM has a way of its own for writes, their addresses and masks cost nothing there and in L2, and "
       "memory writes parts of sectors without reading them",
       "write whole lines: collect words in shared memory first", &WhatIf::wide_writes},
      {"alone", "kernels of other streams wait: each kernel has the GPU for itself",
       "give kernels that get in each other's way SMs of their own "
       "(--sharing) or run them after each other",
       &WhatIf::alone},
  }};
  return names;
}

WhatIf parse_what_if(std::string_view text) {
  WhatIf out;
  if (text == "none") return out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    const auto found = std::ranges::find(what_ifs(), word, &WhatIfName::name);
    if (found == what_ifs().end()) {
      std::vector<std::string> names = {"none"};
      std::string list;
      for (const WhatIfName& n : what_ifs()) {
        names.emplace_back(n.name);
        list += (list.empty() ? "" : ", ") + std::string(n.name);
      }
      const std::string near = nearest_name(std::string(word.substr(0, 100)), names);
      throw Error(ExitCode::bad_input, "what-if",
                  fmt::format("what-if: unknown limit '{}'", shown(std::string(word), 40)),
                  near.empty() ? "one or more of " + list + ", separated by commas"
                               : fmt::format("did you mean '{}'?", near));
    }
    out.*found->member = true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace simtlab::device
