// Address mappings: any text gives a mapping that is one to one, or an Error.
#include "memory/dram/address_mapping.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

using namespace simtlab;

// The first byte chooses the counts; pattern and hash are separated by a line end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 400) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t end = text.find('\n');
  const std::string_view hash = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  device::Technology t;
  t.organisation = {.channel_width = 64,
                    .device_width = 8,
                    .pseudo_channels = 1u + (data[0] & 1),
                    .ranks = 1u + (data[0] >> 1 & 3),
                    .bank_groups = 1u + (data[0] >> 3 & 3),
                    .banks_per_group = 4,
                    .rows = 12,
                    .row_bytes = 512,
                    .burst_length = 8};
  try {
    const memory::dram::AddressMapping mapping(t, 1u + (data[0] >> 5), text.substr(0, end), hash);
    for (std::uint64_t address = 0; address < mapping.capacity(); address += 64 * 37)
      if (mapping.encode(mapping.decode(address)) != address) std::abort();
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
