// The functions of OpenCL 1.2 that are more than a refusal, and the loader's table of all.
#pragma once

#include <type_traits>

#include "hosts/opencl/headers.h"

// clang-format off
#define SIMTLAB_OPENCL_FUNCTIONS(X)                                                                         \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateSubDevices)       \
  X(clRetainDevice) X(clReleaseDevice) X(clCreateContext) X(clCreateContextFromType) X(clRetainContext)     \
  X(clReleaseContext) X(clGetContextInfo) X(clCreateCommandQueue) X(clCreateCommandQueueWithProperties)     \
  X(clSetCommandQueueProperty) X(clRetainCommandQueue) X(clReleaseCommandQueue) X(clGetCommandQueueInfo)    \
  X(clFlush) X(clFinish) X(clCreateBuffer) X(clCreateBufferWithProperties) X(clCreateSubBuffer)             \
  X(clRetainMemObject) X(clReleaseMemObject) X(clGetMemObjectInfo) X(clSetMemObjectDestructorCallback)      \
  X(clGetSupportedImageFormats) X(clCreateProgramWithSource) X(clCreateProgramWithBinary)                   \
  X(clCreateProgramWithBuiltInKernels) X(clRetainProgram) X(clReleaseProgram) X(clBuildProgram)             \
  X(clCompileProgram) X(clLinkProgram) X(clUnloadCompiler) X(clUnloadPlatformCompiler)                      \
  X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clCreateKernel) X(clCreateKernelsInProgram)                \
  X(clRetainKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelInfo) X(clGetKernelArgInfo)           \
  X(clGetKernelWorkGroupInfo) X(clCreateUserEvent) X(clSetUserEventStatus) X(clWaitForEvents)               \
  X(clGetEventInfo) X(clSetEventCallback) X(clRetainEvent) X(clReleaseEvent) X(clGetEventProfilingInfo)     \
  X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueReadBufferRect) X(clEnqueueWriteBufferRect)     \
  X(clEnqueueCopyBuffer) X(clEnqueueCopyBufferRect) X(clEnqueueFillBuffer) X(clEnqueueMapBuffer)            \
  X(clEnqueueUnmapMemObject) X(clEnqueueMigrateMemObjects) X(clEnqueueNDRangeKernel) X(clEnqueueTask)       \
  X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clEnqueueMarker) X(clEnqueueBarrier)     \
  X(clEnqueueWaitForEvents) X(clGetExtensionFunctionAddress) X(clGetExtensionFunctionAddressForPlatform)
// clang-format on

namespace simtlab::hosts::opencl {

namespace api {
#define SIMTLAB_DECLARE(name) std::remove_pointer_t<cl_api_##name> name;
SIMTLAB_OPENCL_FUNCTIONS(SIMTLAB_DECLARE)
#undef SIMTLAB_DECLARE
}  // namespace api

// Complete: what the device does not have answers with an error code.
const cl_icd_dispatch& dispatch_table();

}  // namespace simtlab::hosts::opencl
