// Columns beside a result: any bytes give columns or an Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "result/columns.h"

using namespace simtlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    result::ColumnReader reader(std::string(reinterpret_cast<const char*>(data), size), "r.npz");
    for (const char* name : {"a", "b", "c", "d", "e"})
      if (reader.has(name)) static_cast<void>(reader.read(name, 3));
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
