// Encoding of video instructions in Mods (vadd ... vset4).
//
// Types: Inst::type = result, Inst::stype = a; b is signed if src_type_hi & video_b_signed. vset has no
// result type: type = a, stype = b. The accumulate or merge operation of the scalar forms is Mods::atom (add,
// min, max; none), `.add` of the SIMD forms too. Mods::sat, Mods::wrap (else clamp; vshl and vshr) and
// Mods::compare (vset) as usual. src = {a, b, c}; c is absent if the form has two sources.
#pragma once

#include <cstdint>

namespace simtlab::ptx {

inline constexpr std::uint8_t video_b_signed = 1;  // bits of Mods::src_type_hi
inline constexpr std::uint8_t video_shr7 = 2, video_shr15 = 4;
inline constexpr std::uint8_t video_neg_a = 8, video_neg_b = 16, video_neg_c = 32, video_plus_one = 64;

// Scalar forms: a field of 4 bits each for a, b and the result: 0 = whole word, 1..4 = b0..b3, 5 = h0, 6 =
// h1.
inline constexpr unsigned video_a_shift = 0, video_b_shift = 4, video_d_shift = 8;
inline std::uint32_t video_scalar_selector(std::uint32_t video, unsigned shift) {
  return video >> shift & 15u;
}

// SIMD forms: result mask in bits 0..3 (bit i = part i of the result is written, others are taken from c),
// then selectors of 3 bits for each part: a in bits 4..15, b in bits 16..27. Selector s of part i: halves s =
// 0..3, bytes s = 0..7, numbered through the pair (a, b) as in the PTX manual: a's parts first.
// Every byte of a with the same byte of b.
inline constexpr std::uint32_t video_every_byte =
    15u | (0u | 1u << 3 | 2u << 6 | 3u << 9) << 4 | (4u | 5u << 3 | 6u << 6 | 7u << 9) << 16;
inline std::uint32_t video_mask(std::uint32_t video) { return video & 15u; }
inline std::uint32_t video_simd_selector(std::uint32_t video, bool of_b, unsigned part) {
  return video >> ((of_b ? 16u : 4u) + 3u * part) & 7u;
}

}  // namespace simtlab::ptx
