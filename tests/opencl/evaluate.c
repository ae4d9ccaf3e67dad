/* Runs kernel `f` of a source file over N work-items and prints what it wrote as numbers, one a line.
 *   ./evaluate FILE.cl N OUTPUTS      f(__global const float *in, __global float *out): out[j * N + i] for j < OUTPUTS */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  FILE *f = fopen(argv[1], "r");
  static char source[1 << 20];
  const char *text = source;
  if (!f || fread(source, 1, sizeof source - 1, f) == 0) return 2;
  fclose(f);
  const size_t n = strtoul(argv[2], NULL, 10), outputs = strtoul(argv[3], NULL, 10);
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 3;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL)) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    return 4;
  }
  float *in = malloc(n * 4 + 64), *out = calloc(n * outputs, 4);
  for (size_t i = 0; i < n + 16; i++) in[i] = (float)i * 0.173f - (float)n * 0.05f;
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * 4 + 64, in, NULL), b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * outputs * 4, out, NULL);
  cl_kernel kernel = clCreateKernel(program, "f", &code);
  if (code || clSetKernelArg(kernel, 0, sizeof a, &a) || clSetKernelArg(kernel, 1, sizeof b, &b)) return 5;
  const size_t local = 32;
  if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &local, 0, NULL, NULL) || clEnqueueReadBuffer(queue, b, CL_TRUE, 0, n * outputs * 4, out, 0, NULL, NULL)) return 6;
  for (size_t i = 0; i < n * outputs; i++) printf("%.9g\n", (double)out[i]);
  return 0;
}
