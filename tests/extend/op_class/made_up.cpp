// Runs a kernel whose instructions are of the made-up class `toy` (test_op_class.py adds it) and prints where
// the class shows. usage: made_up FOLDER
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "machine/classes.h"
#include "stream/accelsim/export.h"
#include "stream/trace/reader.h"

namespace {

using namespace simtlab;

constexpr const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry made_up(.param .u64 out)
{
  .reg .f32 %f<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  ld.global.f32 %f1, [%d1];
  toy.f32 %f2, %f1, %f1, %f1;
  toy.f32 %f3, %f2, %f2, %f1;
  st.global.f32 [%d1], %f3;
  ret;
}
)";

// The result of one warp of the kernel; %f1 is 2, so that the two fused products and sums make 2 * 2 + 2 = 6
// and 6 * 6 + 2 = 38.
result::KernelResult run(const device::Device& device, gpu::Mode mode,
                         const std::filesystem::path& trace = {}) {
  gpu::Options options;
  options.mode = mode;
  options.record = trace;
  gpu::Gpu gpu(device, options);
  const gpu::ModuleId module = gpu.load_module("made_up.ptx", text);
  const std::uint64_t out = gpu.allocate(4, "out").value();
  float value = 2;
  gpu.copy(reinterpret_cast<void*>(out), &value, 4, gpu::Gpu::CopyKind::host_to_device, 0, false);
  gpu.launch(gpu.find_kernel(module, "made_up").value(), {1, 1, 1}, {1, 1, 1}, 0,
             std::as_bytes(std::span(&out, 1)), 0);
  gpu.copy(&value, reinterpret_cast<const void*>(out), 4, gpu::Gpu::CopyKind::device_to_host, 0, false);
  gpu.synchronize();
  gpu.finish_recording();
  fmt::print("{} value {}\n", gpu::name_of(mode), value);
  return gpu.result().kernels.at(0);
}

void print_counts(const result::KernelResult& kernel) {
  for (const result::Table& table : kernel.tables)
    for (const auto& row : table.rows)
      if (table.name == "counts")
        if (const auto* value = std::get_if<double>(&row.at(1)))
          fmt::print("counts {} {:g}\n", std::get<std::string>(row.at(0)), *value);
}

void print_trace(const std::filesystem::path& file, const std::filesystem::path& exported) {
  const auto reader = stream::trace::open(file);
  for (const stream::trace::Code& code : reader->codes())
    for (const ptx::Inst& inst : code.function().code) fmt::print("trace {}\n", ptx::name_of(inst.op_class));
  stream::accelsim::export_trace(*reader, exported, 70, nullptr);
  std::ifstream lines(exported / "kernel-1.traceg");
  for (std::string line; std::getline(lines, line);)
    if (line.find("TOY") != std::string::npos) fmt::print("accelsim {}\n", line);
  const stream::accelsim::Meaning meaning = stream::accelsim::SassTable::of_version(70).of("TOY.F32");
  fmt::print("sass {} {}\n", ptx::name_of(meaning.op_class), meaning.known);
}

}  // namespace

int main(int, char** argv) {
  try {
    const std::filesystem::path folder = argv[1];
    const device::Device device = device::load_device("v100").device;
    fmt::print("device latency {} throughput {}\n", device.latency[device::index(device::OpClass::toy)],
               device.throughput[device::index(device::OpClass::toy)]);
    const result::KernelResult timed = run(device, gpu::Mode::timing, folder / "made_up.trace");
    for (const result::Metrics::Value& v : timed.metrics.values())
      fmt::print("metric {} {:g}\n", v.name, v.is_integer ? static_cast<double>(v.integer) : v.real);
    print_counts(run(device, gpu::Mode::predict));
    run(device, gpu::Mode::functional);
    print_trace(folder / "made_up.trace", folder / "exported");
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.format());
    return 1;
  }
  return 0;
}
