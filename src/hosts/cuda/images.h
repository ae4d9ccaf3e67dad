// What the program registered at start-up: fat binaries and the host addresses that stand for kernels,
// variables and texture references. Images are read when something of them is used first; until then a broken
// or unsupported one harms nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "gpu/gpu.h"
#include "hosts/cuda/cuda_api.h"

namespace simtlab::hosts::cuda {

struct Image {
  std::string name;            // "app:image1", for messages
  const void* data = nullptr;  // container or PTX text in the program's own memory
  std::size_t bytes = 0;       // readable there; 0: as the data itself says
  std::optional<gpu::ModuleId> module;
  bool ptx_beside = false;  // `module` is machine code, and a kernel of it that is not executed runs as PTX
  std::optional<gpu::ModuleId> ptx_module;  // for these
  std::shared_ptr<const Error> failure;     // loading was tried and refused
  struct Managed {
    std::string name;
    void** host_pointer;  // the program's variable that gets the address
  };
  std::vector<Managed> managed;
};

struct KernelEntry {
  Image* image = nullptr;
  std::string name;  // mangled
  std::optional<gpu::Kernel> kernel;
  std::uint64_t max_dynamic_shared = 0;  // opted in by cudaFuncSetAttribute
  int carveout = -1;
  Dim3Arg cluster{0, 0, 0};  // required by cudaFuncSetAttribute; 0: it is not
  bool non_portable_cluster = false;
};

struct VariableEntry {
  Image* image = nullptr;
  std::string name;
};

struct TextureEntry {
  Image* image = nullptr;
  std::string name;
  bool normalized_read = false;
  std::uint64_t bound_address = 0;
};

// What a fat binary's wrapper points to; other bytes as they are.
const void* unwrapped(const void* bytes);
// Code of the image that runs on the GPU, as --code wants it: machine code or PTX. Throws Error.
void load_image(Image& image, gpu::Gpu& gpu);

// The kernel of a loaded image: its machine code, or its PTX where an instruction of that is not executed.
// Nullopt: it has none of that name. Throws Error.
std::optional<gpu::Kernel> find_kernel(KernelEntry& entry, gpu::Gpu& gpu);

class Images {
 public:
  // wrapper: what __cudaRegisterFatBinary gets. The handle is ours until the process ends.
  Image* add(const void* wrapper, const std::string& program);
  void add_kernel(Image* image, const void* host, std::string name);
  void add_variable(Image* image, const void* host, std::string name);
  void add_managed(Image* image, void** host, std::string name);
  void add_texture(Image* image, const void* host, std::string name, bool normalized_read);

  // Null: nothing is registered under the address. find_* do not load anything.
  KernelEntry* find_kernel(const void* host);
  // By the address of the entry itself, as cudaGetFuncBySymbol gives it.
  KernelEntry* find_entry(const void* entry);
  VariableEntry* find_variable(const void* host);
  // Programs written for CUDA 4 and earlier pass the name of a symbol as text. `text` need not be readable.
  VariableEntry* find_variable_named(const void* text);
  TextureEntry* find_texture(const void* host);

  // Loads the image if that has not been tried; throws the Error of the first attempt again.
  void load(Image& image, gpu::Gpu& gpu);
  // Loads the kernel's image and resolves it. Throws Error(unsupported, "no-device-code") if the image lacks
  // it.
  gpu::Kernel resolve(KernelEntry& entry, gpu::Gpu& gpu);
  // The program's bytes are gone: what is loaded stays usable, nothing is loaded any more.
  void retire(Image* image) { image->data = nullptr; }
  // After the GPU went away (cudaDeviceReset): everything is to be loaded anew.
  void forget_modules();

 private:
  std::vector<std::unique_ptr<Image>> images_;
  std::unordered_map<const void*, KernelEntry> kernels_;
  std::unordered_map<const void*, VariableEntry> variables_;
  std::unordered_map<const void*, TextureEntry> textures_;
};

}  // namespace simtlab::hosts::cuda
