#include <cstring>

#include "hosts/opencl/api.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl {
namespace {

// A function of that type that refuses: images, samplers, pipes, shared virtual memory, other interfaces.
template <typename F>
struct Refusal;
template <typename R, typename... A>
struct Refusal<R(CL_API_CALL*)(A...)> {
  static R CL_API_CALL call(A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return CL_INVALID_OPERATION;
    } else if constexpr (std::is_pointer_v<R>) {
      (note(arguments), ...);
      return nullptr;
    }
  }
  // errcode_ret, where there is one, is the only argument of its type.
  static void note(cl_int* code) {
    if (code != nullptr) *code = CL_INVALID_OPERATION;
  }
  template <typename T>
  static void note(const T&) {}
};

cl_int CL_API_CALL refuse_untyped() { return CL_INVALID_OPERATION; }

template <typename F>
void fill_refusal(F& entry) {
  if (entry != nullptr) return;
  if constexpr (std::is_same_v<F, void*>)
    entry = reinterpret_cast<void*>(&refuse_untyped);
  else
    entry = Refusal<F>::call;
}

cl_icd_dispatch make_table() {
  cl_icd_dispatch t;
  std::memset(&t, 0, sizeof t);
#define SIMTLAB_FILL(name) t.name = api::name;
  SIMTLAB_OPENCL_FUNCTIONS(SIMTLAB_FILL)
#undef SIMTLAB_FILL
#define SIMTLAB_REFUSE(name) fill_refusal(t.name);
  // clang-format off
  SIMTLAB_REFUSE(clCreateImage2D) SIMTLAB_REFUSE(clCreateImage3D) SIMTLAB_REFUSE(clGetImageInfo)
  SIMTLAB_REFUSE(clCreateSampler) SIMTLAB_REFUSE(clRetainSampler) SIMTLAB_REFUSE(clReleaseSampler)
  SIMTLAB_REFUSE(clGetSamplerInfo) SIMTLAB_REFUSE(clEnqueueReadImage) SIMTLAB_REFUSE(clEnqueueWriteImage)
  SIMTLAB_REFUSE(clEnqueueCopyImage) SIMTLAB_REFUSE(clEnqueueCopyImageToBuffer)
  SIMTLAB_REFUSE(clEnqueueCopyBufferToImage) SIMTLAB_REFUSE(clEnqueueMapImage)
  SIMTLAB_REFUSE(clEnqueueNativeKernel) SIMTLAB_REFUSE(clCreateImage) SIMTLAB_REFUSE(clEnqueueFillImage)
  SIMTLAB_REFUSE(clCreateFromGLBuffer) SIMTLAB_REFUSE(clCreateFromGLTexture2D)
  SIMTLAB_REFUSE(clCreateFromGLTexture3D) SIMTLAB_REFUSE(clCreateFromGLRenderbuffer)
  SIMTLAB_REFUSE(clGetGLObjectInfo) SIMTLAB_REFUSE(clGetGLTextureInfo)
  SIMTLAB_REFUSE(clEnqueueAcquireGLObjects) SIMTLAB_REFUSE(clEnqueueReleaseGLObjects)
  SIMTLAB_REFUSE(clGetGLContextInfoKHR) SIMTLAB_REFUSE(clGetDeviceIDsFromD3D10KHR)
  SIMTLAB_REFUSE(clCreateFromD3D10BufferKHR) SIMTLAB_REFUSE(clCreateFromD3D10Texture2DKHR)
  SIMTLAB_REFUSE(clCreateFromD3D10Texture3DKHR) SIMTLAB_REFUSE(clEnqueueAcquireD3D10ObjectsKHR)
  SIMTLAB_REFUSE(clEnqueueReleaseD3D10ObjectsKHR) SIMTLAB_REFUSE(clCreateSubDevicesEXT)
  SIMTLAB_REFUSE(clRetainDeviceEXT) SIMTLAB_REFUSE(clReleaseDeviceEXT)
  SIMTLAB_REFUSE(clCreateEventFromGLsyncKHR) SIMTLAB_REFUSE(clCreateFromGLTexture)
  SIMTLAB_REFUSE(clGetDeviceIDsFromD3D11KHR) SIMTLAB_REFUSE(clCreateFromD3D11BufferKHR)
  SIMTLAB_REFUSE(clCreateFromD3D11Texture2DKHR) SIMTLAB_REFUSE(clCreateFromD3D11Texture3DKHR)
  SIMTLAB_REFUSE(clCreateFromDX9MediaSurfaceKHR) SIMTLAB_REFUSE(clEnqueueAcquireD3D11ObjectsKHR)
  SIMTLAB_REFUSE(clEnqueueReleaseD3D11ObjectsKHR) SIMTLAB_REFUSE(clGetDeviceIDsFromDX9MediaAdapterKHR)
  SIMTLAB_REFUSE(clEnqueueAcquireDX9MediaSurfacesKHR) SIMTLAB_REFUSE(clEnqueueReleaseDX9MediaSurfacesKHR)
  SIMTLAB_REFUSE(clCreateFromEGLImageKHR) SIMTLAB_REFUSE(clEnqueueAcquireEGLObjectsKHR)
  SIMTLAB_REFUSE(clEnqueueReleaseEGLObjectsKHR) SIMTLAB_REFUSE(clCreateEventFromEGLSyncKHR)
  SIMTLAB_REFUSE(clCreatePipe) SIMTLAB_REFUSE(clGetPipeInfo) SIMTLAB_REFUSE(clSVMAlloc)
  SIMTLAB_REFUSE(clSVMFree) SIMTLAB_REFUSE(clEnqueueSVMFree) SIMTLAB_REFUSE(clEnqueueSVMMemcpy)
  SIMTLAB_REFUSE(clEnqueueSVMMemFill) SIMTLAB_REFUSE(clEnqueueSVMMap) SIMTLAB_REFUSE(clEnqueueSVMUnmap)
  SIMTLAB_REFUSE(clCreateSamplerWithProperties) SIMTLAB_REFUSE(clSetKernelArgSVMPointer)
  SIMTLAB_REFUSE(clSetKernelExecInfo) SIMTLAB_REFUSE(clGetKernelSubGroupInfoKHR) SIMTLAB_REFUSE(clCloneKernel)
  SIMTLAB_REFUSE(clCreateProgramWithIL) SIMTLAB_REFUSE(clEnqueueSVMMigrateMem)
  SIMTLAB_REFUSE(clGetDeviceAndHostTimer) SIMTLAB_REFUSE(clGetHostTimer)
  SIMTLAB_REFUSE(clGetKernelSubGroupInfo) SIMTLAB_REFUSE(clSetDefaultDeviceCommandQueue)
  SIMTLAB_REFUSE(clSetProgramReleaseCallback) SIMTLAB_REFUSE(clSetProgramSpecializationConstant)
  SIMTLAB_REFUSE(clCreateImageWithProperties) SIMTLAB_REFUSE(clSetContextDestructorCallback)
  // clang-format on
#undef SIMTLAB_REFUSE
                                                                                                  return t;
}

}  // namespace

const cl_icd_dispatch& dispatch_table() {
  static const cl_icd_dispatch* table = new cl_icd_dispatch(make_table());
  return *table;
}

namespace {

cl_int CL_API_CALL icd_platforms(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  return api::clGetPlatformIDs(entries, platforms, count);
}

}  // namespace

namespace api {

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return name != nullptr && std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0
             ? reinterpret_cast<void*>(&icd_platforms)
             : nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char* name) {
  return clGetExtensionFunctionAddress(name);
}

}  // namespace api
}  // namespace simtlab::hosts::opencl

// What a loader looks for in the library.
extern "C" {
__attribute__((visibility("default"))) void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return simtlab::hosts::opencl::api::clGetExtensionFunctionAddress(name);
}
__attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                            cl_platform_info what,
                                                                            size_t size, void* value,
                                                                            size_t* size_ret) {
  return simtlab::hosts::opencl::api::clGetPlatformInfo(platform, what, size, value, size_ret);
}
__attribute__((visibility("default"))) cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
                                                                                 cl_platform_id* platforms,
                                                                                 cl_uint* count) {
  return simtlab::hosts::opencl::api::clGetPlatformIDs(entries, platforms, count);
}
}
