// Accel-Sim traces: any text, compressed or not, is a trace or an Error, in bounded memory.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "stream/accelsim/import.h"

using namespace simtlab;

namespace {

// A few kilobytes of xz can be gigabytes of text.
constexpr std::size_t most_compressed = 2048;

machine::SassTable table() {
  constexpr const char* text = R"([opcode]
LDG = { value = "load global", estimated = "x" }
LD = { value = "load generic", estimated = "x" }
STS = { value = "store shared", estimated = "x" }
STL = { value = "store local", estimated = "x" }
ATOM = { value = "atomic generic", estimated = "x" }
LDGSTS = { value = "async copy", estimated = "x" }
DEPBAR = { value = "async wait", estimated = "x" }
BAR = { value = "barrier", estimated = "x" }
BRA = { value = "branch", estimated = "x" }
EXIT = { value = "exit", estimated = "x" }
DFMA = { value = "fp64 fma", estimated = "x" }
)";
  return machine::SassTable({device::parse_document(text, "table", device::Form::annotated)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const machine::SassTable known = table();
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("simtlab-fuzz-" + std::to_string(::getpid()) + ".simt");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("\xfd"
                       "7zXZ") &&
      size > most_compressed)
    return 0;
  try {
    stream::trace::Writer writer(file, "fuzz");
    stream::accelsim::Imported imported;
    stream::accelsim::import_kernel([&] { return stream::accelsim::memory_text(text); }, "input", known,
                                    writer, 0, imported, nullptr);
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
