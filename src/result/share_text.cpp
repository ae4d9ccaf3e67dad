#include "result/share_text.h"

#include <fmt/format.h>

namespace simtlab::result {

std::string share_text(double ratio) {
  if (ratio > 0 && ratio < 0.0005) return "<0.1 %";
  if (ratio < 1 && ratio >= 0.9995) return ">99.9 %";
  return fmt::format("{:.1f} %", ratio * 100);
}

}  // namespace simtlab::result
