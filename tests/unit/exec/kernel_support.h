// Runs kernels given as PTX text on a small simulated memory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "exec/arguments.h"
#include "exec/executor.h"

namespace simtlab::exec {

class Machine {
 public:
  explicit Machine(std::string body, std::uint64_t memory_bytes = 64ull << 20)
      : memory(memory_bytes, 0),
        module(std::make_unique<LoadedModule>(
            ptx::load_module("test.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n" + std::move(body)),
            memory)) {}

  template <class T>
  std::uint64_t upload(const std::vector<T>& values, const char* what = "cudaMalloc") {
    const auto address = memory.allocate(values.size() * sizeof(T), what).value();
    memory.write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    if (!memory.read(address, std::as_writable_bytes(std::span(values))))
      throw std::logic_error("download out of bounds");
    return values;
  }

  template <class... T>
  std::unique_ptr<Launch> prepare(Dim3 grid, Dim3 block, T... values) {
    LaunchParams p = params;
    p.module = module.get();
    const auto& functions = module->module().functions;
    p.function = static_cast<std::uint32_t>(
        std::find_if(functions.begin(), functions.end(), [](const auto& f) { return f.is_entry; }) -
        functions.begin());
    p.grid = grid;
    p.block = block;
    const std::vector<std::byte> packed = pack_arguments(values...);
    p.params = packed;
    if (!p.print) p.print = [this](std::string_view text) { printed += text; };
    return std::make_unique<Launch>(p, memory);
  }
  template <class... T>
  FunctionalResult run(Dim3 grid, Dim3 block, T... values) {
    return run_functional(*prepare(grid, block, values...), options);
  }

  GlobalMemory memory;
  std::unique_ptr<LoadedModule> module;
  LaunchParams params;
  FunctionalOptions options;
  std::string printed;
};

// A kernel k(out, in): thread i of the grid starts with i in %r0, 0 in %r1, &out[i] in %rd3, &in[i] in %rd4
// (elements of 32 bits) and out, in in %rd1, %rd2; at END it stores %r1 in out[i]. `before` stands in front
// of the kernel: functions, variables.
inline std::string lane_kernel(const std::string& body, const std::string& before = {},
                               const std::string& locals = {}) {
  return before + R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
  .reg .pred %p<16>;
  .reg .b16 %rs<16>;
  .reg .b32 %r<64>;
  .reg .b64 %rd<64>;
  .reg .f32 %f<32>;
  .reg .f64 %fd<16>;
)" + locals +
         R"(
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r60, %ctaid.x;
  mov.u32 %r61, %ntid.x;
  mov.u32 %r62, %tid.x;
  mad.lo.u32 %r0, %r60, %r61, %r62;
  mul.wide.u32 %rd0, %r0, 4;
  add.s64 %rd3, %rd1, %rd0;
  add.s64 %rd4, %rd2, %rd0;
  mov.u32 %r1, 0;
)" + body +
         R"(
END:
  st.global.u32 [%rd3], %r1;
  ret;
}
)";
}

// Runs lane_kernel on `threads` threads in blocks of `block`; what is in out afterwards.
inline std::vector<std::uint32_t> run_lanes(Machine& m, unsigned threads, unsigned block,
                                            std::vector<std::uint32_t> in = {}) {
  in.resize(std::max<std::size_t>(in.size(), threads));
  const auto out = m.upload(std::vector<std::uint32_t>(threads, 0xdeadbeef), "out"),
             input = m.upload(in, "in");
  m.run({threads / block}, {block}, out, input);
  return m.download<std::uint32_t>(out, threads);
}
// f(i) for all threads.
template <class F>
std::vector<std::uint32_t> each_thread(unsigned threads, const F& f) {
  std::vector<std::uint32_t> out(threads);
  for (unsigned i = 0; i < threads; ++i) out[i] = static_cast<std::uint32_t>(f(i));
  return out;
}

// Tests of handlers that exist once an instruction set.
class EachIsa : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("SIMTLAB_ISA", GetParam(), 1);
    try {
      instruction_set();
    } catch (const Error&) { GTEST_SKIP() << "this processor lacks " << GetParam(); }
  }
  void TearDown() override { unsetenv("SIMTLAB_ISA"); }
};
#define SIMTLAB_EACH_ISA(fixture)                                                    \
  INSTANTIATE_TEST_SUITE_P(, fixture, testing::Values("baseline", "avx2", "avx512"), \
                           [](const auto& instance) { return std::string(instance.param); })

// The text of the Error that f throws; fails the caller's expectations if it throws none.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) { return "[" + e.id() + "] " + e.what(); }
  return "no error";
}

}  // namespace simtlab::exec
