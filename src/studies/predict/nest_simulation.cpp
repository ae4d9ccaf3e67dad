#include "studies/predict/nest_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "gpu/run_options.h"
#include "ptx/module.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::size_t differences_shown = 3;

// Arguments whose bytes overlap share a buffer.
struct Buffer {
  std::uint64_t low = 0, high = 0;  // addresses in the program
  std::uint64_t device = 0;         // of the byte at low
  std::vector<std::size_t> arguments;
};

std::vector<Buffer> buffers_of(const compile::LoopRun& run) {
  std::vector<Buffer> out;
  for (std::size_t i = 0; i < run.arguments.size(); ++i) {
    const auto& a = run.arguments[i];
    if (a.high > a.low) out.push_back({a.low, a.high, 0, {i}});
  }
  std::ranges::sort(out, {}, &Buffer::low);
  std::vector<Buffer> merged;
  for (const Buffer& b : out) {
    if (merged.empty() || b.low >= merged.back().high) {
      merged.push_back(b);
    } else {
      merged.back().high = std::max(merged.back().high, b.high);
      merged.back().arguments.push_back(b.arguments.front());
    }
  }
  return merged;
}

// The elements that the nest writes to an argument.
struct Element {
  unsigned bytes = 1;
  bool real = false, mixed = false;
};
Element element_of(const models::loops::Description& nest, std::size_t input) {
  Element e;
  bool first = true;
  for (const models::loops::Access& a : nest.accesses) {
    if (!a.store || a.input != static_cast<int>(input)) continue;
    if (!first && (e.bytes != a.bytes || e.real != a.real)) e.mixed = true;
    if (first) e = {a.bytes, a.real, false};
    first = false;
  }
  return e;
}

template <typename T>
double as_double(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

// Results of double precision that were computed in single precision are no better than that.
bool computes_in_single(const models::loops::Description& nest) {
  const auto is_single = [](const device::OpClassTraits& of) {
    return of.precision == device::Precision::fp32 && of.counted_as == device::Counted::floating;
  };
  for (const models::loops::Block& b : nest.blocks)
    for (const models::loops::Instruction& i : b.instructions)
      if (i.op_class >= 0 && is_single(device::op_class_traits[static_cast<std::size_t>(i.op_class)]))
        return true;
  return false;
}

class Comparison {
 public:
  // Of structures with members of several kinds every four bytes that differ are looked at as a number of
  // single precision.
  void of(const models::loops::Description& nest, std::size_t input, const std::string& wanted,
          const char* got) {
    const Element e = element_of(nest, input);
    const unsigned size = e.mixed ? 4 : e.bytes;
    const double tolerance = size == 8 && !computes_in_single(nest) ? double_tolerance : single_tolerance;
    for (std::size_t at = 0; at + size <= wanted.size(); at += size) {
      if (std::memcmp(wanted.data() + at, got + at, size) == 0) continue;
      const bool real = (e.real || e.mixed) && (size == 4 || size == 8);
      const double w = !real       ? 0
                       : size == 4 ? as_double<float>(wanted.data() + at)
                                   : as_double<double>(wanted.data() + at);
      const double g = !real ? 0 : size == 4 ? as_double<float>(got + at) : as_double<double>(got + at);
      if (real && std::isnan(w) && std::isnan(g)) continue;
      const double off = real ? std::abs(w - g) / std::max(1.0, std::abs(w)) : INFINITY;
      if (off <= tolerance) {
        largest = std::max(largest, off);
        continue;
      }
      if (++wrong <= differences_shown)
        text += fmt::format("{}byte {} of '{}'{}", text.empty() ? "" : ", ", at, nest.inputs[input].name,
                            real ? fmt::format(" is {:g} instead of {:g}", g, w) : "");
    }
  }

  double largest = 0;
  std::uint64_t wrong = 0;
  std::string text;
};

void check_data(const models::loops::Description& nest, const compile::LoopRun& run) {
  if (run.kept) return;
  std::uint64_t bytes = 0;
  for (const auto& a : run.arguments) bytes += a.high > a.low ? a.high - a.low : 0;
  Diagnostic d;
  d.message = fmt::format("nothing was kept of the {} bytes that the nest touches", bytes);
  d.pos = {nest.file, nest.line, nest.column};
  d.hint = "arguments of --run that make the arrays smaller";
  throw Error(ExitCode::bad_input, "loop-data", std::move(d));
}

gpu::Options settings_of(const options::Options& options, const Signals& signals) {
  gpu::Options o = gpu::options_of(options);
  o.mode = gpu::Mode::timing;
  o.kernels = gpu::KernelChoice();  // there is one
  o.registers_override = 0;
  o.interrupt = signals.flag();
  return o;
}

std::uint32_t registers_of(const std::string& ptx, const std::string& kernel) {
  const auto module = ptx::load_module(kernel + ".ptx", ptx);
  for (const ptx::Function& f : module->functions)
    if (f.name == kernel) return f.registers;
  return 0;
}

std::vector<std::byte> parameters_of(const ptx::Function& f, const models::loops::Description& nest,
                                     const compile::LoopRun& run, const std::vector<Buffer>& buffers) {
  SIMTLAB_ASSERT(f.params.size() == nest.inputs.size(), "the kernel has other parameters than the nest");
  std::vector<std::byte> out(f.param_bytes);
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) {
    std::uint64_t value = run.arguments[i].value;
    if (nest.inputs[i].pointer)
      for (const Buffer& b : buffers)
        if (std::ranges::find(b.arguments, i) != b.arguments.end())
          value = b.device + (run.arguments[i].value - b.low);
    std::memcpy(out.data() + f.params[i].offset, &value,
                std::min<std::size_t>(f.params[i].bytes, sizeof value));
  }
  return out;
}

}  // namespace

NestSimulation simulate_nest(const models::loops::Description& nest, const models::loops::Mapping& mapping,
                             const std::string& ptx, const std::string& kernel, const compile::LoopRun& run,
                             const device::Device& device, const options::Options& options,
                             const OutputOptions& output) {
  check_data(nest, run);
  const Signals signals(options.max_time_s());
  Pulse pulse;
  gpu::Options settings = settings_of(options, signals);
  if (Progress::wanted(output, false)) settings.pulse = &pulse;
  // A compiler spills what does not fit.
  const std::uint32_t needed = registers_of(ptx, kernel);
  const bool spills = needed > device.sm.max_registers_per_thread;
  if (spills) settings.registers_override = device.sm.max_registers_per_thread;
  gpu::Gpu gpu(device, settings);
  std::vector<Buffer> buffers = buffers_of(run);
  for (Buffer& b : buffers) {
    // Arrays begin at multiples of 256 on a GPU, wherever they begin here: the first argument that points to
    // it, if it points to its bytes.
    const std::uint64_t start = run.arguments[b.arguments.front()].value,
                        lead = start <= b.low ? (b.low - start) % alignment
                                              : (alignment - (start - b.low) % alignment) % alignment;
    const auto address = gpu.allocate(b.high - b.low + lead, nest.inputs[b.arguments.front()].name);
    if (!address)
      throw Error(ExitCode::bad_input, "launch-memory",
                  fmt::format("{} bytes do not fit the device's memory", b.high - b.low),
                  "a larger GPU, or a higher --max-memory");
    b.device = *address + lead;
    for (const std::size_t i : b.arguments) {
      const auto& a = run.arguments[i];
      gpu.memory().write(b.device + (a.low - b.low),
                         std::as_bytes(std::span(a.before.data(), a.before.size())));
    }
  }
  const gpu::ModuleId module = gpu.load_module(kernel + ".ptx", ptx);
  const auto found = gpu.find_kernel(module, kernel);
  SIMTLAB_ASSERT(found.has_value(), "the kernel that was made is not in its module");
  const std::vector<std::byte> parameters =
      parameters_of(gpu.module(module).functions[found->function], nest, run, buffers);
  {
    const Progress progress("simulating", output, {settings.pulse, false, device.name, options.mode});
    try {
      gpu.launch(*found,
                 {static_cast<std::uint32_t>(mapping.grid[0]), static_cast<std::uint32_t>(mapping.grid[1]),
                  static_cast<std::uint32_t>(mapping.grid[2])},
                 {mapping.block[0], mapping.block[1], mapping.block[2]}, 0, parameters, 0);
      gpu.synchronize();
    } catch (const Error& e) {
      if (e.id() != "launch-resources") throw;
      throw Error(e.code(), e.id(), e.diagnostics().front().message, "a smaller --nest-block");
    }
  }
  Comparison comparison;
  for (const Buffer& b : buffers)
    for (const std::size_t i : b.arguments)
      if (run.arguments[i].written)
        comparison.of(
            nest, i, run.arguments[i].after,
            reinterpret_cast<const char*>(gpu.memory().host(b.device + (run.arguments[i].low - b.low))));
  if (comparison.wrong > 0) {
    Diagnostic d;
    d.message =
        fmt::format("the kernel computes something else than the sequential nest: {} elements differ, {}",
                    comparison.wrong, comparison.text);
    d.pos = {nest.file, nest.line, nest.column};
    d.hint =
        "iterations that depend on each other after all (--assume-parallel?), or sums that are sensitive to "
        "rounding";
    throw Error(ExitCode::program_failed, "loop-result", std::move(d));
  }
  const result::Result result = gpu.result();
  const result::Metrics& m = result.kernels.front().metrics;
  const auto get = [&](const char* name) { return m.get(name).value_or(0); };
  return {.time_ns = get("gpu.time"),
          .cycles = get("gpu.cycles"),
          .thread_instructions = get("gpu.instructions.thread"),
          .l2_bytes = get("l2.bytes"),
          .dram_bytes = get("dram.read.bytes") + get("dram.write.bytes"),
          .difference = comparison.largest,
          .registers = spills ? needed : 0};
}

}  // namespace simtlab::studies
