/* Several threads, each with a queue of its own, that launch, wait and read at once; another opens the events that they wait for. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 6, ROUNDS = 20, N = 512 };
static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_event gates[THREADS];
static volatile int failures, callbacks;

static void CL_CALLBACK done(cl_event event, cl_int status, void *data) {
  (void)event;
  (void)data;
  if (status == CL_COMPLETE) __sync_fetch_and_add(&callbacks, 1);
}

static void *work(void *argument) {
  const int me = (int)(size_t)argument;
  cl_command_queue queue = clCreateCommandQueue(context, device, me % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, NULL);
  cl_kernel kernel = clCreateKernel(program, "add", NULL);
  int host[N] = {0};
  cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof host, host, NULL);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  clSetKernelArg(kernel, 1, sizeof me, &me);
  const size_t n = N;
  for (int round = 0; round < ROUNDS; round++) {
    cl_event event;
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 1, &gates[me], &event)) failures++;
    if (clSetEventCallback(event, CL_COMPLETE, done, NULL)) failures++;
    if (round % 3 == 0 && clWaitForEvents(1, &event)) failures++;
    clReleaseEvent(event);
  }
  if (clFinish(queue) || clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL)) failures++;
  for (int i = 0; i < N; i++)
    if (host[i] != me * ROUNDS) failures++;
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
  return NULL;
}

int main(void) {
  cl_platform_id platform;
  const char *source = "__kernel void add(__global int *a, int n) { a[get_global_id(0)] += n; }";
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 2;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL)) return 2;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) gates[i] = clCreateUserEvent(context, NULL);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  for (int i = 0; i < THREADS; i++)
    if (clSetUserEventStatus(gates[THREADS - 1 - i], CL_COMPLETE)) failures++;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (long i = 0; i < 2000000000l && callbacks < THREADS * ROUNDS; i++) __sync_synchronize();
  if (callbacks != THREADS * ROUNDS) failures++;
  if (failures == 0) puts("ok threads");
  return failures != 0;
}
