#include "hosts/opencl/launch.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/occupancy.h"

namespace simtlab::hosts::opencl {
namespace {

// work-items of a group, where the program leaves the choice
constexpr std::uint64_t kMostGroupsOfDefault = 256;

std::uint64_t largest_divisor(std::uint64_t n, std::uint64_t most) {
  for (std::uint64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

std::uint32_t at(const std::uint32_t* values, cl_uint d) { return std::max(1u, values[d]); }

std::array<std::uint64_t, 3> chosen_local(std::uint64_t most, const std::array<std::uint64_t, 3>& global) {
  std::array<std::uint64_t, 3> local{1, 1, 1};
  std::uint64_t left = std::min(most, kMostGroupsOfDefault);
  for (std::size_t d = 0; d < 3; ++d) {
    local[d] = largest_divisor(global[d], d == 2 ? std::min<std::uint64_t>(left, 64) : left);
    left /= local[d];
  }
  return local;
}

}  // namespace

std::uint32_t most_work_items(const device::Device& device, const ptx::Function& f) {
  std::uint32_t most = device.sm.max_threads_per_block;
  if (f.max_ntid[0] != 0) most = std::min(most, at(f.max_ntid, 0) * at(f.max_ntid, 1) * at(f.max_ntid, 2));
  while (most > 32 && device::occupancy(device, most, f.registers, f.shared_bytes).blocks_per_sm == 0)
    most -= 32;
  return most;
}

Range make_range(const device::Device& device, const ptx::Function& f, cl_uint dimensions,
                 const size_t* offset, const size_t* global, const size_t* local) {
  require(dimensions >= 1 && dimensions <= 3, CL_INVALID_WORK_DIMENSION);
  require(global != nullptr, CL_INVALID_GLOBAL_WORK_SIZE);
  std::array<std::uint64_t, 3> whole{1, 1, 1}, group{1, 1, 1};
  Range out;
  out.dimensions = dimensions;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  for (cl_uint d = 0; d < dimensions; ++d) {
    require(global[d] != 0 && global[d] <= most, CL_INVALID_GLOBAL_WORK_SIZE);
    whole[d] = global[d];
    if (offset == nullptr) continue;
    require(offset[d] <= most && offset[d] + global[d] <= most, CL_INVALID_GLOBAL_OFFSET);
    out.offset[d] = static_cast<std::uint32_t>(offset[d]);
    out.has_offset |= offset[d] != 0;
  }
  const std::uint32_t most_items = most_work_items(device, f);
  const bool required = f.req_ntid[0] != 0;
  if (local == nullptr) {
    if (required)
      for (cl_uint d = 0; d < 3; ++d) group[d] = at(f.req_ntid, d);
    else
      group = chosen_local(most_items, whole);
  } else {
    for (cl_uint d = 0; d < dimensions; ++d) group[d] = local[d];
    for (cl_uint d = 0; required && d < 3; ++d)
      require(group[d] == at(f.req_ntid, d), CL_INVALID_WORK_GROUP_SIZE);
  }
  const std::array<std::uint64_t, 3> most_of = {device.sm.max_threads_per_block,
                                                device.sm.max_threads_per_block, 64};
  for (std::size_t d = 0; d < 3; ++d) {
    require(group[d] != 0, CL_INVALID_WORK_GROUP_SIZE);
    require(group[d] <= most_of[d], CL_INVALID_WORK_ITEM_SIZE);
    require(whole[d] % group[d] == 0, CL_INVALID_WORK_GROUP_SIZE);
  }
  require(group[0] * group[1] * group[2] <= most_items, CL_INVALID_WORK_GROUP_SIZE);
  const auto dim = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return exec::Dim3{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                      static_cast<std::uint32_t>(z)};
  };
  out.groups = dim(whole[0] / group[0], whole[1] / group[1], whole[2] / group[2]);
  out.local = dim(group[0], group[1], group[2]);
  // Limits of the device's grid (D-OPENCL-8).
  const std::uint32_t most_groups = device.cc_major >= 3 ? 0x7fffffff : 65535;
  require(out.groups.x <= most_groups && out.groups.y <= 65535 && out.groups.z <= 65535,
          CL_INVALID_GLOBAL_WORK_SIZE);
  return out;
}

Arguments gather_arguments(const device::Device& device, const Kernel& kernel, const ptx::Function& f) {
  Arguments out;
  out.block.assign(f.param_bytes, std::byte{});
  gpu::LocalMemory local(f.shared_bytes);
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Kernel::Argument& a = kernel.arguments[i];
    const ptx::Param& p = f.params[i];
    require(a.set, CL_INVALID_KERNEL_ARGS);
    std::byte* to = out.block.data() + p.offset;
    if (!p.is_pointer) {
      std::memcpy(to, a.value.data(), p.bytes);
      continue;
    }
    std::uint64_t address = 0;
    if (p.pointee == ptx::Space::shared) {
      const auto place = local.add(a.local_bytes, p.pointee_align);
      require(place.has_value(), CL_OUT_OF_RESOURCES);
      address = *place;
    } else if (!a.null_pointer) {
      const std::shared_ptr<Buffer> buffer = a.buffer.lock();
      require(buffer != nullptr, CL_INVALID_MEM_OBJECT);
      address = buffer->address;
      out.buffers.push_back(buffer);
    }
    std::memcpy(to, &address, p.bytes);
  }
  out.local_bytes = local.dynamic_bytes();
  require(std::uint64_t{f.shared_bytes} + out.local_bytes <= device.sm.shared_bytes_per_block_optin,
          CL_OUT_OF_RESOURCES);
  return out;
}

}  // namespace simtlab::hosts::opencl
