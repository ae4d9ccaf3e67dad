// libFuzzer target: any bytes as PTX that is assembled. A simtlab::Error is the right answer to bad text, and
// a kernel may stay PTX with a reason; everything else is a bug.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "assembler/assemble.h"
#include "base/error.h"
#include "ptx/module.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr unsigned generations[] = {70, 75, 80, 86, 90};
  std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool tolerant : {false, true}) {
    simtlab::ptx::LoadOptions options;
    // Unsupported instructions are then traps: what stands behind them is assembled.
    options.reject_unsupported = !tolerant;
    simtlab::assembler::make_code(options, generations[size % std::size(generations)], false);
    try {
      const auto module = simtlab::ptx::load_module("fuzz.ptx", text, options);
      module->complete_all();
      for (const simtlab::ptx::Function& f : module->functions)
        if (f.is_entry && !f.assembled && f.not_assembled.empty()) std::abort();
    } catch (const simtlab::Error& error) { (void)error.format(); }
  }
  return 0;
}
