// The three shared libraries as a program's loader sees them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace {

struct Library {
  const char* file;
  const char* node;
  int version;             // cudaRuntimeGetVersion
  std::size_t properties;  // sizeof(cudaDeviceProp) in that version's header
};

class Libraries : public testing::TestWithParam<Library> {
 protected:
  void SetUp() override {
    handle_ =
        dlopen((std::string(SIMTLAB_BINARY_DIR) + "/lib/" + GetParam().file).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  // Not closed: a runtime library stays until its process ends.
  template <typename F>
  F* symbol(const char* name) {
    return reinterpret_cast<F*>(dlvsym(handle_, name, GetParam().node));
  }
  void* handle_ = nullptr;
};

TEST_P(Libraries, EveryFunctionThatTheSuiteUsesIsThereUnderItsVersion) {
  // reference/targets/cudart-symbols.csv, and what clang and older nvcc call.
  for (const char* name : {"__cudaGetKernel",
                           "__cudaLaunchKernel",
                           "__cudaPopCallConfiguration",
                           "__cudaPushCallConfiguration",
                           "__cudaRegisterFatBinary",
                           "__cudaRegisterFatBinaryEnd",
                           "__cudaRegisterFunction",
                           "__cudaUnregisterFatBinary",
                           "cudaFree",
                           "cudaMalloc",
                           "cudaMemcpy",
                           "cudaDeviceSynchronize",
                           "cudaGetErrorString",
                           "cudaGetLastError",
                           "cudaGetDeviceProperties",
                           "cudaSetDevice",
                           "cudaMemset",
                           "__cudaInitModule",
                           "__cudaRegisterVar",
                           "cudaMemcpyToSymbol",
                           "cudaGetDeviceCount",
                           "cudaDeviceReset",
                           "cudaGetDevice",
                           "cudaCreateChannelDesc",
                           "cudaEventCreate",
                           "cudaEventElapsedTime",
                           "cudaEventRecord",
                           "cudaEventSynchronize",
                           "cuMemGetInfo_v2",
                           "cudaFreeArray",
                           "cudaFreeHost",
                           "cudaFuncSetCacheConfig",
                           "cudaMallocArray",
                           "cudaMallocHost",
                           "cudaMemGetInfo",
                           "cudaMemcpyAsync",
                           "cudaMemcpyToArray",
                           "cudaStreamCreate",
                           "cudaStreamSynchronize",
                           "__cudaRegisterManagedVar",
                           "cudaCreateTextureObject",
                           "cudaFuncGetAttributes",
                           "cudaGraphInstantiate",
                           "cudaGraphLaunch",
                           "cudaLaunchCooperativeKernel",
                           "cudaLaunchKernel",
                           "cudaLaunchKernelExC",
                           "cudaMallocManaged",
                           "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                           "cudaStreamBeginCapture",
                           "cudaStreamEndCapture",
                           "__cudaRegisterTexture",
                           "cudaBindTexture",
                           "cudaThreadSynchronize",
                           "cudaGetDeviceProperties_v2"})
    EXPECT_NE(symbol<void>(name), nullptr) << name;
}

// As NVIDIA's: its names have no version.
TEST(Driver, FunctionsAreThereByNameAndByTheDriversOwnSearch) {
  void* const driver = dlopen(SIMTLAB_BINARY_DIR "/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr) << dlerror();
  for (const char* name :
       {"cuInit", "cuMemAlloc_v2", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuModuleLoadDataEx",
        "cuLibraryLoadData", "cuGetProcAddress_v2", "cuGetExportTable", "cuMemcpyHtoDAsync_v2",
        "cuMemsetD2D32_v2_ptds", "cuGraphAddKernelNode_v2", "cuMemPoolCreate", "cuTexRefSetArray"})
    EXPECT_NE(dlsym(driver, name), nullptr) << name;
  EXPECT_EQ(dlsym(driver, "cudaMalloc"), nullptr);
  EXPECT_EQ(dlsym(driver, "_ZN7simtlab5ErrorD1Ev"), nullptr);
  const auto find = reinterpret_cast<int (*)(const char*, void**, int, std::uint64_t, int*)>(
      dlsym(driver, "cuGetProcAddress_v2"));
  for (const auto& [name, version, symbol] : {std::tuple{"cuCtxCreate", 3020, "cuCtxCreate_v2"},
                                              {"cuCtxCreate", 12000, "cuCtxCreate_v3"},
                                              {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
                                              {"cuMemHostRegister", 6000, "cuMemHostRegister"},
                                              {"cuStreamBeginCapture", 10000, "cuStreamBeginCapture"},
                                              {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
                                              {"cuInit", 2000, "cuInit"}}) {
    void* found = nullptr;
    int status = -1;
    EXPECT_EQ(find(name, &found, version, 0, &status), 0) << name;
    EXPECT_EQ(status, 0);
    EXPECT_EQ(found, dlsym(driver, symbol)) << name << ' ' << version;
  }
}

TEST_P(Libraries, NothingElseIsExported) { EXPECT_EQ(dlsym(handle_, "_ZN7simtlab5ErrorD1Ev"), nullptr); }

TEST_P(Libraries, TheVersionIsTheOneOfTheName) {
  int version = 0;
  ASSERT_EQ(symbol<int(int*)>("cudaRuntimeGetVersion")(&version), 0);
  EXPECT_EQ(version / 1000 * 1000, GetParam().version);
}

TEST_P(Libraries, DevicePropertiesFillExactlyTheStructureOfTheVersion) {
  std::vector<unsigned char> memory(GetParam().properties + 64, 0xa5);
  const char* name = GetParam().version == 12000 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties";
  ASSERT_EQ(symbol<int(void*, int)>(name)(memory.data(), 0), 0);
  EXPECT_NE(std::string(reinterpret_cast<char*>(memory.data())).find("V100"), std::string::npos);
  for (std::size_t i = GetParam().properties; i < memory.size(); ++i) ASSERT_EQ(memory[i], 0xa5) << i;
  // The last member of the version's own part: reservedSharedMemPerBlock in 11, a reserved zero after it.
  EXPECT_NE(memory[GetParam().properties - 1], 0xa5);
}

INSTANTIATE_TEST_SUITE_P(Cuda, Libraries,
                         testing::Values(Library{"libcudart.so.11.0", "libcudart.so.11.0", 11000, 728},
                                         Library{"libcudart.so.12", "libcudart.so.12", 12000, 1032},
                                         Library{"libcudart.so.13", "libcudart.so.13", 13000, 1008}),
                         [](const auto& info) {
                           return std::string("v") + std::to_string(info.param.version / 1000);
                         });

}  // namespace
