#include "memory/dram/mapping_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "base/shown.h"

namespace simtlab::memory::dram {
namespace {

constexpr std::size_t max_pieces = 24;  // far more than any hardware has; bounds the work of a decode

struct FieldName {
  std::string_view brief, full;
};
constexpr std::array<FieldName, map_fields> names = {{{"ch", "channel"},
                                                      {"pc", "pseudo-channel"},
                                                      {"ra", "rank"},
                                                      {"bg", "bank group"},
                                                      {"ba", "bank"},
                                                      {"ro", "row"},
                                                      {"co", "column"}}};
constexpr const char* fields_hint =
    "fields: ch channel, pc pseudo-channel, ra rank, bg bank group, ba bank in the group, ro row, co column";

constexpr std::size_t index(MapField field) { return static_cast<std::size_t>(field); }

std::optional<MapField> field_named(std::string_view text) {
  for (std::size_t i = 0; i < map_fields; ++i)
    if (names[i].brief == text) return static_cast<MapField>(i);
  return std::nullopt;
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (text.empty() || code != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// One text under examination; all its errors quote it.
class Reader {
 public:
  Reader(std::string_view kind, std::string_view text, const SourcePos& where)
      : kind_(kind), text_(text), where_(where) {}

  [[noreturn]] void refuse(std::string what, std::string hint) const {
    throw Error(
        ExitCode::bad_input, "dram-mapping",
        Diagnostic{fmt::format("{} '{}': {}", kind_, shown(text_, 80), what), where_, {}, std::move(hint)});
  }

  MapField field(std::string_view name) const {
    const std::optional<MapField> found = field_named(name);
    if (!found) refuse(fmt::format("there is no field '{}'", shown(name, 20)), fields_hint);
    return *found;
  }

 private:
  std::string_view kind_, text_;
  SourcePos where_;
};

// "co:3" -> 3; "co:64B" -> 1 of bursts of 32 bytes, 0 of longer ones; "co" -> nullopt, all that is left.
struct SizedPiece {
  MapField field;
  std::optional<std::uint32_t> bits;
};

constexpr std::uint32_t most_piece_bytes = 1u << 20;

// Bits of the column of which a run of `bytes` bytes is made.
std::uint32_t bits_of_bytes(const Reader& reader, std::string_view text, std::string_view size,
                            std::uint32_t access_bytes) {
  const std::optional<std::uint32_t> bytes = number(size);
  if (!bytes || !std::has_single_bit(*bytes) || *bytes > most_piece_bytes)
    reader.refuse(fmt::format("'{}' has no size", shown(text, 20)),
                  "write a power of two of bytes, up to 1 MiB: \"co:64B\"");
  return static_cast<std::uint32_t>(std::bit_width(std::max(*bytes / access_bytes, 1u)) - 1);
}

SizedPiece read_piece(const Reader& reader, std::string_view text, std::uint32_t access_bytes) {
  const std::size_t colon = text.find(':');
  SizedPiece piece{reader.field(text.substr(0, colon)), {}};
  if (colon == std::string_view::npos) return piece;
  if (text.ends_with('B')) {
    if (piece.field != MapField::column)
      reader.refuse(fmt::format("'{}' has a size in bytes, which only a column has", shown(text, 20)),
                    fmt::format("write a number of bits: \"{}:2\"", short_name(piece.field)));
    const std::string_view size = text.substr(colon + 1, text.size() - colon - 2);
    piece.bits = bits_of_bytes(reader, text, size, access_bytes);
    return piece;
  }
  piece.bits = number(text.substr(colon + 1));
  if (!piece.bits || *piece.bits < 1 || *piece.bits > 31)
    reader.refuse(fmt::format("'{}' has no number of bits", shown(text, 20)), "write 1 to 31 bits: \"co:2\"");
  return piece;
}

std::string bits(int count) { return fmt::format("{} bit{}", count, count == 1 ? "" : "s"); }

// "12 values" or "16 values (4 bits)".
std::string amount(std::uint32_t count) {
  if (!std::has_single_bit(count)) return fmt::format("{} values", count);
  return fmt::format("{} values ({})", count, bits(std::countr_zero(count)));
}

// What is left of `count` for the piece of a field that has no number, or 1 if every piece has one.
std::uint32_t rest_of(const Reader& reader, MapField field, std::uint32_t count,
                      const std::vector<SizedPiece>& pieces) {
  std::uint64_t sized = 1;
  unsigned open = 0;
  for (const SizedPiece& piece : pieces) {
    if (piece.field != field) continue;
    if (!piece.bits) ++open;
    if (piece.bits) sized = std::min<std::uint64_t>(sized << *piece.bits, std::uint64_t{1} << 32);
  }
  const std::string name = fmt::format("{} ({})", short_name(field), long_name(field));
  if (open > 1)
    reader.refuse(fmt::format("{} is repeated: two pieces without a number each stand for all of it", name),
                  fmt::format("give all but one a number of bits: \"{}:1\"", short_name(field)));
  if (sized > count)
    reader.refuse(fmt::format("{} is repeated: its pieces have {}, but there are only {}", name,
                              bits(std::countr_zero(sized)), amount(count)),
                  "take bits away from its pieces");
  const auto taken = static_cast<std::uint32_t>(sized);
  if (count % taken != 0)
    reader.refuse(
        fmt::format("{} has {} values, which {} can't divide", name, count, bits(std::countr_zero(taken))),
        "take fewer bits, or leave the field in one piece");
  if (open == 0 && taken < count)
    reader.refuse(fmt::format("{} is lost: it has {}, the pattern {}", name, amount(count),
                              taken == 1 ? std::string("none of it") : fmt::format("only {}", taken)),
                  fmt::format("add a piece \"{}\", which takes all that is left", short_name(field)));
  return open == 0 ? 1 : count / taken;
}

// Whether hashing `from` needs `to` by any chain of terms.
bool reaches(const std::vector<HashTerm>& terms, MapField from, MapField to, std::size_t steps) {
  if (from == to) return true;
  if (steps == 0) return false;
  return std::any_of(terms.begin(), terms.end(), [&](const HashTerm& term) {
    return term.target == from && reaches(terms, term.source, to, steps - 1);
  });
}

HashTerm read_term(const Reader& reader, std::string_view text) {
  const std::size_t assign = text.find("^=");
  if (assign == std::string_view::npos)
    reader.refuse(fmt::format("'{}' is no term", shown(text, 30)),
                  "write \"bg^=ro\" or \"ba^=ro:2\", with spaces between");
  const std::string_view source = text.substr(assign + 2);
  const std::size_t colon = source.find(':');
  HashTerm term{reader.field(text.substr(0, assign)), reader.field(source.substr(0, colon)), 0};
  if (colon != std::string_view::npos) {
    const std::optional<std::uint32_t> shift = number(source.substr(colon + 1));
    if (!shift || *shift > 31)
      reader.refuse(fmt::format("'{}' has no shift", shown(text, 30)), "write 0 to 31 bits: \"ba^=ro:2\"");
    term.shift = *shift;
  }
  // A channel knows only the addresses within it.
  if (term.source == MapField::channel)
    reader.refuse(fmt::format("'{}' hashes with the channel", shown(text, 30)),
                  "a source is any field but ch; a target may be ch, too");
  return term;
}

}  // namespace

std::string_view short_name(MapField field) { return names[index(field)].brief; }

std::string_view long_name(MapField field) { return names[index(field)].full; }

std::vector<Piece> parse_pattern(std::string_view pattern, const Counts& counts, std::uint32_t access_bytes,
                                 const SourcePos& where) {
  const Reader reader("address mapping", pattern, where);
  std::vector<SizedPiece> sized;
  for (const std::string_view text : split(pattern, '-')) {
    if (sized.size() == max_pieces)
      reader.refuse(fmt::format("more than {} pieces", max_pieces), "join some");
    sized.push_back(read_piece(reader, text, access_bytes));
  }
  Counts rest{};
  for (std::size_t i = 0; i < map_fields; ++i)
    rest[i] = rest_of(reader, static_cast<MapField>(i), counts[i], sized);
  std::vector<Piece> pieces;
  for (const SizedPiece& piece : sized) {
    const std::uint32_t radix = piece.bits ? 1u << *piece.bits : rest[index(piece.field)];
    if (radix > 1) pieces.push_back({piece.field, radix});
  }
  return pieces;
}

std::vector<HashTerm> parse_hash(std::string_view hash, const SourcePos& where) {
  const Reader reader("address hash", hash, where);
  std::vector<HashTerm> terms;
  for (const std::string_view text : split(hash, ' ')) {
    if (text.empty() || hash == "none") continue;
    if (terms.size() == max_pieces)
      reader.refuse(fmt::format("more than {} terms", max_pieces), "leave some out");
    terms.push_back(read_term(reader, text));
  }
  for (const HashTerm& term : terms)
    if (reaches(terms, term.source, term.target, map_fields))
      reader.refuse(fmt::format("{} depends on itself, so that two addresses would share a place",
                                short_name(term.target)),
                    "hash with a field that is not hashed with this one: \"ba^=ro\"");
  // A target comes before what hashes its sources. There are no cycles, so that picking what no other term
  // still waits for always finds one.
  std::vector<HashTerm> ordered;
  while (!terms.empty()) {
    const auto next = std::find_if(terms.begin(), terms.end(), [&](const HashTerm& candidate) {
      return std::none_of(terms.begin(), terms.end(),
                          [&](const HashTerm& other) { return other.source == candidate.target; });
    });
    ordered.push_back(*next);
    terms.erase(next);
  }
  return ordered;
}

}  // namespace simtlab::memory::dram
