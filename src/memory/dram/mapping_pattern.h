// The text form of an address mapping: the pattern "ro-co:3-ba-bg-co:2-pc-ch:1" as radices of digits, the
// hash "bg^=ro ba^=ro:2" as a list of terms. What they mean: address_mapping.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace simtlab::memory::dram {

// Parts of a place, in the order of Counts.
enum class MapField : std::uint8_t { channel, pseudo, rank, group, bank, row, column };
inline constexpr std::size_t map_fields = 7;

// The two letters in a pattern and the word in messages.
std::string_view short_name(MapField field);
std::string_view long_name(MapField field);

// How many values each field has.
using Counts = std::array<std::uint32_t, map_fields>;

// One piece of a pattern: a digit of its field.
struct Piece {
  MapField field = MapField::channel;
  std::uint32_t radix = 1;
};

// target ^= source >> shift, of the digits before any hashing.
struct HashTerm {
  MapField target = MapField::bank, source = MapField::row;
  std::uint32_t shift = 0;
};

// Pieces from the most significant one down; the radices of a field multiply to its count. access_bytes: of
// a burst, which a column of so many bytes is made of. Throws
// Error(bad_input, "dram-mapping"), which names the place `where` and what is unknown, lost or repeated.
std::vector<Piece> parse_pattern(std::string_view pattern, const Counts& counts, std::uint32_t access_bytes,
                                 const SourcePos& where);

// Terms such that no target is hashed after a source of its own: applied in this order each sees its source
// unhashed, in the opposite order they are undone. Throws Error(bad_input, "dram-mapping").
std::vector<HashTerm> parse_hash(std::string_view hash, const SourcePos& where);

}  // namespace simtlab::memory::dram
