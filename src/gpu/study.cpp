// Launches through the cache study: what it needs to know of them, and what it says.
#include <fmt/format.h>

#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/pulse.h"
#include "gpu/impl.h"

namespace simtlab::gpu {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The pointers that a kernel is given name what they point to: "odata" where the PTX has names, else
// "parameter 0".
std::string parameter_name(const ptx::Param& param, std::size_t number, const std::string& function) {
  const std::string usual = fmt::format("{}_param_{}", function, number);
  if (param.name.empty() || param.name == usual) return fmt::format("parameter {}", number);
  return param.name;
}

std::vector<cache::Buffer> buffers_of(const exec::GlobalMemory& memory, const exec::Launch* launch) {
  std::vector<cache::Buffer> out;
  std::size_t unnamed = 0;
  memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
    if (a.bytes == 0) return;
    out.push_back(
        {a.address, a.address + a.bytes, a.what.empty() ? fmt::format("allocation {}", unnamed++) : a.what});
  });
  if (launch == nullptr) return out;
  const ptx::Function& function = launch->function();
  const auto params = launch->params().params;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    std::uint64_t value = 0;
    if (p.bytes != sizeof value || p.offset + sizeof value > params.size()) continue;
    std::memcpy(&value, params.data() + p.offset, sizeof value);
    for (cache::Buffer& b : out)
      if (value >= b.begin && value < b.end) b.name = parameter_name(p, i, function.name);
  }
  // Names are keys of tables and pictures.
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0, n = 1; k < i; ++k)
      if (out[k].name == out[i].name) out[i].name = fmt::format("{} #{}", out[k].name, ++n);
  return out;
}

}  // namespace

result::KernelResult Gpu::Impl::run_study(const KernelJob& job) {
  const stream::WarpSource& source = job.read();
  cache::Study::Launch launch{.source = &source,
                              .occupancy = timing::fit(device, source, registers_of(source.function())),
                              .buffers = buffers_of(memory, job.launch.get()),
                              .interrupt = options.interrupt,
                              .pulse = options.pulse,
                              .max_cycles = options.max_cycles,
                              .max_bytes = host_room(),
                              .waits_for_others = waiting()};
  if (options.pulse != nullptr) options.pulse->begin_kernel(source.function().name, source.block_count());
  const double begin = processor_seconds();
  try {
    result::KernelResult out = study->run(launch);
    study_seconds += processor_seconds() - begin;
    if (job.launch && options.cache.effects)
      for (const auto& [first, count] : study->left_out())
        run_to_end(*untimed_run(job, first, count, nullptr));
    return out;
  } catch (const Error&) {
    study_seconds += processor_seconds() - begin;
    result::KernelResult out = study->partial();
    out.partial = true;
    keep(job, std::move(out), 0);
    throw;
  }
}

void Gpu::Impl::study_totals(result::Metrics& total) const {
  study->add_totals(total);
  if (study_seconds > 0)
    total.set("host.rate.thread_accesses", static_cast<double>(study->thread_accesses()) / study_seconds);
}

}  // namespace simtlab::gpu
