#include "gpu/cache_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "base/immortal.h"
#include "base/kernel_name.h"
#include "base/pulse.h"
#include "machine/code.h"
#include "machine/launch_state.h"
#include "ptx/source_names.h"

namespace simtlab::gpu {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr std::uint64_t largest_source = std::uint64_t{16} << 20;

// As the source calls its parameters, if one of the files that the kernel's lines come from still has it.
std::vector<std::string> names_in_source(const ptx::Module& module, const ptx::Function& function) {
  std::vector<unsigned> files;
  for (const ptx::Inst& inst : function.code)
    if (inst.file != 0 && std::ranges::find(files, inst.file) == files.end()) files.push_back(inst.file);
  const std::string demangled = demangle(function.name), kernel(parts_of_name(demangled).bare);
  for (const unsigned file : files) {
    const auto name = module.files.find(file);
    if (name == module.files.end()) continue;
    try {
      std::vector<std::string> out = ptx::parameter_names(read_file(name->second, largest_source, "source"),
                                                          kernel, function.params.size());
      if (!out.empty()) return out;
    } catch (const Error&) {  // not there any more: the names are a courtesy
    }
  }
  return {};
}

// The pointers that a kernel is given name what they point to: "odata" where the PTX or the source has names,
// else "parameter 0".
std::string parameter_name(const ptx::Param& param, std::size_t number, const std::string& function,
                           const std::vector<std::string>& in_source) {
  const std::string usual = fmt::format("{}_param_{}", function, number);
  if (!param.name.empty() && param.name != usual) return param.name;
  return number < in_source.size() ? in_source[number] : fmt::format("parameter {}", number);
}

std::vector<cache::Buffer> buffers_of(const exec::GlobalMemory& memory, const exec::Launch* launch,
                                      const std::vector<std::string>& names) {
  std::vector<cache::Buffer> out;
  std::size_t unnamed = 0;
  memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
    if (a.bytes == 0) return;
    out.push_back(
        {a.address, a.address + a.bytes, a.what.empty() ? fmt::format("allocation {}", unnamed++) : a.what});
  });
  if (launch == nullptr) return out;
  const ptx::Function& function = launch->function();
  // Of machine code it is the whole constant bank.
  const auto params = launch->params().params;
  const std::uint64_t first =
      function.machine ? machine::launch_slots(function.machine->generation).parameters : 0;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    std::uint64_t value = 0;
    if (p.bytes != sizeof value || first + p.offset + sizeof value > params.size()) continue;
    std::memcpy(&value, params.data() + first + p.offset, sizeof value);
    for (cache::Buffer& b : out)
      if (value >= b.begin && value < b.end) b.name = parameter_name(p, i, function.name, names);
  }
  // Names are keys of tables and pictures.
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0, n = 1; k < i; ++k)
      if (out[k].name == out[i].name) out[i].name = fmt::format("{} #{}", out[k].name, ++n);
  return out;
}

}  // namespace

bool CacheKernels::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  sink_.ended(job, study(job), at_ns);
  return true;
}

// Read once a kernel, not once a launch.
const std::vector<std::string>& CacheKernels::parameters_of(const stream::WarpSource& source) {
  const std::string key = source.module().name + '\n' + source.function().name;
  const auto [known, is_new] = parameters_.try_emplace(key);
  if (is_new) known->second = names_in_source(source.module(), source.function());
  return known->second;
}

result::KernelResult CacheKernels::study(const KernelJob& job) {
  const stream::WarpSource& source = job.read();
  static const Immortal<std::vector<std::string>> none;
  const std::vector<std::string>& names = job.launch ? parameters_of(source) : *none;
  cache::Study::Launch launch{
      .source = &source,
      .occupancy = timing::fit(device_, source, registers_of(options_, source.function())),
      .buffers = buffers_of(memory_.global(), job.launch.get(), names),
      .interrupt = options_.interrupt,
      .pulse = options_.pulse,
      .max_cycles = options_.max_cycles,
      .max_bytes = memory_.host_room(),
      .waits_for_others = blocks_.waiting(),
      .log = schedule_ ? &*schedule_ : nullptr};
  if (options_.pulse != nullptr) options_.pulse->begin_kernel(source.function().name, source.block_count());
  const double begin = processor_seconds();
  try {
    result::KernelResult out = study_.run(launch);
    seconds_ += processor_seconds() - begin;
    if (job.launch && options_.cache.effects)
      for (const auto& [first, count] : study_.left_out()) blocks_.run(job, first, count);
    return out;
  } catch (const Error&) {
    seconds_ += processor_seconds() - begin;
    result::KernelResult out = study_.partial();
    out.partial = true;
    sink_.keep(job, std::move(out), 0);
    throw;
  }
}

void CacheKernels::finish_schedule() {
  if (schedule_) schedule_->close();
}

void CacheKernels::add_totals(result::Metrics& total) const {
  study_.add_totals(total);
  if (seconds_ > 0)
    total.set("host.rate.thread_accesses", static_cast<double>(study_.thread_accesses()) / seconds_);
}

}  // namespace simtlab::gpu
