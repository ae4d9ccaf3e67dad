// The driver API and a few functions of the runtime, as far as the tests use them: declarations of our own.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Ptr = std::uint64_t;
struct Copy2D {
  std::size_t sx, sy;
  int st;
  const void* sh;
  Ptr sd;
  void* sa;
  std::size_t sp;
  std::size_t tx, ty;
  int tt;
  void* th;
  Ptr td;
  void* ta;
  std::size_t tp;
  std::size_t width, height;
};
struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  void* attributes;
  unsigned count;
};
extern "C" {
int cuInit(unsigned), cuDeviceGet(int*, int), cuDeviceGetCount(int*), cuDeviceGetName(char*, int, int);
int cuDeviceTotalMem_v2(std::size_t*, int), cuDeviceGetAttribute(int*, int, int), cuDriverGetVersion(int*);
int cuCtxCreate_v2(void**, unsigned, int), cuCtxDestroy_v2(void*), cuCtxGetCurrent(void**),
    cuCtxSynchronize(), cuCtxGetLimit(std::size_t*, int), cuCtxSetLimit(int, std::size_t);
int cuCtxPushCurrent_v2(void*), cuCtxPopCurrent_v2(void**), cuDevicePrimaryCtxRetain(void**, int),
    cuCtxSetCurrent(void*);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*), cuDevicePrimaryCtxRelease_v2(int);
int cuModuleLoad(void**, const char*), cuModuleLoadData(void**, const void*), cuModuleUnload(void*);
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**);
int cuLinkCreate_v2(unsigned, int*, void**, void**), cuLinkComplete(void*, void**, std::size_t*),
    cuLinkDestroy(void*), cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuModuleGetFunction(void**, void*, const char*),
    cuModuleGetGlobal_v2(Ptr*, std::size_t*, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned),
    cuLibraryUnload(void*);
int cuLibraryGetKernel(void**, void*, const char*), cuKernelGetFunction(void**, void*);
int cuLibraryGetKernelCount(unsigned*, void*), cuFuncGetAttribute(int*, int, void*),
    cuFuncGetName(const char**, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuLaunchKernelEx(const Config*, void*, void**, void**);
int cuMemAlloc_v2(Ptr*, std::size_t), cuMemFree_v2(Ptr), cuMemAllocHost_v2(void**, std::size_t),
    cuMemFreeHost(void*);
int cuMemcpyHtoD_v2(Ptr, const void*, std::size_t), cuMemcpyDtoH_v2(void*, Ptr, std::size_t);
int cuMemcpyDtoHAsync_v2(void*, Ptr, std::size_t, void*), cuMemcpy2D_v2(const Copy2D*);
int cuMemsetD32_v2(Ptr, unsigned, std::size_t), cuMemsetD8_v2(Ptr, unsigned char, std::size_t);
int cuMemsetD2D16_v2(Ptr, std::size_t, unsigned short, std::size_t, std::size_t);
int cuMemGetAddressRange_v2(Ptr*, std::size_t*, Ptr), cuPointerGetAttribute(void*, int, Ptr);
int cuStreamCreate(void**, unsigned), cuStreamSynchronize(void*), cuStreamDestroy_v2(void*);
int cuEventCreate(void**, unsigned), cuEventRecord(void*, void*), cuEventSynchronize(void*),
    cuEventDestroy_v2(void*);
int cuEventElapsedTime(float*, void*, void*), cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, std::size_t);
int cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*), cuGetErrorName(int, const char**);
int cuGetErrorString(int, const char**), cuGraphAddNode(), cuGetExportTable(const void**, const void*);
int cudaMalloc(void**, std::size_t), cudaMemcpy(void*, const void*, std::size_t, int),
    cudaDeviceSynchronize();
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cudaLibraryGetKernel(void**, void*, const char*);
}

[[maybe_unused]] static void need(int code, const char* call, int line) {
  if (code == 0) return;
  std::printf("line %d: %s: %d\n", line, call, code);
  std::exit(9);
}
#define NEED(call) need(call, #call, __LINE__)
#define CHECK(condition) need((condition) ? 0 : -1, #condition, __LINE__)

// triple(p): p[thread] = thread * 3 + offset, a variable. wild(): writes where nothing is.
[[maybe_unused]] static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 offset;\n"
    ".visible .entry triple(.param .u64 p, .param .u32 n)\n{ .reg .pred %q; .reg .b32 %r<5>; .reg .b64 "
    "%a<3>;\n"
    "ld.param.u64 %a1, [p]; ld.param.u32 %r3, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %q, %r1, %r3; @%q ret;\n"
    "mul.wide.u32 %a2, %r1, 4; add.s64 %a1, %a1, %a2; ld.global.u32 %r2, [offset]; mad.lo.u32 %r1, %r1, 3, "
    "%r2;\n"
    "st.global.u32 [%a1], %r1; ret; }\n"
    ".visible .entry wild()\n{ .reg .b64 %d; mov.u64 %d, 16; st.global.u64 [%d], %d; ret; }\n";
