/* launcher COUNT [FORM|all] [THREADS] [DEVICES]: that many launches of each thread, then waits for them. The last line says what the calls cost.
   With 2 devices the threads take turns on them, each in the default stream. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { dim3 grid, block; size_t shared; void* stream; void* attributes; unsigned count; } Config;
typedef struct { unsigned grid[3], block[3], shared; void* stream; void* attributes; unsigned count; } DriverConfig;
#define LAUNCH(name) int name(const void*, dim3, dim3, void**, size_t, void*);
LAUNCH(cudaLaunchKernel) LAUNCH(cudaLaunchKernel_ptsz) LAUNCH(__cudaLaunchKernel) LAUNCH(__cudaLaunchKernel_ptsz) LAUNCH(cudaLaunchCooperativeKernel) LAUNCH(cudaLaunchCooperativeKernel_ptsz)
int cudaLaunchKernelExC(const Config*, const void*, void**);
int cudaLaunchKernelExC_ptsz(const Config*, const void*, void**);
int cudaGraphLaunch(void*, void*);
int cudaGraphLaunch_ptsz(void*, void*);
int cuGraphLaunch(void*, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuLaunchKernel_ptsz(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**);
int cuLaunchKernelEx(const DriverConfig*, void*, void**, void**);
int cuModuleGetFunction(void**, void*, const char*);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
int cuGetProcAddress(const char*, void**, int, uint64_t);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
int cudaConfigureCall(dim3, dim3, size_t, void*);
int cudaLaunch(const void*);
int cuLaunch(void*);
int cuLaunchGrid(void*, int, int);
int cuLaunchGridAsync(void*, int, int, void*);
int cudaLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned);
int cuLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned);
int clEnqueueNDRangeKernel(void*, void*, unsigned, const size_t*, const size_t*, const size_t*, unsigned, const void*, void*);
int clEnqueueTask(void*, void*, unsigned, const void*, void*);
int cuLibraryGetKernel(void**, void*, const char*);
int cuKernelGetFunction(void**, void*);
int cudaSetDevice(int);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaDeviceSynchronize(void);
int __cudaGetKernel(const void**, const void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);

static const char* form;
static long count, on_devices = 1;
typedef int Launch(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
static char stub[16];

static int only(const char* name) { return !strcmp(form, name); }
static int is(const char* name) { return only(name) || only("all"); }
static int one(void* stream) {
  dim3 g = {4, 1, 1}, b = {64, 1, 1};
  Config c = {g, b, 0, stream, 0, 0};
  DriverConfig d = {{4, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  int bad = 0;
  if (is("launch")) bad |= cudaLaunchKernel(stub, g, b, 0, 0, stream);
  if (is("ptsz")) bad |= cudaLaunchKernel_ptsz(stub, g, b, 0, 0, 0);
  if (is("nvcc13")) {
    const void* kernel;
    bad |= __cudaGetKernel(&kernel, stub);
    bad |= __cudaLaunchKernel(kernel, g, b, 0, 0, stream) | __cudaLaunchKernel_ptsz(kernel, g, b, 0, 0, 0);
  }
  if (is("cooperative")) bad |= cudaLaunchCooperativeKernel(stub, g, b, 0, 0, stream) | cudaLaunchCooperativeKernel_ptsz(stub, g, b, 0, 0, 0);
  if (is("ex")) bad |= cudaLaunchKernelExC(&c, stub, 0) | cudaLaunchKernelExC_ptsz(&c, stub, 0);
  if (is("graph")) bad |= cudaGraphLaunch((void*)64, stream) | cudaGraphLaunch_ptsz((void*)64, 0) | cuGraphLaunch((void*)64, stream);
  if (is("driver")) {
    void* f;
    Launch* asked = 0;
    int status;
    bad |= cuModuleGetFunction(&f, 0, "driver_kernel");
    bad |= cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0) | cuLaunchKernel_ptsz(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    bad |= cuLaunchKernelEx(&d, f, 0, 0) | cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, 0);
    bad |= cuGetProcAddress_v2("cuLaunchKernel", (void**)&asked, 12000, 0, &status);
    bad |= asked(f, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0);
  }
  if (only("asked")) {   /* every way in which the driver's functions are asked for */
    Launch* ways[5] = {0, 0, 0, 0, 0};
    int status;
    int (*again)(const char*, void**, int, uint64_t, int*) = 0;
    bad |= cuGetProcAddress("cuLaunchKernel", (void**)&ways[0], 11030, 0);
    bad |= cuGetProcAddress_v2("cuGetProcAddress", (void**)&again, 12000, 0, &status);
    bad |= again("cuLaunchKernel", (void**)&ways[1], 12000, 2, &status);
    bad |= cudaGetDriverEntryPoint("cuLaunchKernel", (void**)&ways[2], 0, &status);
    bad |= cudaGetDriverEntryPointByVersion("cuLaunchKernel", (void**)&ways[3], 12000, 2, &status);
    int (*old)(const char*, void**, int, uint64_t) = 0;
    bad |= cuGetProcAddress_v2("cuGetProcAddress", (void**)&old, 11030, 0, &status);
    bad |= old("cuLaunchKernel", (void**)&ways[4], 11030, 0);
    for (int i = 0; i < 5; ++i) bad |= ways[i](stub, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0);
  }
  if (only("library")) {
    void *kernel, *function;
    bad |= cuLibraryGetKernel(&kernel, 0, "library_kernel") | cuKernelGetFunction(&function, kernel);
    bad |= cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0) | cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0);
  }
  if (only("old")) {
    bad |= cudaConfigureCall(g, b, 0, stream) | cudaLaunch(stub);
    bad |= cuLaunch(stub) | cuLaunchGrid(stub, 2, 2) | cuLaunchGridAsync(stub, 2, 2, stream);
  }
  if (only("several")) bad |= cudaLaunchCooperativeKernelMultiDevice(0, 2, 0) | cuLaunchCooperativeKernelMultiDevice(0, 2, 0);
  if (only("opencl")) bad |= clEnqueueNDRangeKernel(stream, stub, 1, 0, 0, 0, 0, 0, 0) | clEnqueueTask(stream, stub, 0, 0, 0);
  if (is("capture")) {
    void* graph;
    cudaStreamBeginCapture(stream, 0);
    bad |= cudaLaunchKernel(stub, g, b, 0, 0, stream);
    cudaStreamEndCapture(stream, &graph);
    bad |= cudaGraphLaunch(graph, stream);
  }
  return bad;
}
static int by_time(const void* a, const void* b) { return *(const double*)a < *(const double*)b ? -1 : 1; }
static void* work(void* number) {
  void* stream = number == 0 ? 0 : (char*)0x1000 + (uintptr_t)number;
  if (on_devices > 1 && cudaSetDevice((int)((uintptr_t)number % 2)) != 0) exit(5);
  if (on_devices > 1) stream = 0;
  double* took = malloc((size_t)count * sizeof *took);
  for (long i = 0; i < count; ++i) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (one(stream)) exit(3);
    clock_gettime(CLOCK_MONOTONIC, &b);
    took[i] = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) * 1e-3;
  }
  qsort(took, (size_t)count, sizeof *took, by_time);
  if (number == 0 && count) printf("p50 %.3f us p99 %.3f us\n", took[count / 2], took[count * 99 / 100]);
  free(took);
  return 0;
}
static void on_signal(int s) { (void)s; }
int main(int argc, char** argv) {
  count = argc > 1 ? atol(argv[1]) : 1;
  form = argc > 2 ? argv[2] : "launch";
  long threads = argc > 3 ? atol(argv[3]) : 1;
  if (argc > 4) on_devices = atol(argv[4]);
  signal(SIGUSR1, on_signal);
  __cudaRegisterFunction(0, stub, 0, "test_kernel", 0, 0, 0, 0, 0, 0);
  pid_t child = 0;
  if (!strcmp(form, "fork")) {   /* a child launches too, and is waited for */
    form = "launch";
    one(0);
    child = fork();
  }
  pthread_t ids[64];
  for (long i = 1; i < threads; ++i) pthread_create(&ids[i], 0, work, (void*)i);
  work(0);
  for (long i = 1; i < threads; ++i) pthread_join(ids[i], 0);
  cudaDeviceSynchronize();
  if (child > 0) {
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) return 4;
  }
  puts("fine");
  fflush(stdout);
  return 0;
}
