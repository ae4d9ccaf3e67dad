// The linker of the driver: relocatable objects are joined; one text or linked cubin goes through as it is.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "compile/device_objects.h"
#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/jit_options.h"

using namespace simtlab::hosts::cuda;

namespace {

// CUjitInputType
enum InputType : int {
  input_cubin = 0,
  input_ptx = 1,
  input_fatbin = 2,
  input_object = 3,
  input_library = 4
};

struct LinkInput {
  int type = 0;
  std::string bytes, name;
};

// What CUlinkState points to.
struct Linker {
  std::vector<LinkInput> inputs;
  std::string image;  // when it is complete
  // Of cuLinkCreate. The values must stay where they are, for sizes of logs are written into them; before,
  // they say how much room there is
  std::vector<int> option_names;
  void** option_values = nullptr;
  std::vector<void*> option_room;

  void write_error(std::string_view error) {
    std::ranges::copy(option_room, option_values);
    write_logs({static_cast<unsigned>(option_names.size()), option_names.data(), option_values}, error);
  }
};
// Under the runtime's lock.
std::set<Linker*>& linkers() {
  static auto* const all = new std::set<Linker*>;
  return *all;
}

DriverResult add(Linker* linker, int type, std::string bytes, std::string name) {
  return in_context([&](Runtime& r) {
    if (!linkers().contains(linker)) return driver_invalid_handle;
    if (type < input_cubin || type > input_library)
      return driver_result(r.unsupported("cuLinkAddData", "intermediate code (NVVM)"));
    if (!linker->image.empty()) return driver_invalid_value;
    linker->inputs.push_back({type, std::move(bytes), std::move(name)});
    return driver_success;
  });
}

bool passes_through(const std::vector<LinkInput>& inputs) {
  if (inputs.size() != 1 || inputs[0].type > input_fatbin) return false;
  const auto bytes = std::as_bytes(std::span(inputs[0].bytes));
  return !(simtlab::machine::is_device_elf(bytes) && simtlab::machine::is_relocatable(bytes));
}

std::string linked(const std::vector<LinkInput>& inputs, const simtlab::device::Device& device) {
  if (passes_through(inputs)) return inputs[0].bytes;
  std::vector<simtlab::machine::Object> objects;
  for (const LinkInput& input : inputs)
    for (simtlab::machine::Object& object :
         simtlab::compile::device_objects(input.bytes, input.name, static_cast<unsigned>(device.cc_major),
                                          static_cast<unsigned>(device.cc_minor)))
      objects.push_back(std::move(object));
  return join_objects(objects, simtlab::machine::Missing::fail);
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuLinkCreate_v2(unsigned count, const int* names, void** values,
                                                Linker** out) {
  return in_context([&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = new Linker;
    if (names != nullptr && values != nullptr) {
      (*out)->option_names.assign(names, names + count);
      (*out)->option_room.assign(values, values + count);
      (*out)->option_values = values;
      write_logs({count, names, values}, {});
    }
    linkers().insert(*out);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuLinkAddData_v2(Linker* linker, int type, const void* data,
                                                 std::size_t bytes, const char* name, unsigned, const int*,
                                                 void**) {
  if (data == nullptr) return driver_invalid_value;
  return add(linker, type, {static_cast<const char*>(data), bytes}, name == nullptr ? "an input" : name);
}
SIMTLAB_DRIVER_API DriverResult cuLinkAddFile_v2(Linker* linker, int type, const char* path, unsigned,
                                                 const int*, void**) {
  if (path == nullptr) return driver_invalid_value;
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  try {
    return add(linker, type, simtlab::read_file(path, most, "module"), path);
  } catch (const simtlab::Error&) { return driver_file_not_found; }
}
SIMTLAB_DRIVER_API DriverResult cuLinkComplete(Linker* linker, void** image, std::size_t* bytes) {
  return in_context([&](Runtime& r) {
    if (!linkers().contains(linker)) return driver_invalid_handle;
    if (image == nullptr || linker->inputs.empty()) return driver_invalid_value;
    if (linker->image.empty()) {
      try {
        linker->image = linked(linker->inputs, r.gpu().device());
      } catch (const simtlab::Error& error) {
        linker->write_error(error.format());
        throw;
      }
      linker->image.push_back('\0');
    }
    *image = linker->image.data();
    if (bytes != nullptr) *bytes = linker->image.size() - 1;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuLinkDestroy(Linker* linker) {
  return in_context([&](Runtime&) {
    if (linkers().erase(linker) == 0) return driver_invalid_handle;
    delete linker;
    return driver_success;
  });
}
SIMTLAB_CUDA_ALIAS(cuLinkCreate, cuLinkCreate_v2);
SIMTLAB_CUDA_ALIAS(cuLinkAddData, cuLinkAddData_v2);
SIMTLAB_CUDA_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);
