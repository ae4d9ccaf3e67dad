// Values that the device file does not hold (texture sizes, alignments) are those of every device since
// Maxwell.
#include "hosts/cuda/properties.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "device/bus.h"

namespace simtlab::hosts::cuda {
namespace {

// Which versions have a member: CUDA 13 dropped some, CUDA 12 added some at the end.
constexpr int since_12 = 1, until_12 = 2, since_13 = 4, only_12 = 8;

// Writes members one after another with the alignment that a compiler gives them.
class Writer {
 public:
  Writer(void* out, int layout) : out_(static_cast<char*>(out)), layout_(layout) {}

  void text(const std::string& value, std::size_t bytes) {
    std::memset(out_ + at_, 0, bytes);
    std::memcpy(out_ + at_, value.data(), std::min(value.size(), bytes - 1));
    at_ += bytes;
  }
  void bytes(const void* value, std::size_t count) {
    std::memcpy(out_ + at_, value, count);
    at_ += count;
  }
  void size(std::uint64_t value) { put(static_cast<std::size_t>(value)); }
  void integer(std::int64_t value, int versions = 0) {
    if (has(versions)) put(static_cast<int>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX)));
  }
  void integers(std::initializer_list<int> values) {
    for (const int v : values) put(v);
  }
  void zeros(int count, int versions) {
    for (int i = 0; has(versions) && i < count; ++i) put(0);
  }
  void finish() {
    while (at_ % alignof(std::size_t) != 0) out_[at_++] = 0;
  }

 private:
  bool has(int versions) const {
    if ((versions & since_12) != 0 && layout_ < 12) return false;
    if ((versions & until_12) != 0 && layout_ > 12) return false;
    if ((versions & since_13) != 0 && layout_ < 13) return false;
    return (versions & only_12) == 0 || layout_ == 12;
  }
  template <typename T>
  void put(T value) {
    while (at_ % alignof(T) != 0) out_[at_++] = 0;
    std::memcpy(out_ + at_, &value, sizeof value);
    at_ += sizeof value;
  }

  char* out_;
  int layout_;
  std::size_t at_ = 0;
};

std::int64_t khz(double hz) { return std::llround(hz / 1000); }

std::int64_t double_ratio(const device::Device& d) {
  const auto rate = [&](device::OpClass c) { return d.throughput[device::index(c)]; };
  const double fp64 = rate(device::OpClass::fp64);
  return fp64 > 0 ? std::llround(rate(device::OpClass::fp32) / fp64) : 0;
}

std::int64_t max_grid_x(const device::Device& d) { return d.cc_major >= 3 ? 0x7fffffff : 65535; }

void write_limits(Writer& w, const device::Device& d) {
  const int threads = static_cast<int>(d.sm.max_threads_per_block);
  w.text(d.product.empty() ? d.name : d.product, 256);
  std::uint8_t uuid[16] = {'s', 'i', 'm', 't', 'l', 'a', 'b'};
  w.bytes(uuid, sizeof uuid);
  const char luid[8] = {};
  w.bytes(luid, sizeof luid);
  w.integer(0);
  w.size(d.dram.bytes);
  w.size(d.sm.shared_bytes_per_block);
  w.integer(d.sm.registers);
  w.integer(32);
  w.size(0x7fffffff);
  w.integer(threads);
  w.integers({threads, threads, 64});
  w.integers({static_cast<int>(max_grid_x(d)), 65535, 65535});
  w.integer(khz(d.sm_clock_hz), until_12);
  w.size(65536);
  w.integer(d.cc_major);
  w.integer(d.cc_minor);
  w.size(512);
  w.size(32);
  w.integer(1, until_12);  // deviceOverlap
  w.integer(d.sm.count);
  w.integer(0, until_12);  // kernelExecTimeoutEnabled
  w.integer(0);            // integrated
  w.integer(1);            // canMapHostMemory
  w.integer(0, until_12);  // computeMode
}

void write_textures(Writer& w) {
  w.integers({131072, 32768});
  w.integer(1 << 28, until_12);
  w.integers({131072, 65536, 32768, 32768, 131072, 65000, 2097120, 32768, 32768});
  w.integers({16384, 16384, 16384, 8192, 8192, 32768});
  w.integers({32768, 32768, 2048, 32768, 32768, 2048, 32768, 2046});
  w.integers(
      {32768, 131072, 65536, 16384, 16384, 16384, 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046});
  w.size(512);
}

void write_memory(Writer& w, const device::Device& d) {
  w.integer(1);              // concurrentKernels
  w.integer(0);              // ECCEnabled
  w.integers({1, 0, 0, 0});  // PCI bus, device, domain; TCC driver
  w.integer(2);              // asyncEngineCount
  w.integer(1);              // unifiedAddressing
  w.integer(khz(d.memory_clock_hz), until_12);
  w.integer(device::bus_bits(d));
  w.integer(static_cast<std::int64_t>(d.l2.bytes));
  w.integer(0);  // persistingL2CacheMaxSize
  w.integer(d.sm.max_threads);
  w.integer(1);  // streamPrioritiesSupported
  w.integer(d.l1_caches_global ? 1 : 0);
  w.integer(1);  // localL1CacheSupported
  w.size(d.sm.shared_bytes);
  w.integer(d.sm.registers);
  w.integer(1);           // managedMemory
  w.integers({0, 0, 0});  // multi-GPU board, its group, native host atomics
  w.integer(double_ratio(d), until_12);
  w.integers({0, 1});  // pageable access, concurrent managed access
  w.integers({0, 0});  // pre-emption, host pointer for registered memory
  w.integer(0);        // cooperativeLaunch
  w.integer(0, until_12);
  w.size(d.sm.shared_bytes_per_block_optin);
  w.integers({0, 0});  // host page tables, direct managed access
  w.integer(d.sm.max_blocks);
  w.integer(0);  // accessPolicyMaxWindowSize
  w.size(d.sm.shared_reserved_per_block);
}

}  // namespace

void fill_properties(const device::Device& device, int layout, void* out) {
  Writer w(out, layout);
  write_limits(w, device);
  write_textures(w);
  write_memory(w, device);
  w.integer(1, since_12);  // hostRegisterSupported
  w.zeros(10, since_12);   // sparse arrays ... events between processes: none of them
  w.integer(device.shared.cluster_blocks != 0 ? 1 : 0, since_12);
  w.zeros(1, since_12);  // unified function pointers
  w.zeros(2 + 1 + 60, only_12);
  w.zeros(7 + 56, since_13);
  w.finish();
}

bool device_attribute(const device::Device& d, int attribute, int& value) {
  const auto answer = [&](std::int64_t v) {
    value = static_cast<int>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX));
    return true;
  };
  switch (attribute) {
    case 1:
    case 2:
    case 3: return answer(d.sm.max_threads_per_block);
    case 4: return answer(64);
    case 5: return answer(max_grid_x(d));
    case 6:
    case 7: return answer(65535);
    case 8: return answer(static_cast<std::int64_t>(d.sm.shared_bytes_per_block));
    case 9: return answer(65536);
    case 10: return answer(32);
    case 11: return answer(0x7fffffff);
    case 12:
    case 82: return answer(d.sm.registers);
    case 13: return answer(khz(d.sm_clock_hz));
    case 14:
    case 30: return answer(512);
    case 15:
    case 19:
    case 31:
    case 41:
    case 80:
    case 83:
    case 89:
    case 99: return answer(1);
    case 16: return answer(d.sm.count);
    case 21:
    case 22: return answer(131072);
    case 55:
    case 77: return answer(32768);
    case 23: return answer(65536);
    case 24:
    case 25:
    case 26: return answer(16384);
    case 27:
    case 28:
    case 42: return answer(32768);
    case 29:
    case 43: return answer(2048);
    case 33: return answer(1);
    case 36: return answer(khz(d.memory_clock_hz));
    case 37: return answer(device::bus_bits(d));
    case 38: return answer(static_cast<std::int64_t>(d.l2.bytes));
    case 39: return answer(d.sm.max_threads);
    case 40: return answer(2);
    case 51: return answer(32);
    case 69: return answer(1 << 28);
    case 75: return answer(d.cc_major);
    case 76: return answer(d.cc_minor);
    case 79: return answer(d.l1_caches_global ? 1 : 0);
    case 81: return answer(static_cast<std::int64_t>(d.sm.shared_bytes));
    case 87: return answer(double_ratio(d));
    case 97: return answer(static_cast<std::int64_t>(d.sm.shared_bytes_per_block_optin));
    case 106: return answer(d.sm.max_blocks);
    case 111: return answer(d.sm.shared_reserved_per_block);
    case 120: return answer(d.shared.cluster_blocks != 0 ? 1 : 0);
    // Features a program may ask for before it uses them; none of these is there.
    case 17:
    case 18:
    case 20:
    case 32:
    case 34:
    case 35:
    case 50:
    case 78:
    case 84:
    case 85:
    case 86:
    case 88:
    case 90:
    case 91:
    case 95:
    case 96:
    case 98:
    case 100:
    case 101:
    case 108:
    case 109:
    case 112:
    case 113:
    case 114:
    case 115:
    case 116:
    case 117:
    case 118:
    case 119:
    case 121:
    case 125:
    case 133: return answer(0);
    default: return false;
  }
}

}  // namespace simtlab::hosts::cuda
