// DRAM command traces: any bytes give commands or an Error, and the checker takes whatever comes out.
#include "memory/dram/command_trace.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "memory/dram/checker.h"

using namespace simtlab;

static device::Technology small_memory() {
  device::Technology t;
  t.organisation = {.channel_width = 64,
                    .device_width = 8,
                    .pseudo_channels = 2,
                    .ranks = 2,
                    .bank_groups = 2,
                    .banks_per_group = 2,
                    .rows = 1024,
                    .row_bytes = 1024,
                    .burst_length = 8};
  t.timing = {.burst = 4,
              .cl = 5,
              .cwl = 4,
              .trcd_read = 5,
              .trcd_write = 5,
              .trp = 5,
              .tras = 12,
              .trc = 17,
              .tccd_s = 4,
              .tccd_l = 5,
              .trrd_s = 3,
              .trrd_l = 4,
              .tfaw = 14,
              .twtr_s = 2,
              .twtr_l = 4,
              .twr = 6,
              .trtp = 4,
              .trtrs = 1,
              .trfc = 50,
              .trfc_pb = 20,
              .trefi = 1000,
              .txp = 3,
              .tcke = 3,
              .txs = 60};
  return t;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    memory::dram::CommandTraceReader reader("input");
    memory::dram::ChannelsChecker checker(small_memory());
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      memory::dram::CommandRecord record;
      if (reader.read(text.substr(0, end), record)) {
        record.channel %= 16;
        checker.command(record);
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    checker.finish(~std::uint64_t{0});
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
