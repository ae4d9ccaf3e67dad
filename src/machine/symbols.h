// Where the symbols of a cubin are: variables, constant banks, code, functions of the driver.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "machine/code.h"
#include "machine/image.h"

namespace simtlab::machine {

// What a symbol names.
struct SymbolPlace {
  enum class Kind : std::uint8_t {
    unknown,
    variable,        // byte `offset` of Module::variables[index]
    code,            // byte `offset` of the section `index` of the image
    shared,          // byte `offset` of the block's shared memory
    dynamic_shared,  // byte `offset` behind the kernel's own shared memory
    system_call,     // index: SystemCall
  };
  Kind kind = Kind::unknown;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;
  unsigned bank = 0;        // of a constant bank
  std::size_t section = 0;  // of the image
};

// What to do about a symbol that is not defined.
inline constexpr const char* unresolved_hint =
    "link the file that defines it too: nvcc -dlink, simtlab run --link FILE, or cuLinkAddFile";

// Whether the driver provides the function.
bool is_system_call(std::string_view name);
// Whether a symbol is an array of shared memory whose size the launch says.
bool is_dynamic_shared(const ElfSymbol& symbol);

// Turns the data sections of an image into variables of a module: ".nv.global", ".nv.global.init",
// ".nv.constant3", ".nv.constant2.KERNEL" and so on, each with the symbols in it as parts of it
// (ptx::Variable::within). Bank 0 belongs to launches.
class Symbols {
 public:
  Symbols(const Image& image, ptx::Module& module);

  SymbolPlace place_of(std::uint32_t symbol) const;
  // Puts addresses into the variables.
  void relocate();
  // Address of a byte of a section of code (function_window).
  std::uint64_t code_address(std::size_t section, std::uint64_t offset) const;
  // Sections of functions whose address the program takes: what may be called through a register.
  const std::vector<std::size_t>& taken_functions() const;
  // Section of the image to the variable that it became.
  const std::map<std::size_t, std::uint32_t>& variables() const { return variables_; }
  // Words of a kernel's constant bank 0 that are handles of texture references, by offset: variables of the
  // module. `section` is that of the bank.
  const std::map<std::uint32_t, std::uint32_t>& textures_in(std::size_t section) const;

 private:
  void add_section(std::size_t index);
  void add_parts();
  void add_textures(std::size_t index);
  std::uint32_t texture_named(const std::string& name);
  void relocate(std::size_t section, std::uint32_t variable);

  const Image& image_;
  ptx::Module& module_;
  std::map<std::size_t, std::uint32_t> variables_;
  std::map<std::size_t, std::map<std::uint32_t, std::uint32_t>> textures_;
  std::map<std::size_t, std::uint64_t> code_begins_;  // in the window, by section
  mutable std::optional<std::vector<std::size_t>> taken_;
};

}  // namespace simtlab::machine
