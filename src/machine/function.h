// A kernel of an image as a function of a module.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "machine/image.h"
#include "machine/lines.h"
#include "machine/symbols.h"
#include "machine/translator.h"
#include "machine/views.h"
#include "ptx/module.h"

namespace simtlab::machine {

// What the file says beside the code.
ptx::Function header_of(const Image& image, const ImageKernel& kernel);
// Decodes, links and translates its code; `function` is what header_of() made. Throws Error: bad_input
// "cubin", unsupported "machine-instruction", "machine-unresolved".
void complete(ptx::Function& function, const Image& image, const ImageKernel& kernel, const Symbols& symbols,
              const CodeLines& lines, Views& views, Purpose purpose);

// Code that no file holds.
struct MadeCode {
  unsigned generation = 0;
  std::vector<Word> words;
  std::vector<Instruction> instructions;             // what the words are
  std::map<std::uint32_t, ptx::Constant> addresses;  // that immediates are (halves of), by instruction
  std::vector<SourceLine> lines;                     // of each instruction; file: index in Module::files
  std::shared_ptr<const PtxLines> ptx;
  std::vector<std::uint32_t> ptx_lines;  // of each instruction, in `ptx`
  std::uint32_t registers = 0, stack_bytes = 0;
  ConstantBanks banks;
  std::vector<std::uint64_t> literals;  // constant bank 2
};
// `made` becomes the code of a kernel that was PTX. Throws Error(unsupported, "machine-instruction").
void set_code(ptx::Function& function, MadeCode made, Views& views);

}  // namespace simtlab::machine
