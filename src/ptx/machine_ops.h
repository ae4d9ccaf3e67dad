// Bits of Mods::video for the operations that only machine code has (Op::iadd3 and those behind it), and for
// barriers in shared memory.
#pragma once

#include <cstdint>

namespace simtlab::ptx {

// iadd3: bits 0, 1, 2: a, b, c are inverted. imad, imad_wide, lea: below. From sum_constant_shift on: a
// number that is added, too; so -b is ~b and 1.
inline constexpr unsigned sum_constant_shift = 16;

inline constexpr std::uint32_t product_negated = 1, addend_negated = 2, addend_inverted = 4;

// xmad: the upper half of a, of b; the half of a, of b, is signed; the product is shifted by 16 bits; the
// lower half of b is the upper one of the result. From xmad_mode_at on what is added: c, its lower half, its
// upper half, c less 2^16 for each negative factor whose partner's other half is not 0 (what makes IADD3.RS,
// which adds words without signs, the upper word of a signed product), c and b * 2^16.
inline constexpr std::uint32_t xmad_a_high = 1, xmad_b_high = 2, xmad_a_signed = 4, xmad_b_signed = 8,
                               xmad_shifted = 16, xmad_merged = 32;
inline constexpr unsigned xmad_mode_at = 8;
enum class XmadMode : std::uint8_t { c, c_low, c_high, c_signs, c_and_b };

// lea: bits 0 to 4: how far a is shifted.
inline constexpr std::uint32_t lea_high = 32,  // the high word of c:a, shifted
    lea_extended = 64,                         // ... with a's sign in place of c
    lea_scaled_inverted = 128, lea_b_inverted = 256;

// ld, st: the 64-bit address is in two rows side by side, of low and of high words.
inline constexpr std::uint32_t address_in_halves = 1;
// ld: asks a barrier in shared memory whose state is that of sm_90 (arrives_counted).
inline constexpr std::uint32_t asks_barrier = 2;

// ld from shared memory: a lane takes the lock of its place, if nobody has it, which its last result, a
// predicate, says. st: gives it back. Places share shared_locks locks. (Fermi and Kepler, whose shared memory
// has no atomics.)
inline constexpr std::uint32_t takes_lock = 4, gives_lock = 8;
inline constexpr unsigned shared_locks = 1024;

// add, sub, mul, fma of f64: operands are in two rows side by side likewise. Bit 2 * i: the absolute value of
// source i; the bit above: its sign is changed, afterwards.
inline constexpr std::uint32_t f64_in_halves = 256, f64_signs = 63;

// prmt whose selector is known: this bit and the selector.
inline constexpr std::uint32_t prmt_known = 1u << 31;

// p2r, r2p: the predicates `first` + k for the bits k of `mask` (bits 0 to 7), where bit 0 of the mask stands
// in the register (from bit 8 on), `first` (from bit 16 on).
inline constexpr unsigned predicates_shift_at = 8, predicates_first_at = 16;

// atom, red with inc of 64 bits: a thread arrives at a barrier in shared memory.
inline constexpr std::uint32_t arrives_ampere = 1, arrives_hopper = 2, arrives_hopper_and_drops = 3;
// ... of PTX: b has how many arrive (20 bits), whether they don't come again, and from bit 32 on how many
// bytes more are under way. The state is that of sm_90.
inline constexpr std::uint32_t arrives_counted = 4;
inline constexpr std::uint64_t arrival_drops = std::uint64_t{1} << 20;
// Fields of that state: how many are expected, and how many have not arrived, both taken from 2^20, bytes
// under way.
constexpr std::uint32_t expected_arrivals(std::uint64_t state) {
  return static_cast<std::uint32_t>(-(state >> 1) & ((1u << 20) - 1));
}
constexpr std::uint32_t pending_arrivals(std::uint64_t state) {
  return static_cast<std::uint32_t>(-(state >> 43) & ((1u << 20) - 1));
}
constexpr std::int32_t bytes_under_way(std::uint64_t state) {
  const auto field = static_cast<std::int32_t>(state >> 21 & ((1u << 22) - 1));
  return field >= 1 << 21 ? field - (1 << 22) : field;
}
inline constexpr unsigned arrival_bytes_at = 32;

// fence, between the ordinary way to memory and that of bulk copies (fence.proxy.async).
inline constexpr std::uint32_t fence_of_proxies = 1;

// A bulk copy: cp.async of a size that is an operand (Mods::copy_bytes is 0). In Step::addresses2 it stands
// above the address in shared memory.
inline constexpr unsigned bulk_bytes_at = 32;
// nop: groups of bulk copies, which have happened when they are issued (Mods::video).
inline constexpr std::uint32_t closes_bulk_group = 1, waits_for_bulk = 2, waits_for_bulk_reads = 3;

// atom, red with add of b64 and b128: sums of the floats in them.
inline constexpr std::uint32_t adds_f32 = 1, adds_f16 = 2, adds_bf16 = 3;

}  // namespace simtlab::ptx
