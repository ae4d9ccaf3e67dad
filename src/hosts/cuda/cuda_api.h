// The binary interface of the CUDA runtime as programs see it: types, numbers and layouts, in our own words.
//
// Only what the drop-in library reads or writes is declared. Enumerations are plain ints with named values,
// so that a program built against a newer header can pass a number that is not listed here.
#pragma once

#include <cstddef>
#include <cstdint>

// Exported with C linkage; the version scripts in src/hosts/cuda/rules.cmake give it its version node.
#define SIMTLAB_CUDA_API extern "C" __attribute__((visibility("default")))

// Second exported name of a function defined in the same file: per-thread default streams (_ptsz, _ptds),
// which act as the legacy one (D-RUNTIME-2), and names of other CUDA versions.
#define SIMTLAB_CUDA_ALIAS(alias, function) \
  asm(".globl " #alias "\n.type " #alias ", @function\n.set " #alias ", " #function "\n")

namespace simtlab::hosts::cuda {

// Result of every call. The numbers are those of CUDA 10.1 and later; names and texts: error_codes.cpp.
enum CudaError : int {
  success = 0,
  error_invalid_value = 1,
  error_memory_allocation = 2,
  error_initialization = 3,
  error_invalid_configuration = 9,
  error_invalid_pitch_value = 12,
  error_invalid_symbol = 13,
  error_invalid_host_pointer = 16,
  error_invalid_device_pointer = 17,
  error_invalid_texture = 18,
  error_invalid_texture_binding = 19,
  error_invalid_channel_descriptor = 20,
  error_invalid_memcpy_direction = 21,
  error_missing_configuration = 52,
  error_invalid_device_function = 98,
  error_no_device = 100,
  error_invalid_device = 101,
  error_invalid_kernel_image = 200,
  error_no_kernel_image_for_device = 209,
  error_unsupported_limit = 215,
  error_peer_access_unsupported = 217,
  error_invalid_ptx = 218,
  error_file_not_found = 301,
  error_invalid_resource_handle = 400,
  error_symbol_not_found = 500,
  error_not_ready = 600,
  error_illegal_address = 700,
  error_launch_out_of_resources = 701,
  error_launch_timeout = 702,
  error_host_memory_already_registered = 712,
  error_host_memory_not_registered = 713,
  error_assert = 710,
  error_hardware_stack = 714,
  error_illegal_instruction = 715,
  error_illegal_state = 401,
  error_stream_capture_unsupported = 900,
  error_stream_capture_invalidated = 901,
  error_stream_capture_merge = 902,
  error_stream_capture_unmatched = 903,
  error_stream_capture_unjoined = 904,
  error_stream_capture_isolation = 905,
  error_stream_capture_implicit = 906,
  error_invalid_cluster_size = 912,
  error_misaligned_address = 716,
  error_launch_failure = 719,
  error_cooperative_launch_too_large = 720,
  error_not_supported = 801,
  error_mps_rpc_failure = 806,  // the server of a GPU that several programs share does not answer
  error_unknown = 999,
};

struct Dim3Arg {
  std::uint32_t x, y, z;
};

enum MemcpyKind : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4
};

// Handles. A stream is a number of ours dressed as a pointer; 1 and 2 are CUDA's names for the legacy and the
// per-thread default stream.
using StreamHandle = std::uintptr_t;
using EventHandle = std::uintptr_t;
inline constexpr StreamHandle stream_legacy = 1, stream_per_thread = 2;

struct ChannelFormat {
  int x, y, z, w;  // bits per component
  int kind;        // 0 signed, 1 unsigned, 2 float, 3 none
};

struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, xsize, ysize;
};

// A cudaArray: our layout, opaque to programs. Rows lie one after another, without the tiling of real
// devices.
struct CudaArray {
  ChannelFormat format;
  std::size_t width, height, depth;  // in elements; 0 = dimension absent
  std::size_t element_bytes;
  std::uint64_t address;
  std::size_t row_bytes() const { return width * element_bytes; }
  std::size_t rows() const { return height == 0 ? 1 : height; }
  std::size_t slices() const { return depth == 0 ? 1 : depth; }
};

struct Memcpy3DParms {
  CudaArray* source_array;
  Position source_position;
  PitchedPointer source;
  CudaArray* target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  int kind;
};

struct TextureReference {
  int normalized;
  int filter_mode;      // 0 point, 1 linear
  int address_mode[3];  // 0 wrap, 1 clamp, 2 mirror, 3 border
  ChannelFormat format;
  int srgb;
  // Further members (mipmaps, anisotropy) are not read.
};

enum ResourceType : int {
  resource_array = 0,
  resource_mipmapped = 1,
  resource_linear = 2,
  resource_pitch2d = 3
};

struct ResourceDesc {
  int type;
  union {
    CudaArray* array;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitch2d;
  };
};

struct TextureDesc {
  int address_mode[3];
  int filter_mode;
  int read_mode;  // 0 element type, 1 normalised float
  int srgb;
  float border[4];
  int normalized;
  // Mipmap and anisotropy members follow.
};

struct FuncAttributes {
  std::size_t shared_bytes, const_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared,
      carveout;
};

struct PointerAttributes {
  int type;  // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
};

struct LaunchConfig {
  Dim3Arg grid, block;
  std::size_t shared_bytes;
  StreamHandle stream;
  const void* attributes;
  unsigned attribute_count;
};

// One element of LaunchConfig::attributes: id, padding, 64 bytes of value.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int integer;
  };
};

// Major version of the library that was loaded: 11, 12 or 13, or that it is libcuda. Each shared library
// defines its own.
inline constexpr int driver_library = 0;
extern const int library_major;

}  // namespace simtlab::hosts::cuda
