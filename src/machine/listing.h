// A kernel's machine code with labels, for people and for comparison.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "machine/decode.h"
#include "machine/image.h"
#include "machine/lines.h"
#include "machine/relocation.h"

namespace simtlab::machine {

struct ListedInstruction {
  std::uint32_t address = 0;
  Word word;
  std::variant<Instruction, Undecoded> decoded;
  std::string text = {};                     // empty: not decoded
  std::optional<std::uint64_t> target = {};  // where it may branch to
  std::string relocation = {};               // what the loader puts in: "32@lo(counter)"
  std::string file = {};                     // of the source; empty: not known
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;  // 0: not known
};

struct Listing {
  std::map<std::uint64_t, std::string> labels;  // by address: ".L_1", a function's name
  std::vector<ListedInstruction> instructions;
};

// lines, ptx: of the image (read_lines, read_ptx_lines).
Listing list_kernel(const Image& image, const ImageKernel& kernel, const SourceLines& lines = {},
                    const PtxLines& ptx = {});
// Of a kernel that was assembled (Function::machine); files: of its module.
Listing list_code(const ptx::Function& kernel, const std::map<unsigned, std::string>& files);

}  // namespace simtlab::machine
