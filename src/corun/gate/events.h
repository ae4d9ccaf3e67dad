// What the gate needs of the library that launches: events, and where a launch goes. The runtime's functions
// or the driver's; 0 is success in both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simtlab::corun::gate {

inline constexpr int not_ready = 600;

class EventApi {
 public:
  // library: as dlopen gives it, or RTLD_NEXT.
  EventApi(void* library, bool driver);

  bool complete() const { return create && record && query && elapsed; }
  int (*create)(void** event, unsigned flags) = nullptr;
  int (*record)(void* event, void* stream) = nullptr;
  int (*query)(void* event) = nullptr;
  int (*elapsed)(float* milliseconds, void* start, void* end) = nullptr;
  // Of simtlab's own runtime alone: on simulated time, without the launch.
  int (*span)(void* start, void* end, double* begin_ns, double* end_ns) = nullptr;
  int (*capturing)(void* stream, int* status) = nullptr;
  int (*capture_mode)(int* mode) = nullptr;

  // Where the calling thread launches: its device or, of the driver, its context.
  std::uintptr_t place() const;
  // Events of a context are asked in that context.
  int go_to(std::uintptr_t place) const;
  // The device of that place, of which the calling thread is. id: the same number in every process (its place
  // on the bus), whatever CUDA_VISIBLE_DEVICES says; ordinal: the program's number.
  struct Device {
    std::uint32_t id = 0, ordinal = 0;
  };
  Device device(std::uintptr_t place) const;
  // After a call of ours that failed: the program shall not see that.
  void forget_error() const {
    if (last_error_ != nullptr) last_error_();
  }
  // The kernel's name, of one that nobody has named; null: nobody knows (before CUDA 12.3).
  const char* name(const void* function) const;
  // What a kernel takes; false: nobody knows.
  bool code(const void* function, std::uint32_t& registers, std::uint32_t& shared_bytes) const;

 private:
  bool driver_;
  int (*last_error_)() = nullptr;
  int (*get_device_)(int* device) = nullptr;
  int (*bus_id_)(char* id, int bytes, int device) = nullptr;
  int (*get_context_)(void** context) = nullptr;
  int (*set_context_)(void* context) = nullptr;
  int (*attributes_)(void* attributes, const void* function) = nullptr;
  int (*name_)(const char** name, const void* function) = nullptr;
  int (*attribute_)(int* value, int attribute, const void* function) = nullptr;
};

}  // namespace simtlab::corun::gate
