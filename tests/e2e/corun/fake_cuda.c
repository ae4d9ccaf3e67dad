/* Stands in for libcudart and libcuda where there is no GPU: launches take FAKE_NS nanoseconds of real time, one after another in a stream, and
   each writes its begin and end into the file FAKE_TRACE, so that a test sees what ran at the same time. There are two devices; what ran on the second
   one has @1 behind its form. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { dim3 grid, block; size_t shared; void* stream; void* attributes; unsigned count; } Config;
typedef struct { unsigned grid[3], block[3], shared; void* stream; void* attributes; unsigned count; } DriverConfig;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum { devices = 2 };
static uint64_t ends[devices][256];
static __thread int device;
static int trace = -1;
static uint64_t length;
static __thread int capturing;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static void begin(void) {
  const char* name = getenv("FAKE_TRACE");
  const char* ns = getenv("FAKE_NS");
  length = ns ? strtoull(ns, 0, 10) : 100000;
  if (name && trace < 0) trace = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}
static int run(void* stream, const char* form) {
  if (!stream && strstr(form, "_ptsz")) stream = (void*)2;   /* the thread's own, as events behind it name it; here all threads have one */
  if (capturing) return 0;
  pthread_mutex_lock(&lock);
  begin();
  uint64_t* end = &ends[device][((uintptr_t)stream) % 256];
  uint64_t from = now();
  if (*end > from) from = *end;
  *end = from + length;
  if (trace >= 0) {
    char line[128];
    int n = snprintf(line, sizeof line, "%d %llu %llu %s%s\n", getpid(), (unsigned long long)from, (unsigned long long)*end, form, device ? "@1" : "");
    if (write(trace, line, (size_t)n) != n) abort();
  }
  uint64_t full = *end > 8 * length ? *end - 8 * length : 0;   /* the queue of a stream takes so many */
  pthread_mutex_unlock(&lock);
  while (now() < full) usleep(20);
  return getenv("FAKE_FAIL") ? 701 : 0;
}

#define LAUNCH(name) int name(const void* f, dim3 g, dim3 b, void** a, size_t s, void* stream) { return run(stream, #name); }
LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz)
LAUNCH(__cudaLaunchKernel)
LAUNCH(__cudaLaunchKernel_ptsz)
LAUNCH(cudaLaunchCooperativeKernel)
LAUNCH(cudaLaunchCooperativeKernel_ptsz)
int cudaLaunchKernelExC(const Config* c, const void* f, void** a) { return run(c->stream, "cudaLaunchKernelExC"); }
int cudaLaunchKernelExC_ptsz(const Config* c, const void* f, void** a) { return run(c->stream, "cudaLaunchKernelExC_ptsz"); }
#define GRAPH(name) int name(void* g, void* stream) { return run(stream, #name); }
GRAPH(cudaGraphLaunch)
GRAPH(cudaGraphLaunch_ptsz)
GRAPH(cuGraphLaunch)
GRAPH(cuGraphLaunch_ptsz)
#define DRIVER(name) int name(void* f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned s, void* stream, void** p, void** x) { return run(stream, #name); }
DRIVER(cuLaunchKernel)
DRIVER(cuLaunchKernel_ptsz)
#define COOPERATIVE(name) int name(void* f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned s, void* stream, void** p) { return run(stream, #name); }
COOPERATIVE(cuLaunchCooperativeKernel)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz)
int cuLaunchKernelEx(const DriverConfig* c, void* f, void** p, void** x) { return run(c->stream, "cuLaunchKernelEx"); }
int cuLaunchKernelEx_ptsz(const DriverConfig* c, void* f, void** p, void** x) { return run(c->stream, "cuLaunchKernelEx_ptsz"); }

/* Of 32 registers and 256 bytes, whatever it is. */
int cudaFuncGetAttributes(void* attributes, const void* f) { memset(attributes, 0, 64); *(size_t*)attributes = 256; ((int*)attributes)[7] = 32; return 0; }
int cuFuncGetAttribute(int* value, int attribute, void* f) { *value = attribute == 4 ? 32 : attribute == 1 ? 256 : 0; return 0; }

static int make(void** event) { *event = calloc(1, sizeof(uint64_t)); return 0; }
static int note(void* event, void* stream) {
  pthread_mutex_lock(&lock);
  uint64_t end = ends[device][((uintptr_t)stream) % 256], t = now();
  pthread_mutex_unlock(&lock);
  __atomic_store_n((uint64_t*)event, end > t ? end : t, __ATOMIC_SEQ_CST);
  return 0;
}
static int ask(void* event) { return now() >= __atomic_load_n((uint64_t*)event, __ATOMIC_SEQ_CST) ? 0 : 600; }
static int elapsed(float* ms, void* a, void* b) { *ms = (float)(*(uint64_t*)b - *(uint64_t*)a) * 1e-6f; return 0; }
static int status_of(int* status) { *status = capturing; return 0; }
int cudaEventCreateWithFlags(void** e, unsigned f) { return make(e); }
int cuEventCreate(void** e, unsigned f) { return make(e); }
int cudaEventRecord(void* e, void* s) { return note(e, s); }
int cuEventRecord(void* e, void* s) { return note(e, s); }
int cudaEventQuery(void* e) { return ask(e); }
int cuEventQuery(void* e) { return ask(e); }
int cudaEventElapsedTime(float* m, void* a, void* b) { return elapsed(m, a, b); }
int cuEventElapsedTime(float* m, void* a, void* b) { return elapsed(m, a, b); }
int cudaStreamIsCapturing(void* s, int* status) { return status_of(status); }
int cuStreamIsCapturing(void* s, int* status) { return status_of(status); }
int cudaStreamBeginCapture(void* s, int mode) { capturing = 1; return 0; }
int cudaStreamEndCapture(void* s, void** graph) { capturing = 0; *graph = (void*)64; return 0; }
int cudaGetDevice(int* d) { *d = device; return 0; }
int cudaSetDevice(int d) { if (d < 0 || d >= devices) return 101; device = d; return 0; }
int cuCtxGetDevice(int* d) { *d = device; return 0; }
static int bus(char* id, int bytes, int d) { snprintf(id, (size_t)bytes, "0000:%02x:00.0", 0x3b + d); return 0; }
int cudaDeviceGetPCIBusId(char* id, int bytes, int d) { return bus(id, bytes, d); }
int cuDeviceGetPCIBusId(char* id, int bytes, int d) { return bus(id, bytes, d); }
int cudaGetLastError(void) { return 0; }
int cuCtxGetCurrent(void** c) { *c = (char*)128 + device; return 0; }
int cuCtxSetCurrent(void* c) { device = (int)((uintptr_t)c - 128); return 0; }
int cuFuncGetName(const char** name, void* f) { *name = "told_kernel"; return 0; }
int cuLibraryGetKernel(void** f, void* library, const char* name) { *f = strdup(name); return 0; }
int cuKernelGetFunction(void** f, void* kernel) { *f = (char*)kernel + 1; return 0; }
int cuModuleGetFunction(void** f, void* m, const char* name) { *f = strdup(name); return 0; }
int __cudaGetKernel(const void** k, const void* host) { *k = (const char*)host + 1; return 0; }
void __cudaRegisterFunction(void** i, const char* host, char* d, const char* name, int l, void* a, void* b, void* c, void* e, int* s) {}
int cudaDeviceSynchronize(void) {
  uint64_t last = 0;
  pthread_mutex_lock(&lock);
  for (int d = 0; d < devices; ++d) for (int i = 0; i < 256; ++i) if (ends[d][i] > last) last = ends[d][i];
  pthread_mutex_unlock(&lock);
  while (now() < last) usleep(20);
  return 0;
}
/* Of older versions, and what only some programs call. */
static __thread void* configured;
int cudaConfigureCall(dim3 g, dim3 b, size_t s, void* stream) { configured = stream; return 0; }
int cudaLaunch(const void* f) { return run(configured, "cudaLaunch"); }
int cudaLaunch_ptsz(const void* f) { return run(configured, "cudaLaunch_ptsz"); }
int cuLaunch(void* f) { return run(0, "cuLaunch"); }
int cuLaunchGrid(void* f, int w, int h) { return run(0, "cuLaunchGrid"); }
int cuLaunchGridAsync(void* f, int w, int h, void* stream) { return run(stream, "cuLaunchGridAsync"); }
int cudaLaunchCooperativeKernelMultiDevice(void* list, unsigned n, unsigned flags) { for (unsigned i = 0; i < n; ++i) run(0, "cudaLaunchCooperativeKernelMultiDevice"); return 0; }
int cuLaunchCooperativeKernelMultiDevice(void* list, unsigned n, unsigned flags) { for (unsigned i = 0; i < n; ++i) run(0, "cuLaunchCooperativeKernelMultiDevice"); return 0; }
int clEnqueueNDRangeKernel(void* q, void* k, unsigned d, const size_t* o, const size_t* g, const size_t* l, unsigned n, const void* w, void* e) { return run(q, "clEnqueueNDRangeKernel"); }
int clEnqueueTask(void* q, void* k, unsigned n, const void* w, void* e) { return run(q, "clEnqueueTask"); }

int cuGetProcAddress_v2(const char* name, void** f, int version, uint64_t flags, int* status);
int cuGetProcAddress(const char* name, void** f, int version, uint64_t flags) { return cuGetProcAddress_v2(name, f, version, flags, 0); }
int cuGetProcAddress_v2(const char* name, void** f, int version, uint64_t flags, int* status) {
  static const struct { const char* name; void *legacy, *per_thread; } known[] = {
      {"cuLaunchKernel", (void*)cuLaunchKernel, (void*)cuLaunchKernel_ptsz}, {"cuLaunchKernelEx", (void*)cuLaunchKernelEx, (void*)cuLaunchKernelEx_ptsz},
      {"cuLaunchCooperativeKernel", (void*)cuLaunchCooperativeKernel, (void*)cuLaunchCooperativeKernel_ptsz}, {"cuGraphLaunch", (void*)cuGraphLaunch, (void*)cuGraphLaunch_ptsz},
      {"cuModuleGetFunction", (void*)cuModuleGetFunction, (void*)cuModuleGetFunction}, {"cuCtxGetCurrent", (void*)cuCtxGetCurrent, (void*)cuCtxGetCurrent}};
  if (!strcmp(name, "cuGetProcAddress")) return *f = version >= 12000 ? (void*)cuGetProcAddress_v2 : (void*)cuGetProcAddress, 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strcmp(name, known[i].name)) return *f = flags & 2 ? known[i].per_thread : known[i].legacy, 0;
  return 500;
}
int cudaGetDriverEntryPoint(const char* name, void** f, unsigned long long flags, int* status) { return cuGetProcAddress_v2(name, f, 12000, flags, status); }
int cudaGetDriverEntryPointByVersion(const char* name, void** f, unsigned version, unsigned long long flags, int* status) { return cuGetProcAddress_v2(name, f, (int)version, flags, status); }
