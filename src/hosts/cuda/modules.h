// Modules that a program loads by itself: PTX text, cubins and fat binaries (cuModuleLoad*, cuLibraryLoad*,
// cudaLibraryLoad*). They are loaded at once, so that the call that loads says what is wrong with them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/cuda/images.h"

namespace simtlab::hosts::cuda {

// What CUmodule and CUlibrary are here; its kernels are what CUfunction and CUkernel are.
struct LoadedModule {
  Image image;
  std::string bytes;  // of a fat binary whose PTX may still be wanted
  std::map<std::string, std::unique_ptr<KernelEntry>, std::less<>> kernels;  // that were asked for
};

class Modules {
 public:
  // bytes: PTX text, an ELF file or a fat binary, in memory that the caller says is readable to its end.
  // Throws Error.
  LoadedModule* load(const void* bytes, const std::string& program, gpu::Gpu& gpu);
  // The same of a file. Throws Error(bad_input, "file-read") where it cannot be read.
  LoadedModule* load_file(const std::string& path, gpu::Gpu& gpu);
  bool unload(const void* handle, gpu::Gpu& gpu);
  void clear();  // the GPU has dropped them

  LoadedModule* find(const void* handle) const;  // null: no such module
  KernelEntry* find_kernel(const void* handle) const;
  LoadedModule* owner(const KernelEntry& kernel) const;
  // Null: it has none of that name. Throws Error where it has instructions that are not executed.
  KernelEntry* kernel(LoadedModule& module, std::string_view name, gpu::Gpu& gpu);
  // All of them; whether their instructions are executed shows when they are used.
  std::vector<KernelEntry*> kernels(LoadedModule& module, const gpu::Gpu& gpu);
  static std::vector<std::string> kernel_names(const LoadedModule& module, const gpu::Gpu& gpu);

 private:
  KernelEntry* entry(LoadedModule& module, std::string_view name);
  // size: bytes that are readable; 0: not known.
  LoadedModule* load_as(const void* bytes, std::size_t size, std::string name, gpu::Gpu& gpu);

  std::map<const void*, std::unique_ptr<LoadedModule>> modules_;
  std::map<const void*, LoadedModule*> kernels_;
  std::size_t loaded_ = 0;  // ever, for names
};

}  // namespace simtlab::hosts::cuda
