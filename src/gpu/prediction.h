// Launches through the analytical models: what is wished, and what of it stands in a run's configuration as
// text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/device.h"
#include "exec/executor.h"
#include "ptx/module.h"
#include "result/metrics.h"

namespace simtlab::gpu {

struct PredictOptions {
  std::string model = "all";
  std::string rule = "order";
  std::string counts;       // text of a counts file whose values take precedence; empty: none
  std::string counts_file;  // its name
  std::string resios;       // as models::parse_options
  bool whole = false;       // every block goes through the cache study, not a sample
  // Blocks outside of the sample are executed: somebody looks at what the kernel leaves
  bool effects = true;
  bool operator==(const PredictOptions&) const = default;
};

// One line of JSON. parse throws Error(bad_input, "run-config").
std::string to_text(const PredictOptions& options);
PredictOptions parse_predict_options(std::string_view text);

// A kernel that is not executed, because its arguments are unknown (counts/static_profile.h). trips: of loops
// whose end is unknown. Throws as launching it would, and Error(bad_input, "counts-...").
struct StaticKernel {
  const ptx::Module& module;
  const ptx::Function& function;
  exec::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0, registers_override = 0;
  double trips = 10;
  bool lowering = true;
};
result::KernelResult predict_static(const device::Device& device, const StaticKernel& kernel,
                                    const PredictOptions& options);

}  // namespace simtlab::gpu
