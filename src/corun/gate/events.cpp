#include "corun/gate/events.h"

#include <cstdio>
#include <type_traits>

#include "corun/gate/real.h"

namespace simtlab::corun::gate {
namespace {

// "0000:3b:00.0" as one number. MIG parts of a board have the same, and so are one device here.
bool number_of(const char* bus, std::uint32_t& out) {
  unsigned domain = 0, number = 0, device = 0, function = 0;
  if (std::sscanf(bus, "%x:%x:%x.%x", &domain, &number, &device, &function) < 3) return false;
  out = (domain & 0xffff) << 16 | (number & 0xff) << 8 | (device & 0x1f) << 3 | (function & 7);
  return true;
}

}  // namespace

EventApi::EventApi(void* library, bool driver) : driver_(driver) {
  const auto get = [&](auto& function, const char* runtime_name, const char* driver_name) {
    const char* const name = driver ? driver_name : runtime_name;
    if (name != nullptr)
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(look_up(library, name));
  };
  get(create, "cudaEventCreateWithFlags", "cuEventCreate");
  get(record, "cudaEventRecord", "cuEventRecord");
  get(query, "cudaEventQuery", "cuEventQuery");
  get(elapsed, "cudaEventElapsedTime", "cuEventElapsedTime");
  get(span, "simtlabEventSpan", nullptr);
  get(capturing, "cudaStreamIsCapturing", "cuStreamIsCapturing");
  get(capture_mode, "cudaThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode");
  get(get_device_, "cudaGetDevice", "cuCtxGetDevice");
  get(bus_id_, "cudaDeviceGetPCIBusId", "cuDeviceGetPCIBusId");
  get(last_error_, "cudaGetLastError", nullptr);
  get(attributes_, "cudaFuncGetAttributes", nullptr);
  get(name_, "cudaFuncGetName", "cuFuncGetName");
  get(get_context_, nullptr, "cuCtxGetCurrent");
  get(set_context_, nullptr, "cuCtxSetCurrent");
  get(attribute_, nullptr, "cuFuncGetAttribute");
}

std::uintptr_t EventApi::place() const {
  if (driver_) {
    void* context = nullptr;
    if (get_context_ != nullptr) get_context_(&context);
    return reinterpret_cast<std::uintptr_t>(context);
  }
  int device = 0;
  if (get_device_ != nullptr) get_device_(&device);
  return static_cast<std::uintptr_t>(device);
}

int EventApi::go_to(std::uintptr_t place) const {
  thread_local const EventApi* of = nullptr;
  thread_local std::uintptr_t current = 0;
  if (set_context_ == nullptr || (of == this && place == current)) return 0;
  of = this;
  current = place;
  return set_context_(reinterpret_cast<void*>(place));
}

EventApi::Device EventApi::device(std::uintptr_t place) const {
  thread_local const EventApi* of = nullptr;
  thread_local Device known;
  int ordinal = static_cast<int>(driver_ ? 0 : place);
  if (driver_ && get_device_ != nullptr && get_device_(&ordinal) != 0) ordinal = 0;
  const auto wanted = static_cast<std::uint32_t>(ordinal);
  if (of == this && known.ordinal == wanted) return known;
  Device out{wanted, wanted};
  char bus[32] = {};
  if (bus_id_ != nullptr) {
    if (bus_id_(bus, sizeof bus - 1, ordinal) == 0)
      number_of(bus, out.id);
    else
      forget_error();
  }
  of = this, known = out;
  return out;
}

const char* EventApi::name(const void* function) const {
  const char* out = nullptr;
  if (name_ == nullptr) return nullptr;
  if (name_(&out, function) == 0) return out;
  forget_error();
  return nullptr;
}

bool EventApi::code(const void* function, std::uint32_t& registers, std::uint32_t& shared_bytes) const {
  if (attribute_ != nullptr) {
    constexpr int shared_attribute = 1, registers_attribute = 4;  // CUfunction_attribute
    int shared = 0, used = 0;
    if (attribute_(&shared, shared_attribute, function) != 0 ||
        attribute_(&used, registers_attribute, function) != 0)
      return false;
    registers = static_cast<std::uint32_t>(used), shared_bytes = static_cast<std::uint32_t>(shared);
    return true;
  }
  if (attributes_ == nullptr) return false;
  // cudaFuncAttributes: three sizes, the most threads, the registers; later versions have more behind them.
  struct {
    std::size_t shared, constant, local;
    int most_threads, registers, later[250];
  } attributes{};
  if (attributes_(&attributes, function) != 0) return false;
  registers = static_cast<std::uint32_t>(attributes.registers),
  shared_bytes = static_cast<std::uint32_t>(attributes.shared);
  return true;
}

}  // namespace simtlab::corun::gate
