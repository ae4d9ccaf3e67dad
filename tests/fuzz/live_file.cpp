// Files of runs under way: any bytes give rows in order, or an Error with a line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "report/viewer/live.h"
#include "report/viewer/pages.h"

using namespace simtlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const report::viewer::LiveRun run =
        report::viewer::parse_live(std::string_view(reinterpret_cast<const char*>(data), size), "input.live");
    double last = 0;
    for (const report::viewer::LiveRow& row : run.rows) {
      if (!(row.seconds >= last)) __builtin_trap();
      last = row.seconds;
    }
    if (report::viewer::live_json(run, run.rows.size() / 2).empty()) __builtin_trap();
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
