// Launches through the analytical models: what is wished, and what of it stands in a run's configuration as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace simtlab::gpu {

struct PredictOptions {
  std::string model = "all";
  std::string rule = "order";
  std::string counts;              // text of a counts file whose values take precedence; empty: none
  std::string counts_file;         // its name
  std::string resios = "corrected";   // as predict::parse_options
  bool whole = false;              // every block goes through the cache study, not a sample
  bool effects = true;             // blocks outside of the sample are executed: somebody looks at what the kernel leaves
  bool operator==(const PredictOptions&) const = default;
};

// One line of JSON. parse throws Error(bad_input, "run-config").
std::string to_text(const PredictOptions& options);
PredictOptions parse_predict_options(std::string_view text);

}  // namespace simtlab::gpu
