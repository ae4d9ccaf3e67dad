#include "ptx/types.h"

#include <array>

namespace simtlab::ptx {
namespace {

struct TypeInfo {
  std::string_view name;
  std::uint8_t bytes;
  bool floating;
  bool is_signed;
};

// Indexed by Type.
constexpr std::array<TypeInfo, 30> type_table{{
    {"", 0, false, false},           {"b8", 1, false, false},      {"b16", 2, false, false},
    {"b32", 4, false, false},        {"b64", 8, false, false},     {"b128", 16, false, false},
    {"u8", 1, false, false},         {"u16", 2, false, false},     {"u32", 4, false, false},
    {"u64", 8, false, false},        {"s8", 1, false, true},       {"s16", 2, false, true},
    {"s32", 4, false, true},         {"s64", 8, false, true},      {"f16", 2, true, true},
    {"f16x2", 4, true, true},        {"bf16", 2, true, true},      {"bf16x2", 4, true, true},
    {"tf32", 4, true, true},         {"f32", 4, true, true},       {"f64", 8, true, true},
    {"u16x2", 4, false, false},      {"s16x2", 4, false, true},    {"e4m3x2", 2, true, true},
    {"e5m2x2", 2, true, true},       {"pred", 0, false, false},    {"texref", 8, false, false},
    {"samplerref", 8, false, false}, {"surfref", 8, false, false}, {"", 0, false, false},
}};
static_assert(static_cast<std::size_t>(Type::surfref) == 28, "type_table follows Type");

constexpr std::array<std::string_view, 9> space_names{"generic", "reg",    "sreg",  "param", "local",
                                                      "shared",  "global", "const", "tex"};

}  // namespace

unsigned size_of(Type type) { return type_table[static_cast<std::size_t>(type)].bytes; }
bool is_float(Type type) { return type_table[static_cast<std::size_t>(type)].floating; }
bool is_signed(Type type) { return type_table[static_cast<std::size_t>(type)].is_signed; }
bool is_bits(Type type) { return type >= Type::b8 && type <= Type::b128; }
bool agree(Type a, Type b) { return a == b || is_bits(a) || is_bits(b) || (!is_float(a) && !is_float(b)); }
std::string_view name_of(Type type) { return type_table[static_cast<std::size_t>(type)].name; }
std::string_view name_of(Space space) { return space_names[static_cast<std::size_t>(space)]; }

}  // namespace simtlab::ptx
