// The modules that are loaded on a GPU: their entries, their variables in device memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "exec/executor.h"

namespace simtlab::gpu {

// Throws Error(unsupported, "machine-generation") for machine code that the device could not run: that of
// another major version, or of a newer minor one.
void check_machine_code(const device::Device& device, const std::string& name, std::string_view code);

class ModuleTable {
 public:
  using Id = std::uint32_t;
  struct Module {
    std::shared_ptr<const ptx::Module> module;
    std::unique_ptr<exec::LoadedModule> loaded;
    // Number of the function by the kernel's name: a copy, for completing a function replaces it.
    std::map<std::string, std::uint32_t, std::less<>> entries;
    bool uses_heap = false;  // a function of it calls malloc
  };
  struct Place {
    std::uint64_t address = 0, bytes = 0;
  };

  // What becomes of PTX before it is executed.
  struct Code {
    bool optimise = false;         // optimiser/optimiser.h
    bool needs_optimiser = false;  // it is an error if there is none; else each kernel says so
    unsigned generation = 0;       // not 0: machine code is made of it (assembler/assemble.h)
  };
  // Throws Error.
  Id load(std::string name, std::string ptx, exec::GlobalMemory& memory, Code code);
  Id load(std::string name, std::string ptx, exec::GlobalMemory& memory) {
    return load(std::move(name), std::move(ptx), memory, Code{});
  }
  void unload(Id id);  // its number is not given again
  void clear() { modules_.clear(); }
  Module& at(Id id);  // asserts that it is loaded
  // Throws Error if its machine code cannot be executed.
  std::optional<std::uint32_t> find_kernel(Id id, std::string_view name);
  std::optional<Place> find_symbol(Id id, std::string_view name);  // shared variables have no place

 private:
  std::vector<Module> modules_;
};

}  // namespace simtlab::gpu
