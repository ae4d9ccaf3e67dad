// Result files: any bytes give a result that every printer takes and that reads back as written, or an Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/compare.h"
#include "report/export.h"
#include "report/report.h"
#include "result/json.h"

using namespace simtlab;

namespace {

// Errors are answers, too.
template <class Work>
void tried(const Work& work) {
  try {
    work();
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tried([&] {
    const result::Result r =
        result::result_from_json(std::string_view(reinterpret_cast<const char*>(data), size), "r.json");
    const std::string text = result::to_json(r);
    if (result::to_json(result::result_from_json(text, "again.json")) != text) __builtin_trap();
    tried([&] { static_cast<void>(report::text(r, {.style = {}, .all = true, .next_command = {}})); });
    tried([&] { static_cast<void>(report::markdown(r)); });
    tried([&] { static_cast<void>(report::timeline(r)); });
    tried([&] { static_cast<void>(report::compare_text(report::compare(r, r, {}), {})); });
  });
  return 0;
}
