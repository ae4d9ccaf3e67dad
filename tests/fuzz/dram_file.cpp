// Memory technology and memory controller files: any bytes give a document or an Error, in bounded time and
// memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "device/document.h"
#include "device/memory_controller_keys.h"
#include "device/technology_keys.h"

using namespace simtlab;

// Every value of a document is stored as load_technology and load_memory_controller would; what is refused
// must be refused with an Error.
static void store_all(const device::Document& document, device::Record& record) {
  for (const device::Node& node : document.nodes) {
    const auto i = device::find_key(record, node.key);
    if (!i) {
      static_cast<void>(device::unknown_key_hint(record, node.key, {}, "list"));
      continue;
    }
    const device::Key& key = record.key(*i);
    try {
      device::store(key, node.value, record.field(*i));
      device::store(key, device::show(key, record.field(*i)), record.field(*i));
    } catch (const Error& e) { static_cast<void>(e.format()); }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const device::Document document = device::parse_document(text, "input.toml", device::Form::annotated);
    device::Technology technology;
    device::RecordOf record(device::technology_keys(), technology);
    store_all(document, record);
    device::MemoryController controller;
    device::RecordOf controller_record(device::memory_controller_keys(), controller);
    store_all(document, controller_record);
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
