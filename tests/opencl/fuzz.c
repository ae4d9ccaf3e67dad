/* Random calls with random handles, sizes and flags, valid and not, from a seed: none may crash or hang, and what is released ends.
 *   ./fuzz SEED CALLS
 * Pointers to host memory are always of enough memory: that a program lies about its own memory is nothing that a library can see. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 48, BYTES = 1 << 20 };
static uint64_t state;
static void *slots[SLOTS];   /* handles of all kinds, also released ones */
static unsigned char host[2 * BYTES];
static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static long good, bad;
static cl_event gates[1 << 16];   /* events of the program: whoever waits on a queue must not wait for one */
static unsigned gate_count;

static uint64_t rnd(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static unsigned below(unsigned n) { return (unsigned)(rnd() % n); }
static int often(void) { return below(8) != 0; }
static void *any(void) { return slots[below(SLOTS)]; }
static void keep(void *handle) {
  if (handle) slots[below(SLOTS)] = handle;
}
static cl_command_queue a_queue(void) { return often() ? queue : any(); }
static cl_context a_context(void) { return often() ? context : any(); }
static size_t a_size(void) {
  static const size_t special[] = {0, 1, 4, 16, 256, 4096, BYTES, (size_t)-1, (size_t)1 << 40};
  return often() ? 4 * (1 + below(64)) : special[below(9)];
}
static size_t host_size(void) {
  const size_t n = a_size();
  return n > BYTES ? 64 : n;
}
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data) {
  (void)data;
  (void)status;
  clReleaseEvent(event);   /* perhaps one time too many */
}
static void open_gates(void) {
  while (gate_count > 0) clSetUserEventStatus(gates[--gate_count], CL_COMPLETE);
}
static void note(cl_int code) { code == CL_SUCCESS ? good++ : bad++; }

static void memory_call(unsigned which) {
  cl_int code = CL_SUCCESS;
  cl_event event = NULL, waits[2] = {any(), any()};
  const cl_uint count = below(4) == 0 ? below(3) : 0;
  const cl_event *list = count || below(32) == 0 ? waits : NULL;
  /* Waiting for an event that nobody sets would be a program's own dead end. */
  const cl_bool blocking = below(2);
  if (blocking) open_gates();
  cl_event *out = below(2) ? &event : NULL;
  size_t a[3] = {a_size(), below(4), below(3)}, b[3] = {below(64), below(4), below(3)}, r[3] = {1 + below(64), 1 + below(4), 1 + below(2)};
  switch (which) {
    case 0: keep(clCreateBuffer(a_context(), often() ? below(8) : rnd(), host_size(), below(2) ? host : NULL, &code)); break;
    case 1: {
      cl_buffer_region region = {256 * below(4), a_size()};
      keep(clCreateSubBuffer(any(), below(8), often() ? CL_BUFFER_CREATE_TYPE_REGION : 0, &region, &code));
      break;
    }
    case 2: code = clEnqueueReadBuffer(a_queue(), any(), blocking, below(64), host_size(), host, count, list, out); break;
    case 3: code = clEnqueueWriteBuffer(a_queue(), any(), blocking, below(64), host_size(), host, count, list, out); break;
    case 4: code = clEnqueueCopyBuffer(a_queue(), any(), any(), a_size(), a_size(), a_size(), count, list, out); break;
    case 5: code = clEnqueueFillBuffer(a_queue(), any(), host, 1u << below(9), a_size(), a_size(), count, list, out); break;
    case 6: code = clEnqueueReadBufferRect(a_queue(), any(), blocking, a, b, r, 0, 0, 0, 0, host, count, list, out); break;
    case 7: code = clEnqueueWriteBufferRect(a_queue(), any(), blocking, a, b, r, below(128), 0, below(128), 0, host, count, list, out); break;
    case 8: code = clEnqueueCopyBufferRect(a_queue(), any(), any(), a, b, r, below(128), below(512), below(128), below(512), count, list, out); break;
    case 9: {
      cl_mem m = any();
      void *p = clEnqueueMapBuffer(a_queue(), m, blocking, 1u << below(4), below(64), a_size(), count, list, out, &code);
      if (p && below(4)) clEnqueueUnmapMemObject(a_queue(), m, p, 0, NULL, NULL);
      break;
    }
    case 10: code = clEnqueueUnmapMemObject(a_queue(), any(), host, count, list, out); break;
    default: {
      cl_mem list_of = any();
      code = clEnqueueMigrateMemObjects(a_queue(), below(2), &list_of, below(4), count, list, out);
    }
  }
  if (event) keep(event);
  note(code);
}

static void kernel_call(unsigned which) {
  cl_int code = CL_SUCCESS;
  cl_event event = NULL;
  size_t global[3] = {1 + below(64), 1 + below(8), 1 + below(4)}, local[3] = {1 + below(8), 1 + below(2), 1}, offset[3] = {below(4), 0, 0};
  void *memory = any();
  switch (which) {
    case 0: keep(clCreateKernel(often() ? program : any(), below(2) ? "safe" : "other", &code)); break;
    case 1: code = clSetKernelArg(any(), below(4), below(2) ? 8 : a_size() % 512, below(3) ? (void *)&memory : NULL); break;
    case 2: {
      cl_kernel k = any();
      int n = 64;
      if (often()) {
        clSetKernelArg(k, 0, sizeof memory, &memory);
        clSetKernelArg(k, 1, sizeof n, &n);
        clSetKernelArg(k, 2, 64, NULL);
      }
      code = clEnqueueNDRangeKernel(a_queue(), k, below(8) ? 1 : below(5), below(16) ? NULL : offset, often() ? global : NULL, below(2) ? local : NULL, 0, NULL, below(2) ? &event : NULL);
      break;
    }
    case 3: code = clEnqueueTask(a_queue(), any(), 0, NULL, &event); break;
    case 4: keep(clCreateProgramWithBinary(a_context(), 1, &device, &global[0], (const unsigned char *[]){host}, NULL, &code)); break;
    default: code = clBuildProgram(any(), 0, NULL, below(2) ? "-D N=1" : "-nonsense", NULL, NULL);
  }
  if (event) keep(event);
  note(code);
}

static void other_call(unsigned which) {
  cl_int code = CL_SUCCESS;
  size_t size;
  void *h = any();
  const cl_uint what = 0x1000 + below(0x300);
  switch (which) {
    case 0: code = clRetainMemObject(h); break;
    case 1: code = clReleaseMemObject(h); break;
    case 2: code = clReleaseKernel(h); break;
    case 3: code = clReleaseEvent(h); break;
    case 4: code = clRetainEvent(h); break;
    case 5: code = clGetMemObjectInfo(h, what, host_size(), host, &size); break;
    case 6: code = clGetEventInfo(h, what, host_size(), host, &size); break;
    case 7: code = clGetKernelInfo(h, what, host_size(), host, &size); break;
    case 8: code = clGetKernelWorkGroupInfo(h, device, what, host_size(), host, &size); break;
    case 9: code = clGetDeviceInfo(often() ? device : h, what, host_size(), host, &size); break;
    case 10: {
      cl_event e = clCreateUserEvent(a_context(), &code);
      if (e) {
        if (gate_count == sizeof gates / sizeof gates[0]) open_gates();
        clRetainEvent(e);
        gates[gate_count++] = e;
        keep(e);
      }
      break;
    }
    case 11: code = clSetUserEventStatus(h, below(3) ? CL_COMPLETE : -(int)below(70)); break;
    case 12: code = clFlush(a_queue()); break;
    case 13: {
      cl_event e = NULL;
      code = clEnqueueMarkerWithWaitList(a_queue(), 0, NULL, &e);
      keep(e);
      break;
    }
    case 14: code = clEnqueueBarrierWithWaitList(a_queue(), 0, NULL, NULL); break;
    case 15: code = clGetEventProfilingInfo(h, what, host_size(), host, &size); break;
    case 16: code = clGetKernelArgInfo(h, below(4), what, host_size(), host, &size); break;
    case 17: code = clRetainKernel(h); break;
    case 18: code = clGetContextInfo(often() ? context : h, what, host_size(), host, &size); break;
    case 19: code = clSetEventCallback(h, (int)below(4), below(8) ? on_event : NULL, NULL); break;
    default: code = clGetProgramBuildInfo(below(2) ? program : h, device, what, host_size(), host, &size);
  }
  note(code);
}

int main(int argc, char **argv) {
  state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 0x9e3779b97f4a7c15ull + 1;
  const long calls = argc > 2 ? atol(argv[2]) : 1000;
  static const char *source =
      "__kernel void safe(__global int *a, int n, __local int *t) { int i = get_global_id(0); t[get_local_id(0) % 16] = i; barrier(CLK_LOCAL_MEM_FENCE); if (a != 0 && n < 0) a[i % n] = t[0]; }\n"
      "__kernel void other(__global int *a) { if (get_global_id(0) > 1000000000) a[0] = 1; }\n";
  clGetPlatformIDs(1, &platform, NULL);
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 2;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, argc > 1 && atoi(argv[1]) % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : CL_QUEUE_PROFILING_ENABLE, NULL);
  program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL) != CL_SUCCESS) return 2;
  for (int i = 0; i < SLOTS; i++) slots[i] = i % 3 == 0 ? (void *)clCreateBuffer(context, 0, 4096, NULL, NULL) : i % 3 == 1 ? (void *)context : (void *)clCreateKernel(program, "safe", NULL);
  for (long i = 0; i < calls; i++) {
    const unsigned kind = below(10);
    if (kind < 4)
      memory_call(below(12));
    else if (kind < 6)
      kernel_call(below(40) == 0 ? 4 + below(2) : below(4));
    else
      other_call(below(21));
  }
  open_gates();
  if (clFinish(queue) != CL_SUCCESS) return 1;
  printf("ok fuzz: %ld calls succeeded, %ld were refused\n", good, bad);
  return 0;
}
