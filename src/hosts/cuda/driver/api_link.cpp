// The linker of the driver: one text or cubin goes through it as it is; several are not joined.
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "base/files.h"
#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/jit_options.h"

using namespace simtlab::hosts::cuda;

namespace {

// What CUlinkState points to.
struct Linker {
  std::string image;
  bool filled = false;
};
// Under the runtime's lock.
std::set<Linker*>& linkers() {
  static auto* const all = new std::set<Linker*>;
  return *all;
}

// CUjitInputType: libraries and objects hold several pieces.
enum InputType : int { input_cubin = 0, input_ptx = 1, input_fatbin = 2 };

DriverResult add(Linker* linker, int type, std::string image) {
  return in_context([&](Runtime& r) {
    if (!linkers().contains(linker)) return driver_invalid_handle;
    if (type != input_cubin && type != input_ptx && type != input_fatbin)
      return driver_result(r.unsupported("cuLinkAddData", "an object, a library or intermediate code"));
    if (linker->filled) return driver_result(r.unsupported("cuLinkAddData", "a second input"));
    linker->image = std::move(image);
    linker->image.push_back('\0');
    linker->filled = true;
    return driver_success;
  });
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuLinkCreate_v2(unsigned count, const int* names, void** values,
                                                Linker** out) {
  write_logs({count, names, values}, {});
  return in_context([&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = new Linker;
    linkers().insert(*out);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuLinkAddData_v2(Linker* linker, int type, const void* data,
                                                 std::size_t bytes, const char*, unsigned, const int*,
                                                 void**) {
  if (data == nullptr) return driver_invalid_value;
  return add(linker, type, {static_cast<const char*>(data), bytes});
}
SIMTLAB_DRIVER_API DriverResult cuLinkAddFile_v2(Linker* linker, int type, const char* path, unsigned,
                                                 const int*, void**) {
  if (path == nullptr) return driver_invalid_value;
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  try {
    return add(linker, type, simtlab::read_file(path, most, "module"));
  } catch (const simtlab::Error&) { return driver_file_not_found; }
}
SIMTLAB_DRIVER_API DriverResult cuLinkComplete(Linker* linker, void** image, std::size_t* bytes) {
  return in_context([&](Runtime&) {
    if (!linkers().contains(linker)) return driver_invalid_handle;
    if (image == nullptr || !linker->filled) return driver_invalid_value;
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
