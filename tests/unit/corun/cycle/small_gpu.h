// A small GPU and two applications that are recorded for it: one reads and writes memory, one computes.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "corun/cycle/cycle_host.h"
#include "corun/fast_host.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"

namespace simtlab::corun::cycle {

inline constexpr const char* two_kernels = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry stream(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r6, [rounds];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 32;
  add.s64 %rd3, %rd1, %rd2;
AGAIN:
  ld.global.u32 %r5, [%rd3];
  add.s32 %r5, %r5, 1;
  st.global.u32 [%rd3], %r5;
  sub.s32 %r6, %r6, 1;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra AGAIN;
  ret;
}
.visible .entry fill(.param .u64 data, .param .u32 value)
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r5, [value];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
.visible .entry compute(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  mov.f32 %f1, 0f3F800000;
AGAIN:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f1, %f1, %f1, %f1;
  sub.s32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  st.global.f32 [%rd1], %f1;
  ret;
}
)";

struct Folder {
  Folder() {
    char name[] = "/tmp/simtlab-cohost-XXXXXX";
    path = std::filesystem::path(::mkdtemp(name));
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

inline device::Device four_sms() {
  device::Device device = device::load_device("titanx-maxwell", {{"sm.count", "4", {}}}).device;
  device.launch = {};  // kernels of a few microseconds would be little else
  return device;
}

struct Launched {
  const char* kernel;
  std::uint32_t blocks, rounds;
};

// What a program that launches these leaves behind.
// copied: bytes to the GPU before the launches, and back after them.
inline std::filesystem::path record(const std::filesystem::path& folder, const std::string& name,
                                    const std::vector<Launched>& launches, std::uint64_t copied = 0) {
  const std::filesystem::path path = folder / (name + ".simt");
  gpu::Options options;
  options.mode = gpu::Mode::functional;
  options.record = path;
  gpu::Gpu gpu(four_sms(), options);
  const gpu::ModuleId module = gpu.load_module("two.ptx", two_kernels);
  const std::uint64_t data = *gpu.allocate(std::uint64_t{1} << 22, "data");
  std::vector<std::byte> bytes(copied);
  if (copied != 0)
    gpu.copy(reinterpret_cast<void*>(data), bytes.data(), copied, gpu::Gpu::CopyKind::host_to_device, 0,
             false);
  for (const Launched& l : launches) {
    struct {
      std::uint64_t data;
      std::uint32_t rounds, unused;
    } const params{data, l.rounds, 0};
    gpu.launch(*gpu.find_kernel(module, l.kernel), {l.blocks, 1, 1}, {128, 1, 1}, 0,
               std::as_bytes(std::span(&params, 1)).first(12), 0);
  }
  if (copied != 0)
    gpu.copy(bytes.data(), reinterpret_cast<const void*>(data), copied, gpu::Gpu::CopyKind::device_to_host, 0,
             false);
  gpu.synchronize();
  gpu.finish_recording();
  return path;
}

// Applications memory, compute and both.
struct Host {
  explicit Host(const CycleOptions& options = {}) : cycle(four_sms(), options) {
    cycle.add("memory", record(folder.path, "memory", {{"stream", 32, 4}}), 3, 0, "test");
    cycle.add("compute", record(folder.path, "compute", {{"compute", 16, 160}}), 3, 0, "test");
    cycle.add("both", record(folder.path, "both", {{"stream", 8, 2}, {"compute", 8, 80}}), 2, 0, "test");
  }
  std::vector<corun::Workload> workloads(const std::vector<std::string>& names) const {
    return corun::workloads(cycle.profiles(), names, 1);
  }
  corun::MixResult run(const std::vector<std::string>& names, std::uint32_t limit,
                       const char* policy = "mps") const {
    corun::HostOptions options;
    options.settings.limit = limit;
    const std::vector<corun::Workload> mix = workloads(names);
    return cycle.run(mix, corun::policy(policy), options);
  }
  Folder folder;
  CycleHost cycle;
};

}  // namespace simtlab::corun::cycle
