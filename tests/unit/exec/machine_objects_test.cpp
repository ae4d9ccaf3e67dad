// Device code of two files, linked by us, computes what the source says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "exec/executor.h"
#include "exec/memory.h"
#include "machine/image.h"
#include "machine/join.h"

namespace simtlab::exec {
namespace {

constexpr int object_threads = 32, object_number = 3;

machine::Object object_file(const std::string& name) {
  return {read_file(SIMTLAB_SOURCE_DIR "/tests/data/machine/" + name + ".cubin", 1 << 20), name};
}

std::vector<float> run_object(const LoadedModule& module, const char* kernel, GlobalMemory& memory) {
  const std::uint64_t out = memory.allocate(object_threads * sizeof(float), "out").value();
  std::byte params[12];
  std::memcpy(params, &out, 8);
  std::memcpy(params + 8, &object_number, 4);
  LaunchParams p;
  p.module = &module;
  const auto& functions = module.module().functions;
  p.function = static_cast<std::uint32_t>(std::ranges::find(functions, kernel, &ptx::Function::name) -
                                          functions.begin());
  p.block = {object_threads};
  p.dynamic_shared_bytes = object_threads * sizeof(float);
  p.params = params;
  const Launch launch(p, memory);
  run_functional(launch, {});
  std::vector<float> values(object_threads);
  EXPECT_TRUE(memory.read(out, std::as_writable_bytes(std::span(values))));
  return values;
}

int calls_deep(int k) { return k <= 0 ? 1 : calls_deep(k - 1) + k * calls_deep(k - 2); }

float shapes_of(int i) {
  const float factors[] = {1, 2, 3, 4};
  const auto x = static_cast<float>(i);
  const auto scale = [&](float v, int k) { return v * factors[k % 4] + 2 * v; };
  const float listed = (i + object_number) % 2 == 0 ? scale(x, 3) : x * 3 + 3;
  const float area = (object_number + i) % 2 != 0 ? 4 + x : 27 - x;
  return scale(factors[i % 4], i) + listed + area + 2 * x + static_cast<float>(calls_deep(i % 5));
}

class LinkedObjects : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Generations, LinkedObjects, testing::Values(50u, 61u, 75u, 80u, 90u));

TEST_P(LinkedObjects, ComputeWhatTheirSourceSays) {
  const std::string sm = ".sm_" + std::to_string(GetParam());
  const std::vector<machine::Object> files = {object_file("objects_main" + sm),
                                              object_file("objects_other" + sm)};
  for (const bool turned : {false, true}) {
    GlobalMemory memory(64 << 20, 0);
    const std::vector<machine::Object> order =
        turned ? std::vector{files[1], files[0]} : std::vector{files[0], files[1]};
    const LoadedModule module(
        machine::open_cubin(machine::join_objects(order, machine::Missing::fail), "joined"), memory);
    const std::vector<float> shapes = run_object(module, "shapes", memory);
    const std::vector<float> own = run_object(module, "own_memory", memory);
    for (int i = 0; i < object_threads; ++i) {
      const auto exchanged = static_cast<float>(i ^ 1);
      EXPECT_EQ(shapes[static_cast<std::size_t>(i)],
                shapes_of(i) + shapes_of((i + 1) % object_threads) + exchanged)
          << i;
      EXPECT_EQ(own[static_cast<std::size_t>(i)], exchanged + object_number + 5 + object_threads) << i;
    }
  }
}

}  // namespace
}  // namespace simtlab::exec
