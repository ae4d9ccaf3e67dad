// Relocatable objects of device code (`nvcc -rdc=true`), joined into one file as the vendor's linker joins
// them.
#pragma once

#include <string>
#include <vector>

#include "machine/elf.h"

namespace simtlab::machine {

struct Object {
  std::string bytes, name;
};

// What happens to symbols that no object defines: whoever uses them is refused later, or now.
enum class Missing : std::uint8_t { stay, fail };

bool is_relocatable(Bytes device_elf);

// A cubin with the functions, variables and constants of all objects. Throws Error: bad_input "cubin",
// "machine-link" for objects that do not fit together, unsupported "machine-unresolved".
std::string join_objects(const std::vector<Object>& objects, Missing missing);

}  // namespace simtlab::machine
