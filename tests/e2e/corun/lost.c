/* The same of OpenCL. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TELL(call) printf("%s=%d\n", #call, (int)(call))
#define TELL_MADE(call) ((void)(call), printf("%s=%d\n", #call, (int)code))

static const char* source = "__kernel void add(volatile __global int* x, int n) { for (int i = 0; i < n; ++i) x[get_global_id(0)] += i; }";

int main(int argc, char** argv) {
  const int busy = argc > 1 && argv[1][0] == 'b';
  cl_platform_id platform;
  cl_device_id device;
  cl_int code, few = 4, many = 1500000;
  int host[256] = {0};
  const size_t one = 256, all = 96 * 256, warp = 32;
  clGetPlatformIDs(1, &platform, 0);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, 0);
  cl_context context = clCreateContext(0, 1, &device, 0, 0, &code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  cl_program program = clCreateProgramWithSource(context, 1, &source, 0, &code);
  if (clBuildProgram(program, 1, &device, "", 0, 0) != CL_SUCCESS) return 1;
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, all * sizeof(int), 0, &code);
  cl_event event;
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  clSetKernelArg(kernel, 1, sizeof few, &few);
  if (clEnqueueNDRangeKernel(queue, kernel, 1, 0, &all, &one, 0, 0, &event) != CL_SUCCESS || clFinish(queue) != CL_SUCCESS) return 2;
  clSetKernelArg(kernel, 1, sizeof many, &many);
  if (busy) clEnqueueNDRangeKernel(queue, kernel, 1, 0, &warp, &warp, 0, 0, &event);
  clSetKernelArg(kernel, 1, sizeof few, &few);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  while (!busy && access("go", F_OK) != 0) usleep(1000);

  TELL(clFinish(queue));
  TELL(clFlush(queue));
  TELL(clWaitForEvents(1, &event));
  TELL(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &all, &one, 0, 0, 0));
  TELL(clEnqueueTask(queue, kernel, 0, 0, 0));
  TELL(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof host, host, 0, 0, 0));
  TELL(clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, sizeof host, host, 0, 0, 0));
  TELL(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof host, host, 0, 0, 0));
  TELL(clEnqueueCopyBuffer(queue, memory, memory, 0, 2048, 64, 0, 0, 0));
  TELL(clEnqueueFillBuffer(queue, memory, &few, sizeof few, 0, 64, 0, 0, 0));
  TELL(clEnqueueMarkerWithWaitList(queue, 0, 0, 0));
  TELL(clEnqueueBarrierWithWaitList(queue, 0, 0, 0));
  TELL_MADE(clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 0, 64, 0, 0, 0, &code));
  TELL_MADE(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, 0, &code));
  TELL_MADE(clCreateCommandQueue(context, device, 0, &code));
  TELL_MADE(clCreateContext(0, 1, &device, 0, 0, &code));
  TELL(clBuildProgram(program, 1, &device, "", 0, 0) == CL_SUCCESS ? 0 : -1);
  TELL(clFinish(queue));
  return 0;
}
