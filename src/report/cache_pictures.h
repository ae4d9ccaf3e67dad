// Pictures of a cache study: single SVG files, and one HTML file with all of them.
#pragma once

#include <string>
#include <vector>

#include "result/metrics.h"

namespace simtlab::report {

struct Picture {
  std::string file;  // name, without a folder
  std::string content;
};

// For the launch with the most traffic: accesses.svg (offset over order, a panel for each buffer), sets.svg
// (pressure on the sets of L1), set_map.svg (misses by SM and set), reuse.svg (histogram of reuse distances),
// miss_ratio.svg (misses over capacity), and cache.html with all of them.
std::vector<Picture> cache_pictures(const result::Result& result);

}  // namespace simtlab::report
