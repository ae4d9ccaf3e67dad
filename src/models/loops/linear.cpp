#include "models/loops/linear.h"

#include "models/loops/description.h"

namespace simtlab::models::loops {

std::optional<Linear> linear(const Description& nest, const Shape& shape, const Access& access) {
  Point p = shape.point;
  Linear out;
  const auto origin = evaluate(access.offset, p);
  if (!origin) return std::nullopt;
  out.constant = *origin;
  for (int l = access.loop; l >= 0; l = nest.loops[static_cast<std::size_t>(l)].parent) {
    auto& n = p.iterations[static_cast<std::size_t>(l)];
    n = 1;
    const auto next = evaluate(access.offset, p);
    n = 0;
    if (!next) return std::nullopt;
    if (*next != *origin)
      out.factors[l] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(*next) - static_cast<std::uint64_t>(*origin));
  }
  for (const Point& s : shape.samples) {
    // Addresses wrap around, as evaluate() does.
    auto sum = static_cast<std::uint64_t>(out.constant);
    for (const auto& [l, f] : out.factors)
      sum += static_cast<std::uint64_t>(f) *
             static_cast<std::uint64_t>(s.iterations[static_cast<std::size_t>(l)]);
    if (evaluate(access.offset, s) != static_cast<std::int64_t>(sum)) return std::nullopt;
  }
  return out;
}

}  // namespace simtlab::models::loops
