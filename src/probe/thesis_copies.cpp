// Copies within the device's memory, as the vendor's bandwidth test makes them (Sanchez, 5.2 and figure 34).
#include "probe/thesis_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "probe/analysis/sampling.h"

namespace simtlab::probe {
namespace {

constexpr unsigned copies_of_value = 10;  // between two events
constexpr unsigned most_values = 1000, most_quick = 20;

// Bytes read and written in a second, a value for each run, in their order. Two equal ones are enough: the
// board has no noise.
std::vector<double> runs(Bench& bench, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                         unsigned most) {
  gpu::Board& board = bench.board;
  std::vector<double> out;
  board.copy_within(to, from, bytes);  // the first one may wait for what the driver puts off
  while (out.size() < most) {
    bench.check_interrupt();
    const gpu::Board::Event begin = board.record(0);
    for (unsigned i = 0; i < copies_of_value; ++i) board.copy_within(to, from, bytes, 0);
    const gpu::Board::Event end = board.record(0);
    const double ns = board.elapsed_ns(begin, end);
    out.push_back(ns > 0 ? 2.0 * copies_of_value * static_cast<double>(bytes) / ns * 1e9 : 0);
    if (out.size() == 2 && out[0] == out[1]) break;
  }
  return out;
}

}  // namespace

void thesis_copies(Bench& bench) {
  constexpr const char* key = "thesis.copy";
  const std::uint64_t room = bench.board.facts().free_bytes / 4;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) sizes.push_back(bytes);
  sizes.push_back(thesis_copy_bytes);
  std::ranges::sort(sizes);
  std::erase_if(sizes, [&](std::uint64_t bytes) { return bytes > room; });
  if (sizes.empty() || !std::ranges::binary_search(sizes, thesis_copy_bytes))
    return bench.found.unknown(
        key, fmt::format("a quarter of the free memory is {} bytes, a copy {}", room, thesis_copy_bytes));
  const Bench::Buffer from(bench, sizes.back()), to(bench, sizes.back());
  bench.board.fill(from.address(), std::byte{1}, sizes.back());
  Series means{key, "bytes", "B/s", {}, {}}, all{"thesis.copy.samples", "bytes", "B/s", {}, {}};
  for (const std::uint64_t bytes : sizes) {
    const bool of_thesis = bytes == thesis_copy_bytes;
    const unsigned most = bench.options.quick ? most_quick : of_thesis ? most_values : most_values / 10;
    const std::vector<double> values = runs(bench, to.address(), from.address(), bytes, most);
    Histogram counted;
    for (const double value : values) counted.add(value);
    const Estimate e = estimate(counted);
    means.points.push_back({static_cast<double>(bytes), e.value});
    for (const double value : values) all.points.push_back({static_cast<double>(bytes), value});
    if (!of_thesis) continue;
    Series order{"thesis.copy.runs", "run", "B/s", {}, {}};
    for (const double value : values)
      order.points.push_back({static_cast<double>(order.points.size() + 1), value});
    bench.found.measured(key, e, "B/s",
                         fmt::format("bytes read and written by {} copies of {} bytes within the device, "
                                     "between two events; median of {} runs",
                                     copies_of_value, bytes, values.size()),
                         order.name);
    bench.found.series(std::move(order));
  }
  bench.found.series(std::move(means));
  bench.found.series(std::move(all));
}

}  // namespace simtlab::probe
