/* What programs do with OpenCL 1.2, with their results checked. Prints "ok NAME" or "FAILED ..." a line; ends with 1 if anything failed. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

#define OK(call)                                                                \
  do {                                                                          \
    cl_int code_ = (call);                                                      \
    if (code_ != CL_SUCCESS) {                                                  \
      printf("FAILED line %d: %s gave %d\n", __LINE__, #call, code_);           \
      failures++;                                                               \
    }                                                                           \
  } while (0)
#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("FAILED line %d: %s\n", __LINE__, #condition);   \
      failures++;                                             \
    }                                                         \
  } while (0)

static cl_program build(const char *source, const char *options) {
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  OK(code);
  code = clBuildProgram(program, 1, &device, options, NULL, NULL);
  if (code != CL_SUCCESS) {
    char log[10000];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    printf("FAILED build: %d\n%s\n", code, log);
    failures++;
  }
  return program;
}

static cl_kernel kernel_of(cl_program program, const char *name) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  OK(code);
  return kernel;
}

static cl_mem ints(int n, const int *values) {
  cl_int code;
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | (values ? CL_MEM_COPY_HOST_PTR : 0), sizeof(int) * n, (void *)values, &code);
  OK(code);
  return memory;
}

static void arguments(void) {
  typedef struct {
    float a;
    int b;
    double c;
  } S;
  cl_program p = build(
      "typedef struct { float a; int b; double c; } S;\n"
      "__kernel void k(__global float *out, float4 v, float3 w, S s, char c, __local float *x, __local double *y, __constant float *t) {\n"
      "  int i = get_local_id(0); x[i] = i; y[i] = 100 + i; barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  int j = get_local_size(0) - 1 - i;\n"
      "  out[get_global_id(0)] = v.x + v.w + w.z + s.a + s.b + s.c + c + x[j] + y[j] + t[get_group_id(0)]; }", "");
  cl_kernel k = kernel_of(p, "k");
  const float table[2] = {1000, 2000};
  cl_float4 v = {{1, 0, 0, 2}};
  cl_float3 w = {{0, 0, 3, 0}};
  S s = {4, 5, 6};
  cl_char c = -7;
  cl_int code;
  cl_mem out = ints(8, NULL), t = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof table, (void *)table, &code);
  OK(code);
  OK(clSetKernelArg(k, 0, sizeof out, &out));
  OK(clSetKernelArg(k, 1, sizeof v, &v));
  OK(clSetKernelArg(k, 2, sizeof w, &w));
  OK(clSetKernelArg(k, 3, sizeof s, &s));
  OK(clSetKernelArg(k, 4, sizeof c, &c));
  OK(clSetKernelArg(k, 5, 4 * sizeof(float), NULL));
  OK(clSetKernelArg(k, 6, 4 * sizeof(double), NULL));
  OK(clSetKernelArg(k, 7, sizeof t, &t));
  const size_t global = 8, local = 4;
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
  float got[8];
  OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  for (int i = 0; i < 8; i++) CHECK(got[i] == 1 + 2 + 3 + 4 + 5 + 6 - 7 + 2 * (3 - i % 4) + 100 + (i < 4 ? 1000 : 2000));
  cl_ulong bytes = 0;
  OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
  CHECK(bytes >= 48);
  clReleaseMemObject(out);
  clReleaseMemObject(t);
  clReleaseKernel(k);
  clReleaseProgram(p);
}

static void offsets(void) {
  cl_program p = build("__kernel void k(__global int *out) { out[get_global_id(0) - get_global_offset(0)] = get_global_id(0) * 1000 + get_global_id(1) * 10 + get_work_dim(); }", NULL);
  cl_kernel k = kernel_of(p, "k");
  cl_mem out = ints(8, NULL);
  OK(clSetKernelArg(k, 0, sizeof out, &out));
  const size_t global[2] = {8, 1}, offset[2] = {5, 3};
  int got[8];
  OK(clEnqueueNDRangeKernel(queue, k, 2, offset, global, NULL, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  for (int i = 0; i < 8; i++) CHECK(got[i] == (5 + i) * 1000 + 30 + 2);
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, global, NULL, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  for (int i = 0; i < 8; i++) CHECK(got[i] == i * 1000 + 1);
  clReleaseMemObject(out);
  clReleaseKernel(k);
  clReleaseProgram(p);
}

static void copies(void) {
  int host[64], got[64];
  for (int i = 0; i < 64; i++) host[i] = i;
  cl_mem a = ints(64, host), b = ints(64, NULL);
  const int pattern[2] = {7, 9};
  OK(clEnqueueFillBuffer(queue, b, pattern, sizeof pattern, 0, sizeof host, 0, NULL, NULL));
  OK(clEnqueueCopyBuffer(queue, a, b, 4, 8, 12, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  CHECK(got[0] == 7 && got[1] == 9 && got[2] == 1 && got[3] == 2 && got[4] == 3 && got[5] == 9 && got[63] == 9);
  /* A 3 x 2 rectangle of ints at (1, 2) of an 8 x 8 array goes to (4, 5). */
  const size_t from[3] = {4, 2, 0}, to[3] = {16, 5, 0}, region[3] = {12, 2, 1}, zero[3] = {0, 0, 0};
  OK(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 32, 0, 32, 0, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < 3; x++) CHECK(got[(5 + y) * 8 + 4 + x] == (2 + y) * 8 + 1 + x);
  int small[6];
  OK(clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, region, 32, 0, 0, 0, small, 0, NULL, NULL));
  CHECK(small[0] == 17 && small[2] == 19 && small[3] == 25 && small[5] == 27);
  for (int i = 0; i < 6; i++) small[i] = -i;
  OK(clEnqueueWriteBufferRect(queue, a, CL_FALSE, to, zero, region, 32, 0, 0, 0, small, 0, NULL, NULL));
  OK(clFinish(queue));
  OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  CHECK(got[44] == 0 && got[46] == -2 && got[52] == -3 && got[54] == -5 && got[47] == 47);
  /* Sub-buffers are windows. */
  cl_int code;
  cl_mem large = clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, &code);
  const cl_buffer_region window = {512, 256};
  cl_mem sub = clCreateSubBuffer(large, 0, CL_BUFFER_CREATE_TYPE_REGION, &window, &code);
  OK(code);
  OK(clEnqueueWriteBuffer(queue, sub, CL_TRUE, 0, 256, host, 0, NULL, NULL));
  OK(clReleaseMemObject(large) /* the window keeps it */);
  cl_mem parent = NULL;
  OK(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
  CHECK(parent == large);
  OK(clEnqueueReadBuffer(queue, parent, CL_TRUE, 512 + 4, 4, got, 0, NULL, NULL));
  CHECK(got[0] == 1);
  OK(clReleaseMemObject(sub));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
}

static void maps(void) {
  static int host[256];
  cl_int code;
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; i < 256; i++) host[i] = i;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | (kind ? CL_MEM_USE_HOST_PTR : CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR), sizeof host, host, &code);
    OK(code);
    int *p = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 16, 64, 0, NULL, NULL, &code);
    OK(code);
    CHECK(p[0] == 4 && (!kind || p == host + 4));
    p[1] = 1234;
    cl_uint count = 0;
    OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    CHECK(count == 1);
    OK(clEnqueueUnmapMemObject(queue, m, p, 0, NULL, NULL));
    int got[2];
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 16, 8, got, 0, NULL, NULL));
    CHECK(got[0] == 4 && got[1] == 1234);
    clReleaseMemObject(m);
  }
}

static void programs(void) {
  cl_program p = build("__kernel void one(__global int *o) { *o = N; } __kernel __attribute__((reqd_work_group_size(8, 4, 2))) void two(__global int *o) {}", "-D N=5 -cl-fast-relaxed-math -cl-kernel-arg-info");
  size_t n = 0;
  OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof n, &n, NULL));
  CHECK(n == 2);
  char names[100];
  OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
  CHECK(strcmp(names, "one;two") == 0);
  cl_kernel kernels[2];
  OK(clCreateKernelsInProgram(p, 2, kernels, NULL));
  size_t shape[3] = {0, 0, 0};
  OK(clGetKernelWorkGroupInfo(kernels[1], device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof shape, shape, NULL));
  CHECK(shape[0] == 8 && shape[1] == 4 && shape[2] == 2);
  OK(clGetKernelArgInfo(kernels[0], 0, CL_KERNEL_ARG_TYPE_NAME, sizeof names, names, NULL));
  CHECK(strcmp(names, "int*") == 0);
  OK(clGetKernelArgInfo(kernels[0], 0, CL_KERNEL_ARG_NAME, sizeof names, names, NULL));
  CHECK(strcmp(names, "o") == 0);
  cl_kernel_arg_address_qualifier space = 0;
  OK(clGetKernelArgInfo(kernels[0], 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  CHECK(space == CL_KERNEL_ARG_ADDRESS_GLOBAL);
  OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL));
  unsigned char *binary = malloc(n);
  OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  cl_int status, code;
  cl_program q = clCreateProgramWithBinary(context, 1, &device, &n, (const unsigned char **)&binary, &status, &code);
  OK(code);
  OK(status);
  OK(clBuildProgram(q, 0, NULL, NULL, NULL, NULL));
  cl_kernel k = kernel_of(q, "one");
  cl_mem out = ints(1, NULL);
  OK(clSetKernelArg(k, 0, sizeof out, &out));
  OK(clEnqueueTask(queue, k, 0, NULL, NULL));
  int got = 0;
  OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &got, 0, NULL, NULL));
  CHECK(got == 5);
  /* Compiled one by one with a header, then linked. */
  const char *texts[3] = {"#include \"my/header.h\"\nint helper(int x) { return x + OFFSET; }", "#include \"my/header.h\"\nint helper(int x);\n__kernel void k(__global int *o) { *o = helper(1); }", "#define OFFSET 41\n"};
  cl_program part[3];
  for (int i = 0; i < 3; i++) part[i] = clCreateProgramWithSource(context, 1, &texts[i], NULL, &code);
  const char *header = "my/header.h";
  for (int i = 0; i < 2; i++) OK(clCompileProgram(part[i], 1, &device, "", 1, &part[2], &header, NULL, NULL));
  cl_program linked = clLinkProgram(context, 1, &device, "", 2, part, NULL, NULL, &code);
  OK(code);
  cl_kernel l = kernel_of(linked, "k");
  OK(clSetKernelArg(l, 0, sizeof out, &out));
  OK(clEnqueueTask(queue, l, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &got, 0, NULL, NULL));
  CHECK(got == 42);
  clReleaseKernel(l);
  clReleaseProgram(linked);
  for (int i = 0; i < 3; i++) clReleaseProgram(part[i]);
  free(binary);
  clReleaseMemObject(out);
  clReleaseKernel(k);
  clReleaseProgram(q);
  for (int i = 0; i < 2; i++) clReleaseKernel(kernels[i]);
  clReleaseProgram(p);
}

static volatile int called;
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data) {
  (void)event;
  (void)data;
  if (status == CL_COMPLETE) __sync_fetch_and_add(&called, 1);
}

static void events(void) {
  cl_int code;
  cl_command_queue timed = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  OK(code);
  cl_program p = build("__kernel void add(__global int *o, int n) { o[get_global_id(0)] += n; }", "");
  cl_kernel k = kernel_of(p, "add");
  int host[1024] = {0}, one = 1;
  cl_mem m = ints(1024, host);
  OK(clSetKernelArg(k, 0, sizeof m, &m));
  OK(clSetKernelArg(k, 1, sizeof one, &one));
  const size_t global = 1024;
  cl_event gate = clCreateUserEvent(context, &code), first, second, marker;
  OK(code);
  OK(clEnqueueNDRangeKernel(timed, k, 1, NULL, &global, NULL, 1, &gate, &first));
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 1, &first, &second));
  OK(clSetEventCallback(second, CL_COMPLETE, on_event, NULL));
  OK(clEnqueueMarkerWithWaitList(timed, 0, NULL, &marker));
  cl_int status = -1;
  OK(clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  CHECK(status == CL_QUEUED);
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clWaitForEvents(1, &second));
  OK(clWaitForEvents(1, &marker));
  OK(clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  CHECK(status == CL_COMPLETE);
  cl_ulong t[4];
  for (int i = 0; i < 4; i++) OK(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_QUEUED + i, sizeof t[i], &t[i], NULL));
  CHECK(t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3]);
  if (getenv("EXPECT_TIMES")) CHECK(t[2] > t[1] && t[3] > t[2]);
  int got[1024];
  OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  CHECK(got[0] == 2 && got[1023] == 2);
  for (int i = 0; i < 1000000000 && !called; i++) __sync_synchronize();
  CHECK(called == 1);
  /* A wait that cannot come true ends the command. */
  cl_event broken = clCreateUserEvent(context, &code), never;
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 1, &broken, &never));
  OK(clSetUserEventStatus(broken, -5));
  CHECK(clWaitForEvents(1, &never) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  OK(clFinish(queue));
  cl_event all[6] = {gate, first, second, marker, broken, never};
  for (int i = 0; i < 6; i++) OK(clReleaseEvent(all[i]));
  clReleaseMemObject(m);
  clReleaseKernel(k);
  clReleaseProgram(p);
  OK(clReleaseCommandQueue(timed));
}

static void native_and_printf(void) {
  cl_program p = build("__kernel void k(__global float *o) { int i = get_global_id(0); float x = o[i]; o[i] = native_sin(x) * native_sin(x) + native_cos(x) * native_cos(x) + native_sqrt(x * x) + native_log2(native_exp2(x)); if (i == 0) printf(\"%s %d\\n\", \"printed\", 42); }", "");
  cl_kernel k = kernel_of(p, "k");
  float host[16];
  for (int i = 0; i < 16; i++) host[i] = 0.1f * (i + 1);
  cl_int code;
  cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof host, host, &code);
  OK(clSetKernelArg(k, 0, sizeof m, &m));
  const size_t global = 16;
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
  float got[16];
  OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  for (int i = 0; i < 16; i++) CHECK(got[i] - (1 + 2 * host[i]) < 1e-4f && got[i] - (1 + 2 * host[i]) > -1e-4f);
  clReleaseMemObject(m);
  clReleaseKernel(k);
  clReleaseProgram(p);
}

int main(void) {
  cl_uint n = 0;
  OK(clGetPlatformIDs(1, &platform, &n));
  if (n == 0) return 2;
  OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU, 1, &device, NULL));
  cl_int code;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  context = clCreateContext(properties, 1, &device, NULL, NULL, &code);
  OK(code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  OK(code);
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {{"arguments", arguments}, {"offsets", offsets}, {"copies", copies}, {"maps", maps}, {"programs", programs}, {"events", events}, {"native_and_printf", native_and_printf}};
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    const int before = failures;
    tests[i].run();
    if (failures == before) printf("ok %s\n", tests[i].name);
    fflush(stdout);
  }
  OK(clReleaseCommandQueue(queue));
  OK(clReleaseContext(context));
  return failures != 0;
}
