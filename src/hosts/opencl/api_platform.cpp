// The platform and its one device, as the device file describes it.
#include <fmt/format.h>

#include <algorithm>

#include "hosts/opencl/api.h"
#include "hosts/opencl/info.h"
#include "hosts/opencl/limits.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl::api {
namespace {

constexpr const char* kVersion = "OpenCL 1.2 simtlab " SIMTLAB_VERSION;
constexpr cl_uint kMostDimensions = 3;

// cl_nv_device_attribute_query, which programs of NVIDIA GPUs ask for.
enum Nvidia : cl_device_info {
  compute_capability_major = 0x4000,
  compute_capability_minor = 0x4001,
  registers_per_block = 0x4002,
  warp_size = 0x4003,
  gpu_overlap = 0x4004,
  kernel_exec_timeout = 0x4005,
  integrated_memory = 0x4006,
  async_engines = 0x4007,
  pci_bus = 0x4008,
  pci_slot = 0x4009
};

bool has_double(const device::Device& d) { return d.cc_major > 1 || (d.cc_major == 1 && d.cc_minor >= 3); }

std::string extensions(const device::Device& d) {
  std::string all =
      "cl_khr_icd cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
      "cl_khr_local_int32_base_atomics "
      "cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store";
  if (has_double(d)) all += " cl_khr_fp64";
  return all + " cl_nv_device_attribute_query";
}

cl_int floating(const device::Device& d, cl_device_info what, const Answer& answer) {
  constexpr cl_device_fp_config all = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                      CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
  if (what == CL_DEVICE_SINGLE_FP_CONFIG) return answer.bits(all | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
  return answer.bits(what == CL_DEVICE_DOUBLE_FP_CONFIG && has_double(d) ? all : 0);
}

cl_int vector_width(const device::Device& d, cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF: return answer.number(0);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: return answer.number(has_double(d) ? 1 : 0);
    default: return answer.number(1);
  }
}

cl_int memory(const device::Device& d, cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_GLOBAL_MEM_SIZE: return answer.bits(d.dram.bytes);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return answer.bits(most_buffer_bytes(d));
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
      return answer.one<cl_device_mem_cache_type>(d.l2.bytes > 0 ? CL_READ_WRITE_CACHE : CL_NONE);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: return answer.number(d.l2.line_bytes);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: return answer.bits(d.l2.bytes);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: return answer.bits(65536);
    case CL_DEVICE_MAX_CONSTANT_ARGS: return answer.number(9);
    case CL_DEVICE_LOCAL_MEM_TYPE: return answer.one<cl_device_local_mem_type>(CL_LOCAL);
    case CL_DEVICE_LOCAL_MEM_SIZE: return answer.bits(d.sm.shared_bytes_per_block);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return answer.number(base_alignment * 8);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE: return answer.number(128);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return answer.size(4352);
    case CL_DEVICE_PRINTF_BUFFER_SIZE: return answer.size(1 << 20);
    default: return CL_INVALID_VALUE;
  }
}

cl_int texts(const device::Device& d, cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_NAME: return answer.text(d.product);
    case CL_DEVICE_VENDOR: return answer.text("simtlab");
    case CL_DRIVER_VERSION: return answer.text(SIMTLAB_VERSION);
    case CL_DEVICE_PROFILE: return answer.text("FULL_PROFILE");
    case CL_DEVICE_VERSION: return answer.text(kVersion);
    case CL_DEVICE_OPENCL_C_VERSION: return answer.text("OpenCL C 1.2 simtlab");
    case CL_DEVICE_EXTENSIONS: return answer.text(extensions(d));
    case CL_DEVICE_BUILT_IN_KERNELS: return answer.text("");
    default: return CL_INVALID_VALUE;
  }
}

cl_int shape(const device::Device& d, cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_MAX_COMPUTE_UNITS: return answer.number(d.sm.count);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return answer.number(kMostDimensions);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer.list(std::vector<std::size_t>{d.sm.max_threads_per_block, d.sm.max_threads_per_block,
                                                  std::min<std::size_t>(64, d.sm.max_threads_per_block)});
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return answer.size(d.sm.max_threads_per_block);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: return answer.number(static_cast<cl_uint>(d.sm_clock_hz / 1e6));
    case CL_DEVICE_ADDRESS_BITS: return answer.number(64);
    case CL_DEVICE_VENDOR_ID: return answer.number(0x10de);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return answer.size(1);
    case compute_capability_major: return answer.number(static_cast<cl_uint>(d.cc_major));
    case compute_capability_minor: return answer.number(static_cast<cl_uint>(d.cc_minor));
    case registers_per_block: return answer.number(d.sm.registers);
    case warp_size: return answer.number(32);
    case async_engines: return answer.number(2);
    case pci_bus:
    case pci_slot: return answer.number(0);
    case gpu_overlap: return answer.flag(true);
    case kernel_exec_timeout:
    case integrated_memory: return answer.flag(false);
    default: return CL_INVALID_VALUE;
  }
}

// What the device has or has not, of no device in particular.
cl_int abilities(State& state, cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_TYPE: return answer.bits(CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_PLATFORM: return answer.one(reinterpret_cast<cl_platform_id>(state.platform()->handle()));
    case CL_DEVICE_PARENT_DEVICE: return answer.one<cl_device_id>(nullptr);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: return answer.flag(true);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return answer.flag(false);
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_SAMPLERS:
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES: return answer.number(0);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: return answer.size(0);
    case CL_DEVICE_QUEUE_PROPERTIES:
      return answer.bits(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    case CL_DEVICE_EXECUTION_CAPABILITIES: return answer.bits(CL_EXEC_KERNEL);
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE: return answer.one<cl_device_partition_property>(0);
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: return answer.bits(0);
    case CL_DEVICE_REFERENCE_COUNT: return answer.number(1);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace

cl_int CL_API_CALL clGetPlatformIDs(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  return call([&](State& state) -> cl_int {
    require((platforms != nullptr || count != nullptr) && (platforms == nullptr || entries != 0),
            CL_INVALID_VALUE);
    if (platforms != nullptr) platforms[0] = reinterpret_cast<cl_platform_id>(state.platform()->handle());
    if (count != nullptr) *count = 1;
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void* value,
                                     size_t* size_out) {
  return call([&](State& state) -> cl_int {
    require(platform == nullptr || state.is_platform(platform), CL_INVALID_PLATFORM);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_PLATFORM_PROFILE: return answer.text("FULL_PROFILE");
      case CL_PLATFORM_VERSION: return answer.text(kVersion);
      case CL_PLATFORM_NAME: return answer.text("simtlab");
      case CL_PLATFORM_VENDOR: return answer.text("simtlab");
      case CL_PLATFORM_EXTENSIONS: return answer.text("cl_khr_icd");
      case CL_PLATFORM_ICD_SUFFIX_KHR: return answer.text("SIMTLAB");
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint entries,
                                  cl_device_id* devices, cl_uint* count) {
  return call([&](State& state) -> cl_int {
    require(platform == nullptr || state.is_platform(platform), CL_INVALID_PLATFORM);
    constexpr cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                     CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    require(type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~known) == 0), CL_INVALID_DEVICE_TYPE);
    require((devices != nullptr || count != nullptr) && (devices == nullptr || entries != 0),
            CL_INVALID_VALUE);
    const bool matches = (type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU)) != 0;
    if (count != nullptr) *count = matches ? 1 : 0;
    if (!matches) return CL_DEVICE_NOT_FOUND;
    if (devices != nullptr) devices[0] = reinterpret_cast<cl_device_id>(state.device_object()->handle());
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void* value,
                                   size_t* size_out) {
  return call([&](State& state) -> cl_int {
    require(state.is_device(device), CL_INVALID_DEVICE);
    const Answer answer(size, value, size_out);
    const device::Device& d = state.device();
    switch (what) {
      case CL_DEVICE_SINGLE_FP_CONFIG:
      case CL_DEVICE_DOUBLE_FP_CONFIG: return floating(d, what, answer);
      case CL_DEVICE_HALF_FP_CONFIG: return CL_INVALID_VALUE;  // cl_khr_fp16 is not there
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
      case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
      case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF: return vector_width(d, what, answer);
      default: break;
    }
    // Each group knows its own; a value that does not fit is the same code as one that nobody knows.
    cl_int code = memory(d, what, answer);
    if (code != CL_SUCCESS) code = texts(d, what, answer);
    if (code != CL_SUCCESS) code = shape(d, what, answer);
    return code != CL_SUCCESS ? abilities(state, what, answer) : code;
  });
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property*, cl_uint,
                                      cl_device_id*, cl_uint*) {
  return call([&](State& state) -> cl_int {
    require(state.is_device(device), CL_INVALID_DEVICE);
    return CL_INVALID_VALUE;  // it cannot be partitioned
  });
}

// Root devices are not counted.
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  return call(
      [&](State& state) -> cl_int { return state.is_device(device) ? CL_SUCCESS : CL_INVALID_DEVICE; });
}
cl_int CL_API_CALL clReleaseDevice(cl_device_id device) { return api::clRetainDevice(device); }

}  // namespace simtlab::hosts::opencl::api
