// Device and configuration files: any bytes give a document or an Error, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "device/device.h"
#include "device/document.h"
#include "device/parameters.h"

using namespace simtlab;

// Every value of a document is stored as load_device would; what is refused must be refused with an Error.
static void read(std::string_view text, device::Form form) {
  try {
    const device::Document document = device::parse_document(text, "input.toml", form);
    device::Device device;
    for (const device::Node& node : document.nodes) {
      const device::Parameter* parameter = device::find_parameter(node.key);
      if (parameter == nullptr) continue;
      try {
        device::store(*parameter, node.value, device);
        device::store(*parameter, device::show(*parameter, device), device);
      } catch (const Error& e) { static_cast<void>(e.format()); }
    }
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, device::Form::annotated);
  read(text, device::Form::plain);
  return 0;
}
