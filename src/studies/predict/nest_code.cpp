#include "studies/predict/nest_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/gpu.h"
#include "models/counts/static_profile.h"

namespace simtlab::studies {
namespace {

using models::counts::StaticProfile;
using models::loops::at;

constexpr std::uint64_t longest_way = 400000;  // instructions of all warps that are followed
constexpr unsigned places = 16;                // of the grid, where its warps differ

// Of a loop in the threads, or of a mapped one, with the iterations of the loops around it.
bool rows_differ(const models::loops::Description& nest, const models::loops::Shape& shape) {
  for (std::size_t l = 0; l < nest.loops.size(); ++l)
    for (const models::loops::Point& p : shape.samples)
      if (nest.loops[l].counted)
        if (const auto t = models::loops::evaluate(nest.loops[l].trips, p);
            t && *t != static_cast<std::int64_t>(shape.extents[l]))
          return true;
  return false;
}

// Conditions that depend on data, of the nest itself and not of the library's functions.
bool depends_on_data(const models::loops::Description& nest, const models::loops::Shape& shape) {
  for (const models::loops::Loop& l : nest.loops)
    if (!l.counted) return true;
  for (const models::loops::Block& b : nest.blocks) {
    if (!b.conditional) continue;
    const bool heads = b.loop >= 0 && &nest.blocks[nest.loops[at(b.loop)].block] == &b;
    // One way or the other of a loop is its end, which trip counts say.
    if (heads) continue;
    if (b.successors.size() != 2 || b.condition.test.empty()) return true;
    for (const models::loops::Point& p : shape.samples)
      if (!models::loops::evaluate(b.condition, p)) return true;
  }
  return false;
}

// Warps with a thread that has an iteration, over all warps of the grid.
double share_of_warps(const models::loops::Shape& shape, const models::loops::Mapping& m) {
  const std::uint32_t warps = (m.threads() + 31) / 32;
  // Blocks within the grid and at its end, in each dimension: how many, and the threads that are inside.
  struct Kind {
    double blocks = 0;
    std::uint64_t inside = 0;
  };
  std::array<std::array<Kind, 2>, 3> kinds;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t all = d < m.loops.size() ? shape.extents[at(m.loops[d])] : 1;
    kinds[d][0] = {static_cast<double>(m.grid[d] - 1), m.block[d]};
    kinds[d][1] = {1, all - (m.grid[d] - 1) * m.block[d]};
  }
  double working = 0;
  for (const Kind& x : kinds[0])
    for (const Kind& y : kinds[1])
      for (const Kind& z : kinds[2]) {
        const double blocks = x.blocks * y.blocks * z.blocks;
        if (blocks == 0) continue;
        for (std::uint32_t w = 0; w < warps; ++w)
          for (std::uint32_t t = w * 32; t < std::min(w * 32 + 32, m.threads()); ++t)
            if (t % m.block[0] < x.inside && t / m.block[0] % m.block[1] < y.inside &&
                t / m.block[0] / m.block[1] < z.inside) {
              working += blocks;
              break;
            }
      }
  return working / (static_cast<double>(m.blocks()) * warps);
}

// What is followed is PTX. Optimised it is what machine code is made of, the nearest to that.
gpu::Ptx followed_as(gpu::Ptx asked, const device::Device& device) {
  if (asked != gpu::Ptx::machine) return asked;
  return device.cc_major >= 7 ? gpu::Ptx::optimised : gpu::Ptx::counts;
}

struct Sums {
  models::loops::KernelCode code;
  void add(const StaticProfile& s, double weight, double load_latency) {
    const models::counts::Profile& p = s.profile;
    for (std::size_t c = 0; c < p.class_insts.size(); ++c) code.mix[c] += p.class_insts[c] * weight;
    code.instructions += p.ptx_insts * weight;
    code.memory += p.global_insts * weight;
    code.fused += p.fma_insts * weight;
    code.chain_cycles += std::max(0.0, p.warp_latency - p.warp_memory_wait) * weight;
    code.chain_accesses += p.warp_memory_wait / load_latency * weight;
    code.ilp = std::max(code.ilp, p.ilp);
    code.memory_parallelism = std::max(code.memory_parallelism, p.mlp);
  }
};

}  // namespace

FollowedCode follow_code(const models::loops::Description& nest, const models::loops::Shape& shape,
                         const models::loops::Mapping& m, const std::string& ptx, const std::string& kernel,
                         const device::Device& device, gpu::Ptx ptx_as) {
  if (depends_on_data(nest, shape)) return {std::nullopt, "loops or conditions of the nest depend on data"};
  gpu::Options functional;
  functional.mode = gpu::Mode::functional;
  functional.ptx = followed_as(ptx_as, device);
  gpu::Gpu gpu(device, functional);
  gpu::ModuleId module{};
  try {
    module = gpu.load_module(kernel + ".ptx", ptx);
  } catch (const Error& e) {
    if (e.id() == "optimiser-missing")
      return follow_code(nest, shape, m, ptx, kernel, device, gpu::Ptx::counts);
    return {std::nullopt, fmt::format("its kernel can't be followed ({})", e.diagnostics().front().message)};
  }
  const auto found = gpu.find_kernel(module, kernel);
  SIMTLAB_ASSERT(found.has_value(), "the kernel that was made is not in its module");
  const ptx::Module& code = gpu.module(module);
  const auto dim = [](const auto& a) {
    return exec::Dim3{static_cast<std::uint32_t>(a[0]), static_cast<std::uint32_t>(a[1]),
                      static_cast<std::uint32_t>(a[2])};
  };
  models::counts::StaticLaunch launch{code, code.functions[found->function], dim(m.grid), dim(m.block), {}};
  launch.lowering = ptx_as != gpu::Ptx::off;
  launch.parameters = shape.point.inputs;
  launch.trips = 1;
  Sums sums;
  const bool differ = rows_differ(nest, shape);
  const unsigned warps = (m.threads() + 31) / 32;
  const unsigned down = differ && m.grid[1] > 1 ? 4 : 1,
                 across =
                     differ ? static_cast<unsigned>(std::min<std::uint64_t>(places / down, m.grid[0])) : 1;
  launch.longest = longest_way / (across * down);
  if (!differ) {
    // In the middle of the grid, and of a block with all its threads.
    launch.at = exec::Dim3{(launch.grid.x - 1) / 2, (launch.grid.y - 1) / 2, (launch.grid.z - 1) / 2};
    const bool whole = launch.grid.x > 1 && (launch.grid.y > 1 || m.block[1] == 1) &&
                       (launch.grid.z > 1 || m.block[2] == 1) && launch.at->x + 1 < launch.grid.x;
    launch.warp = whole ? warps / 2 : 0;
  }
  const double weight = differ ? 1.0 / (across * down) : share_of_warps(shape, m);
  for (unsigned y = 0; y < down; ++y)
    for (unsigned x = 0; x < across; ++x) {
      if (differ) {
        const auto place = [](std::uint64_t grid, unsigned i, unsigned n) {
          return static_cast<std::uint32_t>(grid * (2 * i + 1) / (2 * n));
        };
        launch.at = exec::Dim3{place(m.grid[0], x, across), place(m.grid[1], y, down), launch.grid.z / 2};
        launch.warp = (x + y) % warps;
      }
      const StaticProfile s = models::counts::static_profile(launch, device);
      if (!s.complete) return {std::nullopt, "a thread executes too many instructions to follow them"};
      if (s.assumed_loops > 0) return {std::nullopt, "how long a loop of the kernel runs is not known"};
      sums.add(s, weight, device.dram.latency);
    }
  if (!differ) sums.code.working = weight;
  return {sums.code, {}};
}

std::string with_dimensions(const std::string& ptx, const std::vector<unsigned>& from,
                            const std::vector<unsigned>& to) {
  if (from == to) return ptx;
  std::string out = ptx;
  for (const std::string_view name : {"%tid.", "%ntid.", "%ctaid."})
    for (std::size_t i = 0; (i = out.find(name, i)) != std::string::npos;) {
      i += name.size();
      const auto d = static_cast<std::size_t>(out[i] - 'x');
      if (d < from.size()) {
        const auto there = std::ranges::find(to, from[d]);
        out[i] = static_cast<char>('x' + (there - to.begin()));
      }
    }
  return out;
}

}  // namespace simtlab::studies
