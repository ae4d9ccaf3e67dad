// The CUDA runtime API, linked statically and called as a program would call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "hosts/cuda/cuda_api.h"
#include "hosts/cuda/runtime.h"
#include "options/rows.h"
#include "options/run_file.h"

namespace simtlab::hosts::cuda {
extern const int library_major;
const int library_major = 12;
}  // namespace simtlab::hosts::cuda

using namespace simtlab::hosts::cuda;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3Arg, Dim3Arg, std::size_t, StreamHandle);
int __cudaPopCallConfiguration(Dim3Arg*, Dim3Arg*, std::size_t*, StreamHandle*);
int __cudaGetKernel(const void**, const void*);
int __cudaLaunchKernel(const void*, Dim3Arg, Dim3Arg, void**, std::size_t, StreamHandle);
int cudaLaunchKernel(const void*, Dim3Arg, Dim3Arg, void**, std::size_t, StreamHandle);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocHost(void**, std::size_t);
int cudaFreeHost(void*);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaHostGetFlags(unsigned*, void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemset(void*, int, std::size_t);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int);
int cudaGetSymbolSize(std::size_t*, const void*);
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorString(int);
const char* cudaGetErrorName(int);
int cudaDeviceSynchronize();
int cudaDeviceReset();
int cudaStreamCreate(StreamHandle*);
int cudaStreamDestroy(StreamHandle);
int cudaStreamQuery(StreamHandle);
int cudaEventCreate(EventHandle*);
int cudaEventRecord(EventHandle, StreamHandle);
int cudaEventSynchronize(EventHandle);
int cudaEventQuery(EventHandle);
int cudaEventElapsedTime(float*, EventHandle, EventHandle);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, StreamHandle);
int cudaMallocArray(CudaArray**, const ChannelFormat*, std::size_t, std::size_t, unsigned);
int cudaFreeArray(CudaArray*);
int cudaMemcpyToArray(CudaArray*, std::size_t, std::size_t, const void*, std::size_t, int);
int cudaMemcpy2DFromArray(void*, std::size_t, const CudaArray*, std::size_t, std::size_t, std::size_t,
                          std::size_t, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaFuncGetAttributes(FuncAttributes*, const void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaPointerGetAttributes(PointerAttributes*, const void*);
int cudaGraphClone();
int cudaDeviceGetAttribute(int*, int, int);
int cudaSetDevice(int);
int cudaMemGetInfo(std::size_t*, std::size_t*);
}

namespace {

constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.const .align 4 .f32 factor[2];
.visible .entry scale(.param .u64 x, .param .u32 n, .param .align 4 .b8 pair[8])
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r1, [n]; ld.param.f32 %f3, [pair+4];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;
  cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d2, %d3;
  ld.global.f32 %f1, [%d4]; ld.const.f32 %f2, [factor+4]; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%d4], %f4;
done:
  ret;
}
.visible .entry big(.param .u64 x)
{
  .shared .align 4 .b8 tile[32768];
  .reg .b32 %r<2>;
  mov.u32 %r1, 7;
  st.shared.u32 [tile], %r1;
  ret;
}
)";
// A kernel that writes where nothing is.
constexpr const char* bad_ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wild()
{
  .reg .b64 %d<2>;
  mov.u64 %d1, 16;
  st.global.u64 [%d1], %d1;
  ret;
}
)";
constexpr const char* unsupported_ptx = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry tensor()
{
  .reg .b32 %r<20>;
  wgmma.fence.sync.aligned;
  ret;
}
)";

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data;
  const void* extra = nullptr;
};
Wrapper wrapper{0x466243b1, 1, ptx, nullptr}, bad_wrapper{0x466243b1, 1, bad_ptx, nullptr},
    unsupported_wrapper{0x466243b1, 1, unsupported_ptx, nullptr};
char scale_stub, big_stub, wild_stub, tensor_stub, factor_shadow, nothing_stub;

// What a compiler's constructor does, before the GPU exists.
class Program : public testing::Environment {
 public:
  void SetUp() override {
    const std::string config = testing::TempDir() + "/simtlab_api_test_" + std::to_string(getpid()) + ".json";
    simtlab::options::RunFile run{simtlab::options::defaults(), {}};
    run.options.gpu = "v100";
    run.options.mode = "functional";
    std::ofstream(config) << simtlab::options::to_json(run);
    setenv("SIMTLAB_RUN_CONFIG", config.c_str(), 1);
    setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    const auto function = [](void** image, char* stub, const char* name) {
      __cudaRegisterFunction(image, stub, stub, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    void** image = __cudaRegisterFatBinary(&wrapper);
    function(image, &scale_stub, "scale");
    function(image, &big_stub, "big");
    __cudaRegisterVar(image, &factor_shadow, &factor_shadow, "factor", 0, 8, 1, 0);
    __cudaRegisterFatBinaryEnd(image);
    function(__cudaRegisterFatBinary(&bad_wrapper), &wild_stub, "wild");
    function(__cudaRegisterFatBinary(&unsupported_wrapper), &tensor_stub, "tensor");
  }
};
const auto* const program = testing::AddGlobalTestEnvironment(new Program);

class Api : public testing::Test {
 protected:
  void TearDown() override {
    cudaDeviceReset();
    cudaGetLastError();
  }
};

float* device_floats(const std::vector<float>& values) {
  void* d = nullptr;
  EXPECT_EQ(cudaMalloc(&d, values.size() * 4), 0);
  EXPECT_EQ(cudaMemcpy(d, values.data(), values.size() * 4, 1), 0);
  return static_cast<float*>(d);
}

std::vector<float> fetch(const float* d, std::size_t n) {
  std::vector<float> out(n);
  EXPECT_EQ(cudaMemcpy(out.data(), d, n * 4, 2), 0);
  return out;
}

struct Pair {
  float a, b;
};

TEST_F(Api, AKernelRunsOverConstantsPointersScalarsAndStructures) {
  float* x = device_floats({1, 2, 3, 4, 5});
  const float factor[2] = {9, 10};
  ASSERT_EQ(cudaMemcpyToSymbol(&factor_shadow, factor, 8, 0, 1), 0);
  std::uint32_t n = 4;
  Pair pair{100, 0.5f};
  void* args[] = {&x, &n, &pair};
  ASSERT_EQ(cudaLaunchKernel(&scale_stub, {2, 1, 1}, {32, 1, 1}, args, 0, 0), 0);
  EXPECT_THAT(fetch(x, 5), testing::ElementsAre(10.5f, 20.5f, 30.5f, 40.5f, 5.f));
  float back[2] = {};
  ASSERT_EQ(cudaMemcpyFromSymbol(back, &factor_shadow, 4, 4, 2), 0);
  EXPECT_EQ(back[0], 10);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &factor_shadow), 0);
  EXPECT_EQ(bytes, 8u);
}

TEST_F(Api, HostThreadsShareTheGpuAndKeepTheirOwnErrors) {
  const float factor[2] = {0, 2};
  ASSERT_EQ(cudaMemcpyToSymbol(&factor_shadow, factor, 8, 0, 1), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      StreamHandle stream = 0;
      EXPECT_EQ(cudaStreamCreate(&stream), 0);
      for (int round = 0; round < 20; ++round) {
        const float value = static_cast<float>(t * 100 + round);
        float* x = device_floats({value});
        std::uint32_t n = 1;
        Pair pair{0, 1};
        void* args[] = {&x, &n, &pair};
        EXPECT_EQ(cudaLaunchKernel(&scale_stub, {1, 1, 1}, {32, 1, 1}, args, 0, stream), 0);
        EXPECT_THAT(fetch(x, 1), testing::ElementsAre(value * 2 + 1));
        const unsigned threads_of_bad_launch = t == 0 ? 4096 : 32;
        EXPECT_EQ(
            cudaLaunchKernel(&scale_stub, {1, 1, 1}, {threads_of_bad_launch, 1, 1}, args, 0, stream) == 0,
            t != 0);
        EXPECT_EQ(cudaGetLastError() == 0, t != 0);
        EXPECT_EQ(cudaFree(x), 0);
      }
      EXPECT_EQ(cudaStreamDestroy(stream), 0);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Api, PageLockedMemoryKeepsTheFlagsItWasMadeWith) {
  void* p = nullptr;
  unsigned flags = 0;
  ASSERT_EQ(cudaHostAlloc(&p, 100, 1), 0);
  EXPECT_EQ(cudaHostGetFlags(&flags, p), 0);
  EXPECT_EQ(flags, 3u);
  EXPECT_EQ(cudaFreeHost(p), 0);
  EXPECT_EQ(cudaHostAlloc(&p, 100, 8), 1);
  ASSERT_EQ(cudaMallocHost(&p, 100), 0);
  EXPECT_EQ(cudaHostGetFlags(&flags, p), 0);
  EXPECT_EQ(flags, 2u);
}

TEST_F(Api, ASymbolMayBeNamedByTextAsBeforeCuda5) {
  const float factor[2] = {9, 10};
  EXPECT_EQ(cudaMemcpyToSymbol("factor", factor, 8, 0, 1), 0);
  float back[2] = {};
  EXPECT_EQ(cudaMemcpyFromSymbol(back, &factor_shadow, 8, 0, 2), 0);
  EXPECT_EQ(back[1], 10);
  EXPECT_EQ(cudaMemcpyToSymbol("nosuch", factor, 8, 0, 1), 13);
  EXPECT_EQ(cudaMemcpyToSymbol(reinterpret_cast<const void*>(16), factor, 8, 0, 1), 13);
}

TEST_F(Api, LaunchesOfNvcc13GoThroughAKernelHandle) {
  float* x = device_floats({1});
  const float factor[2] = {0, 3};
  cudaMemcpyToSymbol(&factor_shadow, factor, 8, 0, 1);
  const void* kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &scale_stub), 0);
  ASSERT_EQ(__cudaPushCallConfiguration({1, 1, 1}, {32, 1, 1}, 0, 0), 0u);
  Dim3Arg grid, block;
  std::size_t shared;
  StreamHandle stream;
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
  std::uint32_t n = 1;
  Pair pair{0, 1};
  void* args[] = {&x, &n, &pair};
  ASSERT_EQ(__cudaLaunchKernel(kernel, grid, block, args, shared, stream), 0);
  EXPECT_THAT(fetch(x, 1), testing::ElementsAre(4.f));
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), error_missing_configuration);
}

TEST_F(Api, ErrorsAreRememberedOnceAndNamed) {
  EXPECT_EQ(cudaMemcpy(reinterpret_cast<void*>(64), "abc", 3, 1), error_invalid_value);
  EXPECT_EQ(cudaPeekAtLastError(), error_invalid_value);
  EXPECT_EQ(cudaGetLastError(), error_invalid_value);
  EXPECT_EQ(cudaGetLastError(), success);
  EXPECT_STREQ(cudaGetErrorString(2), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(700), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(12345), "unrecognized error code");
  EXPECT_EQ(cudaSetDevice(1), error_invalid_device);
  EXPECT_EQ(cudaLaunchKernel(&nothing_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, 0),
            error_invalid_device_function);
  EXPECT_EQ(cudaFree(&nothing_stub), error_invalid_value);
}

TEST_F(Api, AWildStorePoisonsTheContextUntilReset) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernel(&wild_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, 0), error_illegal_address);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), error_illegal_address);
  EXPECT_EQ(cudaGetLastError(), error_illegal_address);
  EXPECT_EQ(cudaGetLastError(), error_illegal_address);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("wild"), testing::HasSubstr("0x10")));
  EXPECT_EQ(text.find("error:"), text.rfind("error:")) << "told once";
  const simtlab::result::Manifest manifest = Runtime::get().result().value().manifest;
  EXPECT_EQ(manifest.failure_code, 5);
  EXPECT_THAT(manifest.failure, testing::HasSubstr("wild"));
  EXPECT_EQ(cudaDeviceReset(), success);
  EXPECT_EQ(cudaMalloc(&p, 4), success);
}

TEST_F(Api, AModuleWithUnsupportedInstructionsHarmsNobodyUntilItIsUsed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernel(&tensor_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, 0), error_not_supported);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("wgmma"));
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), success);
}

TEST_F(Api, LaunchesThatDoNotFitAreRefused) {
  float* x = device_floats({1});
  std::uint32_t n = 1;
  Pair pair{};
  void* args[] = {&x, &n, &pair};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernel(&scale_stub, {0, 1, 1}, {32, 1, 1}, args, 0, 0), error_invalid_configuration);
  EXPECT_EQ(cudaLaunchKernel(&scale_stub, {1, 1, 1}, {1025, 1, 1}, args, 0, 0), error_invalid_configuration);
  EXPECT_EQ(cudaLaunchKernel(&scale_stub, {1, 70000, 1}, {32, 1, 1}, args, 0, 0),
            error_invalid_configuration);
  EXPECT_EQ(cudaLaunchKernel(&scale_stub, {1, 1, 1}, {32, 1, 1}, args, 1 << 20, 0), error_invalid_value);
  EXPECT_EQ(cudaLaunchKernel(&scale_stub, {1, 1, 1}, {32, 1, 1}, args, 0, 12345),
            error_invalid_resource_handle);
  // More than the default needs an opt-in first.
  EXPECT_EQ(cudaLaunchKernel(&big_stub, {1, 1, 1}, {32, 1, 1}, args, 20000, 0), error_invalid_value);
  EXPECT_EQ(cudaFuncSetAttribute(&big_stub, 8, 20000), success);
  EXPECT_EQ(cudaLaunchKernel(&big_stub, {1, 1, 1}, {32, 1, 1}, args, 20000, 0), success);
  EXPECT_EQ(cudaFuncSetAttribute(&big_stub, 8, 1 << 20), error_invalid_value);
  testing::internal::GetCapturedStderr();
}

TEST_F(Api, MoreThanTheDeviceHasIsOutOfMemory) {
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, std::size_t{1} << 50), error_memory_allocation);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaMalloc(&p, 0), success);
  EXPECT_EQ(cudaFree(nullptr), success);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), success);
  EXPECT_GT(total, std::size_t{1} << 30);
  ASSERT_EQ(cudaMalloc(&p, 1 << 20), success);
  std::size_t less = 0;
  cudaMemGetInfo(&less, &total);
  EXPECT_GE(free - less, std::size_t{1} << 20);
}

TEST_F(Api, PitchedCopiesMoveRowsAndLeaveThePadding) {
  void* d = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&d, &pitch, 12, 3), success);
  EXPECT_GE(pitch, 12u);
  EXPECT_EQ(pitch % 512, 0u);
  ASSERT_EQ(cudaMemset(d, 0xff, pitch * 3), success);
  const int rows[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  ASSERT_EQ(cudaMemcpy2D(d, pitch, rows, 12, 12, 3, 1), success);
  int back[12] = {};
  ASSERT_EQ(cudaMemcpy2D(back, 16, d, pitch, 16, 3, 2), success);
  EXPECT_THAT(back, testing::ElementsAre(1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9, -1));
  EXPECT_EQ(cudaMemcpy2D(d, 8, rows, 12, 12, 3, 1), error_invalid_pitch_value);
  EXPECT_EQ(cudaMemcpy2D(d, pitch, rows, 12, 12, 4, 1), error_invalid_value);
  EXPECT_EQ(cudaMemcpy2D(d, ~std::size_t{0}, rows, 12, 12, 3, 1), error_invalid_value);
}

TEST_F(Api, HostAndManagedMemoryAreSeenByBothSides) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer occupies the address range that both sides share";
#endif
#endif
  void *pinned = nullptr, *managed = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), success);
  ASSERT_EQ(cudaMallocManaged(&managed, 64, 1), success);
  for (void* p : {pinned, managed}) {
    static_cast<float*>(p)[0] = 2;
    const float factor[2] = {0, 5};
    cudaMemcpyToSymbol(&factor_shadow, factor, 8, 0, 1);
    std::uint32_t n = 1;
    Pair pair{0, 1};
    void* args[] = {&p, &n, &pair};
    ASSERT_EQ(cudaLaunchKernel(&scale_stub, {1, 1, 1}, {1, 1, 1}, args, 0, 0), success);
    EXPECT_EQ(static_cast<float*>(p)[0], 11);
  }
  PointerAttributes a{};
  ASSERT_EQ(cudaPointerGetAttributes(&a, pinned), success);
  EXPECT_EQ(a.type, 1);
  ASSERT_EQ(cudaPointerGetAttributes(&a, managed), success);
  EXPECT_EQ(a.type, 3);
  ASSERT_EQ(cudaPointerGetAttributes(&a, &a), success);
  EXPECT_EQ(a.type, 0);
  // cudaMemcpyDefault finds the direction by itself.
  float out = 0;
  EXPECT_EQ(cudaMemcpy(&out, managed, 4, 4), success);
  EXPECT_EQ(out, 11);
  EXPECT_EQ(cudaFree(pinned), error_invalid_value);
  EXPECT_EQ(cudaFreeHost(pinned), success);
  EXPECT_EQ(cudaFree(managed), success);
}

TEST_F(Api, EventsMeasureSimulatedTime) {
  StreamHandle stream = 0;
  EventHandle begin = 0, end = 0;
  ASSERT_EQ(cudaStreamCreate(&stream), success);
  ASSERT_EQ(cudaEventCreate(&begin), success);
  ASSERT_EQ(cudaEventCreate(&end), success);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), error_invalid_resource_handle);  // never recorded
  std::vector<char> host(1 << 20);
  void* d = nullptr;
  cudaMalloc(&d, host.size());
  cudaEventRecord(begin, stream);
  cudaMemcpyAsync(d, host.data(), host.size(), 1, stream);
  cudaEventRecord(end, stream);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), error_not_ready);
  EXPECT_EQ(cudaEventQuery(end), error_not_ready);  // the host polls; the next time it is done
  EXPECT_EQ(cudaEventQuery(end), success);
  ASSERT_EQ(cudaEventSynchronize(end), success);
  ASSERT_EQ(cudaEventElapsedTime(&ms, begin, end), success);
  const simtlab::device::Device& device = Runtime::get().device();
  EXPECT_NEAR(ms, (device.host.copy_latency_ns + 1048576 / device.host.copy_bandwidth_h2d * 1e9) * 1e-6,
              1e-6);
  EXPECT_EQ(cudaStreamQuery(stream), success);
  EXPECT_EQ(cudaStreamDestroy(stream), success);
  EXPECT_EQ(cudaStreamDestroy(stream), error_invalid_resource_handle);
}

TEST_F(Api, ArraysAreCopiedByRegions) {
  const ChannelFormat floats{32, 0, 0, 0, 2};
  CudaArray* array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &floats, 4, 2, 0), success);
  const float in[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_EQ(cudaMemcpyToArray(array, 0, 0, in, sizeof in, 1), success);
  float out[4] = {};
  ASSERT_EQ(cudaMemcpy2DFromArray(out, 8, array, 4, 0, 8, 2, 2), success);
  EXPECT_THAT(out, testing::ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(cudaMemcpy2DFromArray(out, 8, array, 12, 0, 8, 2, 2), error_invalid_value);
  EXPECT_EQ(cudaMemcpyToArray(array, 4, 0, in, sizeof in, 1), error_invalid_value);
  EXPECT_EQ(cudaFreeArray(array), success);
  EXPECT_EQ(cudaFreeArray(array), error_invalid_value);
}

TEST_F(Api, AKernelTellsItsAttributesAndOccupancy) {
  FuncAttributes a[2];
  ASSERT_EQ(cudaFuncGetAttributes(a, &big_stub), success);
  EXPECT_EQ(a[0].shared_bytes, 32768u);
  EXPECT_EQ(a[0].const_bytes, 8u);
  EXPECT_EQ(a[0].max_threads_per_block, 1024);
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &big_stub, 1024, 0), success);
  EXPECT_EQ(blocks, 2);  // threads: 2048 of an SM
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &big_stub, 32, 0), success);
  EXPECT_EQ(blocks, 3);  // shared memory: 96 KiB of an SM
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, 75, 0), success);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, 4711, 0), error_invalid_value);
}

TEST_F(Api, WhatIsMissingSaysItsName) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphClone(), error_not_supported);
  EXPECT_EQ(cudaGraphClone(), error_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simtlab: error: cudaGraphClone is not supported by simtlab's CUDA runtime; it returned "
            "cudaErrorNotSupported "
            "[cuda-api]\n");
}

}  // namespace
