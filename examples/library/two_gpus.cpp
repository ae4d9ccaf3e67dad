// The same kernel on two simulated GPUs at once, each in a thread of its own, and a command of the tool beside them.
#include <simtlab/simtlab.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace api = simtlab::api;

namespace {

constexpr const char* scale = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor)
{
  .reg .f32 %f<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

constexpr std::uint32_t blocks = 512, threads = 256;

struct Outcome {
  bool right = false;
  double ns = 0;
};

void simulate(const std::string& name, Outcome& outcome) {
  api::Gpu gpu(api::Device::load(name));
  std::vector<float> values(blocks * threads, 1.5f);
  const std::uint64_t x = gpu.allocate(values.size() * sizeof(float));
  gpu.write(x, values.data(), values.size() * sizeof(float));
  const api::Module module = gpu.load_ptx("scale.ptx", scale);
  const double before = gpu.now_ns();
  gpu.launch(module, "scale", {blocks}, {threads}, api::Arguments().add(x).add(2.0f));
  outcome.ns = gpu.now_ns() - before;
  gpu.read(values.data(), x, values.size() * sizeof(float));
  outcome.right = true;
  for (const float value : values) outcome.right = outcome.right && value == 3.0f;
}

}  // namespace

int main() try {
  Outcome old_one, new_one;
  std::thread first(simulate, "gtx480", std::ref(old_one)), second(simulate, "h100", std::ref(new_one));
  const api::Execution memory = api::study("dram", {{}, {{"dram", "ddr4-3200"}, {"generate", "stream"}, {"requests", "10000"}}});
  first.join();
  second.join();
  std::printf("simtlab %s\ngtx480: %.0f ns, values %s\nh100:   %.0f ns, values %s\nddr4-3200: a result of %zu bytes\n", std::string(api::version()).c_str(), old_one.ns,
              old_one.right ? "right" : "wrong", new_one.ns, new_one.right ? "right" : "wrong", memory.json.size());
  return old_one.right && new_one.right && new_one.ns < old_one.ns && !memory.json.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const api::Failure& e) {
  std::fputs(e.text().c_str(), stderr);
  return e.exit_code();
}
