// Kinds of relocations in cubins, as far as they are known.
#pragma once

#include <cstdint>

namespace simtlab::machine {

// The number in bits FIRST to FIRST + WIDTH - 1 of a word of 128 bits, unless said otherwise.
enum class Relocation : std::uint32_t {
  none = 0,
  absolute_32 = 1,  // 4 bytes of data
  absolute_64 = 2,  // 8 bytes of data
  generic_32 = 3,   // the same, as generic addresses
  generic_64 = 4,
  texture = 6,            // 4 bytes of constant bank 0: the handle of a texture reference
  absolute_low = 56,      // the low 32 bits of the address in bits 32 to 63
  absolute_high = 57,     // the high ones
  absolute_call = 58,     // an address of code in bits 34 to 80, in units of 1 byte
  absolute_half = 59,     // 16 bits from bit 32 on
  constant_19 = 64,       // a constant's offset in bits 40 to 58
  constant_21 = 66,       // a constant's offset in bits 38 to 58
  absolute_call_90 = 75,  // bits 2 to 9 of the address in bits 16 to 23, those from 10 on in bits 34 to 80
  constant_22 = 115,      // a constant's offset in bits 37 to 58
};

}  // namespace simtlab::machine
