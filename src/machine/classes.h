// What opcodes of machine code mean to the timing model: the tables of data/sass, one a generation.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "device/document.h"
#include "ptx/inst.h"

namespace simtlab::machine {

// An opcode as the model knows it.
struct Meaning {
  ptx::Op op = ptx::Op::nop;
  ptx::OpClass op_class = ptx::OpClass::int_alu;
  ptx::Type type = ptx::Type::none;
  ptx::Space space = ptx::Space::generic;
  bool known = false;
};

class SassTable {
 public:
  // Of a binary version as traces state it (70, 75, 80, 86, 90). Throws Error: unsupported "sass-generation",
  // bad_input "sass-table".
  static SassTable of_version(unsigned binary_version);
  // The same, read once.
  static const SassTable& shipped(unsigned binary_version);
  explicit SassTable(const std::vector<device::Document>& chain);  // the first one wins

  // Of a whole mnemonic: "LDG.E.64.SYS". The longest entry that it begins with, in whole words; else int_alu,
  // and not known.
  Meaning of(std::string_view mnemonic) const;

 private:
  std::map<std::string, Meaning, std::less<>> entries_;
};

// "volta", "turing", "ampere", "hopper"; empty: none.
std::string_view generation(unsigned binary_version);

// Bytes a lane, from the mnemonic: its first number (LDG.E.64), or that of U8, S16; 4 without one.
unsigned access_bytes(std::string_view mnemonic);
// The decoded form of an instruction; registers are added by the caller.
ptx::Inst decode(const Meaning& meaning, std::string_view mnemonic);

}  // namespace simtlab::machine
