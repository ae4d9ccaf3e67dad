/* Calls that OpenCL 1.2 refuses, with the code that it has for each. The reference's answers differ here and there: this one is for
 * simtlab alone. Handles that never were any are made of readable memory, as the loader looks into them. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define IS(expression, expected)                                                                        \
  do {                                                                                                  \
    const cl_int got_ = (expression);                                                                   \
    if (got_ != (expected)) {                                                                           \
      printf("FAILED line %d: %s gave %d, not %s\n", __LINE__, #expression, got_, #expected);           \
      failures++;                                                                                       \
    }                                                                                                   \
  } while (0)
#define MAKES(call, expected) \
  do {                        \
    code = 12345;             \
    (void)(call);             \
    IS(code, expected);       \
  } while (0)

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  cl_uint n;
  char text[64];
  size_t size;
  IS(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
  IS(clGetPlatformInfo(platform, 0x1234, sizeof text, text, NULL), CL_INVALID_VALUE);
  IS(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 2, text, NULL), CL_INVALID_VALUE);
  IS(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, &size), CL_SUCCESS);
  IS(clGetDeviceIDs(platform, 0, 1, &device, NULL), CL_INVALID_DEVICE_TYPE);
  IS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), CL_DEVICE_NOT_FOUND);
  IS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 0, &device, NULL), CL_INVALID_VALUE);
  IS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, NULL, NULL), CL_INVALID_VALUE);
  IS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, &n), CL_SUCCESS);
  IS(clGetDeviceInfo(device, 0x1234, sizeof text, text, NULL), CL_INVALID_VALUE);
  IS(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, 4, text, NULL), CL_INVALID_VALUE);
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0};
  IS(clCreateSubDevices(device, equally, 0, NULL, &n), CL_INVALID_VALUE);

  const cl_context_properties bad_key[] = {0x9999, 1, 0}, twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  MAKES(clCreateContext(NULL, 0, &device, NULL, NULL, &code), CL_INVALID_VALUE);
  MAKES(clCreateContext(NULL, 1, &device, NULL, &code, &code), CL_INVALID_VALUE);
  MAKES(clCreateContext(bad_key, 1, &device, NULL, NULL, &code), CL_INVALID_PROPERTY);
  MAKES(clCreateContext(twice, 1, &device, NULL, NULL, &code), CL_INVALID_PROPERTY);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code), other = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  IS(code, CL_SUCCESS);
  MAKES(clCreateCommandQueue(context, device, 0x40, &code), CL_INVALID_VALUE);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  IS(code, CL_SUCCESS);
  /* Any handle in the place of another. */
  IS(clFinish((cl_command_queue)context), CL_INVALID_COMMAND_QUEUE);
  IS(clReleaseContext((cl_context)queue), CL_INVALID_CONTEXT);
  IS(clRetainMemObject((cl_mem)queue), CL_INVALID_MEM_OBJECT);
  IS(clReleaseProgram((cl_program)device), CL_INVALID_PROGRAM);
  IS(clReleaseKernel((cl_kernel)platform), CL_INVALID_KERNEL);
  IS(clWaitForEvents(1, (cl_event *)&queue), CL_INVALID_EVENT);
  IS(clGetDeviceInfo((cl_device_id)context, CL_DEVICE_NAME, sizeof text, text, NULL), CL_INVALID_DEVICE);
  MAKES(clCreateCommandQueue(context, (cl_device_id)context, 0, &code), CL_INVALID_DEVICE);

  MAKES(clCreateBuffer(context, 0, 0, NULL, &code), CL_INVALID_BUFFER_SIZE);
  MAKES(clCreateBuffer(context, 0, (size_t)1 << 60, NULL, &code), CL_INVALID_BUFFER_SIZE);
  MAKES(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &code), CL_INVALID_VALUE);
  MAKES(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 16, NULL, &code), CL_INVALID_HOST_PTR);
  MAKES(clCreateBuffer(context, 0, 16, text, &code), CL_INVALID_HOST_PTR);
  MAKES(clCreateBuffer(context, (cl_mem_flags)1 << 40, 16, NULL, &code), CL_INVALID_VALUE);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, &code), foreign = clCreateBuffer(other, 0, 64, NULL, NULL);
  IS(code, CL_SUCCESS);
  cl_buffer_region region = {100, 16};
  MAKES(clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code), CL_MISALIGNED_SUB_BUFFER_OFFSET);
  region.origin = 1024;
  MAKES(clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code), CL_INVALID_VALUE);
  region.origin = 256;
  region.size = 0;
  MAKES(clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code), CL_INVALID_BUFFER_SIZE);
  MAKES(clCreateSubBuffer(memory, 0, 1, &region, &code), CL_INVALID_VALUE);
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  MAKES(clCreateImage(context, 0, &format, &desc, NULL, &code), CL_INVALID_OPERATION);
  MAKES(clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code), CL_INVALID_OPERATION);

  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, 1020, 8, text, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 0, text, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 8, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, (size_t)-8, 16, text, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBuffer(queue, foreign, CL_TRUE, 0, 8, text, 0, NULL, NULL), CL_INVALID_CONTEXT);
  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 8, text, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
  IS(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 8, text, 1, (cl_event *)&queue, NULL), CL_INVALID_EVENT_WAIT_LIST);
  IS(clEnqueueCopyBuffer(queue, memory, memory, 0, 4, 8, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
  IS(clEnqueueFillBuffer(queue, memory, text, 3, 0, 12, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueFillBuffer(queue, memory, text, 4, 2, 12, 0, NULL, NULL), CL_INVALID_VALUE);
  const size_t zero[3] = {0, 0, 0}, box[3] = {64, 64, 1}, flat[3] = {64, 0, 1};
  IS(clEnqueueReadBufferRect(queue, memory, CL_TRUE, zero, zero, box, 0, 0, 0, 0, text, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBufferRect(queue, memory, CL_TRUE, zero, zero, flat, 0, 0, 0, 0, text, 0, NULL, NULL), CL_INVALID_VALUE);
  IS(clEnqueueReadBufferRect(queue, memory, CL_TRUE, zero, zero, box, 32, 0, 0, 0, text, 0, NULL, NULL), CL_INVALID_VALUE);
  MAKES(clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 1000, 100, 0, NULL, NULL, &code), CL_INVALID_VALUE);
  IS(clEnqueueUnmapMemObject(queue, memory, text, 0, NULL, NULL), CL_INVALID_VALUE);
  cl_mem write_only = clCreateBuffer(context, CL_MEM_HOST_WRITE_ONLY, 64, NULL, &code);
  IS(clEnqueueReadBuffer(queue, write_only, CL_TRUE, 0, 8, text, 0, NULL, NULL), CL_INVALID_OPERATION);
  IS(clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);

  const char *bad = "__kernel void k(__global int *a) {\n  a[0] = undeclared;\n}\n", *image = "__kernel void k(__read_only image2d_t a) {}\n",
             *good = "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(__global int *a, int b, __local int *c) { c[0] = b; a[0] = c[0]; }\n"
                     "__kernel void bounds(__global int *a) { a[get_global_id(0)] = 1; }\n";
  MAKES(clCreateProgramWithSource(context, 0, &good, NULL, &code), CL_INVALID_VALUE);
  cl_program program = clCreateProgramWithSource(context, 1, &bad, NULL, &code);
  MAKES(clCreateKernel(program, "k", &code), CL_INVALID_PROGRAM_EXECUTABLE);
  IS(clBuildProgram(program, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
  IS(clBuildProgram(program, 0, NULL, "-nonsense", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
  IS(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  char log[4096];
  IS(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL), CL_SUCCESS);
  IS(strstr(log, "program.cl:2:10: error") != NULL, 1);
  cl_build_status status;
  IS(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL), CL_SUCCESS);
  IS(status, CL_BUILD_ERROR);
  IS(clReleaseProgram(program), CL_SUCCESS);
  IS(clReleaseProgram(program), CL_INVALID_PROGRAM);
  program = clCreateProgramWithSource(context, 1, &image, NULL, &code);
  IS(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  clReleaseProgram(program);
  const unsigned char *noise = (const unsigned char *)"\177ELF";
  const size_t four = 4;
  cl_int binary_status;
  MAKES(clCreateProgramWithBinary(context, 1, &device, &four, &noise, &binary_status, &code), CL_INVALID_BINARY);
  IS(binary_status, CL_INVALID_BINARY);
  program = clCreateProgramWithSource(context, 1, &good, NULL, &code);
  IS(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
  MAKES(clCreateKernel(program, "missing", &code), CL_INVALID_KERNEL_NAME);
  MAKES(clCreateKernel(program, NULL, &code), CL_INVALID_VALUE);
  cl_kernel kernel = clCreateKernel(program, "k", &code), bounds = clCreateKernel(program, "bounds", NULL);
  IS(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
  const int value = 3;
  const size_t global = 4, local = 4, five = 5, none = 0, large = 2048;
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
  IS(clSetKernelArg(kernel, 3, sizeof value, &value), CL_INVALID_ARG_INDEX);
  IS(clSetKernelArg(kernel, 0, sizeof memory, &queue), CL_INVALID_MEM_OBJECT);
  IS(clSetKernelArg(kernel, 0, 4, &memory), CL_INVALID_ARG_SIZE);
  IS(clSetKernelArg(kernel, 1, 8, &value), CL_INVALID_ARG_SIZE);
  IS(clSetKernelArg(kernel, 1, 4, NULL), CL_INVALID_ARG_VALUE);
  IS(clSetKernelArg(kernel, 2, 4, &value), CL_INVALID_ARG_VALUE);
  IS(clSetKernelArg(kernel, 2, 0, NULL), CL_INVALID_ARG_SIZE);
  IS(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
  IS(clSetKernelArg(kernel, 1, 4, &value), CL_SUCCESS);
  IS(clSetKernelArg(kernel, 2, 1 << 28, NULL), CL_SUCCESS);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
  IS(clSetKernelArg(kernel, 2, 64, NULL), CL_SUCCESS);
  IS(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, NULL, &local, 0, NULL, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &none, &local, 0, NULL, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &five, &local, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &five, &five, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
  IS(clEnqueueNDRangeKernel(queue, bounds, 1, NULL, &large, &large, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
  IS(clSetKernelArg(bounds, 0, sizeof memory, &memory), CL_SUCCESS);
  IS(clEnqueueNDRangeKernel(queue, bounds, 1, NULL, &large, &large, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
  IS(clFinish(queue), CL_SUCCESS);

  cl_event event = clCreateUserEvent(context, &code);
  IS(clSetUserEventStatus(event, CL_RUNNING), CL_INVALID_VALUE);
  IS(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, text, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
  IS(clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
  IS(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_OPERATION);
  IS(clSetEventCallback(event, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
  IS(clReleaseEvent(event), CL_SUCCESS);
  IS(clReleaseEvent(event), CL_INVALID_EVENT);
  IS(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
  IS(clReleaseMemObject(memory), CL_SUCCESS);
  IS(clReleaseMemObject(memory), CL_INVALID_MEM_OBJECT);
  IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
  if (failures == 0) puts("ok misuse");
  return failures != 0;
}
