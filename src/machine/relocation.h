// Kinds of relocations in cubins, as far as they are known.
#pragma once

#include <cstdint>

namespace simtlab::machine {

// The number in bits FIRST to FIRST + WIDTH - 1 of a word of 128 bits, unless said otherwise. What
// `function_` stands for is the address by which functions are called through registers, which is that of
// their code.
enum class Relocation : std::uint32_t {
  none = 0,
  absolute_32 = 1,  // 4 bytes of data
  absolute_64 = 2,  // 8 bytes of data
  generic_32 = 3,   // the same, as generic addresses
  generic_64 = 4,
  texture = 6,            // 4 bytes of constant bank 0: the handle of a texture reference
  function_data_32 = 34,  // 4 bytes of data
  function_data_64 = 35,  // 8 bytes of data
  // Of Maxwell and Pascal, in an instruction of 64 bits; below the same for later generations.
  bundled_word = 42,           // a 32-bit address in bits 20 to 51, or where JCAL goes
  bundled_low = 43,            // the low 32 bits of the address in bits 20 to 51
  bundled_high = 44,           // the high ones
  bundled_24 = 45,             // 24 bits from bit 20 on
  bundled_half = 46,           // 16 bits from bit 20 on
  bundled_function_word = 47,  // as bundled_word
  bundled_function_low = 48,   // as bundled_low
  bundled_function_high = 49,  // as bundled_high
  bundled_constant_19 = 50,    // a constant's offset in bits 20 to 33, in words, its bank behind
  bundled_constant_21 = 54,    // a constant's offset in bits 20 to 35, its bank behind
  absolute_word = 55,          // a 32-bit address in bits 32 to 63
  absolute_low = 56,           // the low 32 bits of the address in bits 32 to 63
  absolute_high = 57,          // the high ones
  absolute_call = 58,          // an address of code in bits 34 to 80, in units of 1 byte
  absolute_half = 59,          // 16 bits from bit 32 on
  absolute_24_32 = 60,         // 24 bits from bit 32 on
  function_word = 61,          // as absolute_word
  function_low = 62,           // as absolute_low
  function_high = 63,          // as absolute_high
  constant_19 = 64,            // a constant's offset in bits 40 to 58
  constant_21 = 66,            // a constant's offset in bits 38 to 58
  data_low = 70,               // 4 bytes of data: the low half of an address
  data_high = 71,              // the high one
  absolute_24_40 = 74,         // 24 bits from bit 40 on
  absolute_call_90 = 75,  // bits 2 to 9 of the address in bits 16 to 23, those from 10 on in bits 34 to 80
  data_byte_0 = 76,       // a byte of data: bits 0 to 7 of the address, and so on to 83
  data_byte_56 = 83,
  generic_byte_0 = 84,  // the same, of a generic address
  generic_byte_56 = 91,
  function_byte_0 = 92,  // the same, of a function
  function_byte_56 = 99,
  // Addresses that all GPUs of a process would share: those of functions on one GPU.
  unified_data_64 = 102,
  unified_data_32 = 103,
  unified_byte_0 = 104,
  unified_byte_56 = 111,
  unified_low = 112,     // as absolute_low
  unified_high = 113,    // as absolute_high
  unified_offset = 114,  // what a call through a register adds for functions that GPUs share
  constant_22 = 115,     // a constant's offset in bits 37 to 58
};

inline bool is_call(Relocation type) {
  return type == Relocation::absolute_call || type == Relocation::absolute_call_90 ||
         type == Relocation::bundled_word;
}
inline bool is_texture(Relocation type) { return type == Relocation::texture; }

}  // namespace simtlab::machine
