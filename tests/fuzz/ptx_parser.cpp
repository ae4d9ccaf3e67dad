// libFuzzer target: any bytes as PTX. A simtlab::Error is the right answer to bad text; everything else is a
// bug.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "ptx/module.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  try {
    simtlab::ptx::load_module("fuzz.ptx", text);
  } catch (const simtlab::Error& error) { (void)error.format(); }
  // The same text with unsupported instructions decoded as traps: reaches the stages behind the check.
  simtlab::ptx::LoadOptions tolerant;
  tolerant.reject_unsupported = false;
  try {
    simtlab::ptx::load_module("fuzz.ptx", std::move(text), tolerant);
  } catch (const simtlab::Error&) {}
  return 0;
}
