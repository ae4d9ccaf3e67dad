// Machine code that earlier runs made, kept in the user's cache by what it was made of.
//
// A kernel's code depends on the text of its module, its name, the generation and on who made it: the builds
// of this program and of the optimiser. All of that is the key. There are so many places for code and no
// more: what comes to a place takes it from what was there, so that the folder never grows beyond them.
// Nothing that goes wrong here is an error: code that is not found is made again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/function.h"

namespace simtlab::assembler {

struct Kept {
  machine::MadeCode code;  // but for `ptx` and `banks`, which are the module's
  bool optimised = false;
  std::string not_optimised;  // as in ptx::Function
};

// For one module and generation.
class KeptCode {
 public:
  // maker: all else that decides what the code is.
  KeptCode(std::string_view text, unsigned generation, std::string_view maker);

  std::optional<Kept> find(std::string_view kernel) const;
  void keep(std::string_view kernel, const Kept& kept) const;

 private:
  std::string key_of(std::string_view kernel) const;
  std::string module_;
  unsigned generation_;
};

// What a file of the folder holds. parse: nullopt, if it is not whole or of another key.
std::string written(std::string_view key, const Kept& kept);
std::optional<Kept> parsed(std::string_view bytes, std::string_view key, unsigned generation);

}  // namespace simtlab::assembler
