// Launch files and --arg texts: only simtlab::Error may come out.
#include "compile/launch_file.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    simtlab::compile::parse_launch_file(text, "fuzz.toml");
  } catch (const simtlab::Error&) {}
  simtlab::compile::LaunchOptions options;
  options.args = {text};
  options.grid = text.substr(0, 64);
  try {
    simtlab::compile::launch_from_options(options);
  } catch (const simtlab::Error&) {}
  return 0;
}
