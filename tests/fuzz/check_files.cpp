// Files of `simtlab check`: any bytes are suppressions, what compute-sanitizer suppresses, a baseline, or an
// Error; what was read can be compared with a finding.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "studies/check/baseline.h"
#include "studies/check/suppressions.h"

using namespace simtlab;

namespace {

result::Finding some_finding() {
  result::Finding out;
  out.rule = "race.shared";
  result::Access& access = out.accesses.emplace_back();
  access.place.kernel = access.place.function = "mark(int*, int)";
  access.place.file = "/src/mark.cu";
  access.place.line = 31;
  access.place.text = "seen[v] = 1;";
  return out;
}

template <class Read>
void read(const Read& suppressions) {
  static const result::Finding finding = some_finding();
  try {
    for (const studies::Suppression& s : suppressions()) {
      static_cast<void>(studies::suppresses(s, finding, "/src"));
      if (s.from.empty()) __builtin_trap();
    }
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read([&] { return studies::suppressions_from(text, "s.toml"); });
  std::vector<std::string> warnings;
  read([&] { return studies::sanitizer_suppressions(text, "s.xml", warnings); });
  try {
    for (const std::string& fingerprint : studies::baseline_from(text, "b.toml"))
      if (fingerprint.find(':') != 16) __builtin_trap();
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
