// Fat binaries as an attacker would write them: only simtlab::Error may come out.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "compile/frontend.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;  // 0 means "size unknown" to the reader
  try {
    const auto entries = simtlab::compile::read_fatbin(data, size, "fuzz");
    for (const auto& entry : entries) {
      if (entry.is_ptx)
        simtlab::compile::ptx_text(entry, "fuzz");
      else
        simtlab::compile::machine_code(entry, "fuzz");
    }
    simtlab::compile::pick_ptx(entries, 8, 0, "fuzz");
  } catch (const simtlab::Error&) {}
  return 0;
}
