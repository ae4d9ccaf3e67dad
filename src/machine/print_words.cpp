// Words of an instruction's name that depend on several fields.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "machine/instruction.h"
#include "machine/syntax.h"

namespace simtlab::machine {
namespace {

constexpr unsigned eight_bits = 0, half_float = 1, single_float = 2;
constexpr unsigned word_size = 2;  // of integers: 8, 16, 32, 64 bits

std::string float_name(unsigned code) {
  constexpr std::string_view names[] = {"", "F16", "F32", "F64", "BF16"};
  return std::string(code < std::size(names) ? names[code] : "");
}

std::string integer_name(unsigned size, bool is_signed) {
  return fmt::format("{}{}", is_signed ? 'S' : 'U', 8u << size);
}

std::string to_float(const Instruction& i) { return float_name(i.field("dst")); }
std::string from_float(const Instruction& i) { return float_name(i.field("src")); }
// f32 is not written.
std::string to_odd_float(const Instruction& i) {
  return i.field("dst") == single_float ? std::string() : to_float(i);
}
std::string from_odd_float(const Instruction& i) {
  return i.field("src") == single_float ? std::string() : from_float(i);
}
// s32 is not written.
std::string odd_integer(unsigned size, bool is_signed) {
  return size == word_size && is_signed ? std::string() : integer_name(size, is_signed);
}
std::string to_integer(const Instruction& i) { return odd_integer(i.field("dst"), i.field("signed") != 0); }
std::string from_integer(const Instruction& i) { return odd_integer(i.field("src"), i.field("signed") != 0); }

// Which half of a register an f16 is taken from.
std::string half_part(const Instruction& i) {
  if (i.field("src") != half_float && i.field("f16") == 0) return {};
  for (std::size_t o = 0; o < i.operand_count(); ++o)
    if (i.operands[o].part == 1) return "H1";
  return {};
}

// Which byte or half of a register an integer is taken from.
std::string byte_part(const Instruction& i) {
  const unsigned part = i.field("sub"), size = i.field("src");
  if (part == 0 || size > 1) return {};
  return size == eight_bits ? fmt::format("B{}", part) : part == 1 ? std::string("H1") : std::string();
}

std::string product_a(const Instruction& i) {
  return integer_name(i.field("mode") == 0 ? 0 : 1, i.field("ta") != 0);
}
std::string product_b(const Instruction& i) { return integer_name(0, i.field("tb") != 0); }

// What ptxas uses IMAD for beside products has names of its own.
std::string imad(const Instruction& i) {
  const bool is_unsigned = i.field("u32") == 0;
  const auto with_type = [&](std::string name) { return is_unsigned ? name + ".U32" : name; };
  const auto is_zero = [](const Operand& o) {
    return o.kind == OperandKind::reg && o.number == zero_register;
  };
  const Operand &a = i.operands[2], &b = i.operands[3], &c = i.operands[4];
  const bool uniform = b.kind == OperandKind::ureg || c.kind == OperandKind::ureg;
  if (!uniform && (is_zero(a) || is_zero(b))) return with_type("MOV");
  if (b.kind == OperandKind::immediate) {
    const auto factor = static_cast<std::uint32_t>(b.value);
    if (factor == 0 || (factor == 1 && is_zero(c))) return with_type("MOV");
    if (factor == 1) return with_type("IADD");
    // A shift by 16 is written as the product of a half.
    if (is_zero(c) && std::has_single_bit(factor) && b.value > 0 && factor != 0x10000)
      return with_type("SHL");
  }
  return is_unsigned ? "U32" : "";
}

std::string saturates(const Instruction& i) { return (i.field("dst") & 2u) != 0 ? "SATFINITE" : ""; }
std::string packed_brain(const Instruction& i) { return (i.field("dst") & 1u) != 0 ? "BF16" : ""; }

// From Hopper on to and from 8-bit floats, too: two formats, by the low bit of dst and src.
bool packs_bytes(const Instruction& i) { return (i.field("sat_unpack") & 1u) != 0; }
bool unpacks_bytes(const Instruction& i) { return i.field("src") != 0; }
std::string packed_to(const Instruction& i) {
  const bool odd = (i.field("dst") & 1u) != 0;
  return packs_bytes(i) ? odd ? "E4M3" : "E5M2" : odd ? "BF16" : "F16";
}
std::string packed_from(const Instruction& i) {
  constexpr std::string_view names[] = {"F32", "F16", "E5M2", "E4M3"};
  return std::string(names[i.field("src") & 3u]);
}
std::string merged(const Instruction& i) {
  if (unpacks_bytes(i)) return "UNPACK_B";
  if (i.field("merge") == 0) return "PACK_AB";
  return packs_bytes(i) ? "PACK_AB_MERGE_C" : "MERGE_C";
}

std::string packed_integer(const Instruction& i) {
  constexpr unsigned bits[] = {8, 16, 2, 4};
  return fmt::format("{}{}", i.field("s8") != 0 ? 'S' : 'U', bits[i.field("b77") & 3u]);
}

std::string matrix_a(const Instruction& i) {
  return fmt::format("{}{}", i.field("sa") != 0 ? 'S' : 'U', i.field("a4") != 0 ? 4 : 8);
}
std::string matrix_b(const Instruction& i) {
  return fmt::format("{}{}", i.field("sb") != 0 ? 'S' : 'U', i.field("b4") != 0 ? 4 : 8);
}
std::string row_a(const Instruction& i) { return i.field("ra") != 0 ? "COL" : "ROW"; }
std::string row_b(const Instruction& i) { return i.field("rb") != 0 ? "COL" : "ROW"; }

std::string reuse_of_metadata(const Instruction& i) {
  const int at = i.form->operand("reuseRe");
  return at >= 0 && i.operands[static_cast<std::size_t>(at)].value != 0 ? "reuse" : "";
}

std::string reduction(const Instruction& i) {
  constexpr unsigned reduce = 2;
  constexpr std::string_view names[] = {"POPC", "AND", "OR", ""};
  return i.field("mode") == reduce ? std::string(names[i.field("red") & 3u]) : std::string();
}

std::string triple_format(const Instruction& i) {
  const bool halves = (i.field("b73") & 1u) != 0, is_signed = i.field("s32") != 0;
  std::string out = halves ? (is_signed ? "S16x2" : "U16x2") : is_signed ? "" : "U32";
  if ((i.field("b73") & 8u) != 0) out += out.empty() ? "RELU" : ".RELU";
  return out;
}

std::string opted_out(const Instruction& i) { return (i.field("b75") & 1u) != 0 ? "OPTOUT" : ""; }

std::string at_most(const Instruction& i) {
  const int at = i.form->operand("le");
  return i.field("mode") != 0 && at >= 0 && i.operands[static_cast<std::size_t>(at)].value != 0 ? "LE" : "";
}

// M x N x K of a warp group's product.
std::string wide_shape(const Instruction& i) {
  constexpr std::array<unsigned, 18> columns = {8,   16,  24,  32,  48,  64,  80,  96,  112,
                                                128, 144, 160, 176, 192, 208, 224, 240, 256};
  auto code = static_cast<unsigned>(i.operands[static_cast<std::size_t>(i.form->operand("size"))].value);
  const auto listed = [&](unsigned index, unsigned k) {
    return index < columns.size() ? fmt::format("64x{}x{}", columns[index], k)
                                  : fmt::format("INVALID{}", code);
  };
  // Of these the highest bit has no meaning
  if (i.mnemonic() != "HGMMA") code %= 64;
  if (i.mnemonic() == "IGMMA") return code % 3 == 0 ? listed(code / 3, 32) : listed(~0u, 0);
  if (i.mnemonic() == "BGMMA") return listed(code, 256);
  if (i.mnemonic() == "QGMMA") return code < 32 ? fmt::format("64x{}x32", 8 * (code + 1)) : listed(~0u, 0);
  return code < 64 ? fmt::format("64x{}x{}", 8 * (code % 32 + 1), code < 32 ? 16 : 8) : listed(~0u, 0);
}

// Signs and transpositions that belong to descriptors. A's are at A's register where A is in registers.
std::string matrix_flags(const Instruction& i) {
  const bool a_in_registers = i.form->operand("Ra") >= 0;
  std::string out;
  const auto add = [&](std::string_view field, std::string_view word) {
    if (i.field(field) != 0) out.append(out.empty() ? "" : ".").append(word);
  };
  if (!a_in_registers) {
    add("negA", "negA");
    add("neg", "negA");
  }
  add("negB", "negB");
  if (!a_in_registers) add("tnspA", "tnspA");
  add("tnspB", "tnspB");
  return out;
}

// Types of the factors of video instructions; those that are most often meant are not written.
std::string video_types(const Instruction& i) {
  const auto type = [](bool is_signed, unsigned part) {
    return integer_name(part < 4 ? 0 : part < 6 ? 1 : word_size, is_signed);
  };
  const bool immediate = i.form->field("vreg") < 0;
  constexpr unsigned any_half = 4;
  const std::string a = type(i.field("sa") != 0, i.field("va"));
  const std::string b = type(i.field("sb") != 0, immediate ? any_half : i.field("vb"));
  // Pascal always writes those of products. How far a shift goes has no sign.
  constexpr unsigned pascal = 60;
  if (i.mnemonic() == "VMAD" && i.generation >= pascal) return fmt::format("{}.{}", a, b);
  const bool is_shift = i.form->field("w") >= 0;
  const bool usual = is_shift ? immediate || b == "U32" : immediate ? i.field("sb") != 0 : b == "S32";
  return a == "S32" && usual ? std::string() : fmt::format("{}.{}", a, b);
}

// Textures of Maxwell and Pascal: the bits that keep operands elsewhere.
std::string phase(const Instruction& i) {
  constexpr std::string_view names[] = {"", "T", "P", "INVALIDPHASE3"};
  return std::string(names[i.control.reuse & 3u]);
}

struct Named {
  std::string_view name;
  ComputedWord word;
};
constexpr Named words[] = {{"to_float", to_float},
                           {"from_float", from_float},
                           {"to_odd_float", to_odd_float},
                           {"from_odd_float", from_odd_float},
                           {"to_integer", to_integer},
                           {"from_integer", from_integer},
                           {"half_part", half_part},
                           {"byte_part", byte_part},
                           {"product_a", product_a},
                           {"product_b", product_b},
                           {"imad", imad},
                           {"saturates", saturates},
                           {"packed_brain", packed_brain},
                           {"packed_to", packed_to},
                           {"merged", merged},
                           {"opted_out", opted_out},
                           {"packed_from", packed_from},
                           {"packed_integer", packed_integer},
                           {"matrix_a", matrix_a},
                           {"matrix_b", matrix_b},
                           {"row_a", row_a},
                           {"row_b", row_b},
                           {"reuse_of_metadata", reuse_of_metadata},
                           {"reduction", reduction},
                           {"triple_format", triple_format},
                           {"at_most", at_most},
                           {"wide_shape", wide_shape},
                           {"matrix_flags", matrix_flags},
                           {"video_types", video_types},
                           {"phase", phase}};

}  // namespace

ComputedWord computed_word(std::string_view name) {
  const auto* found = std::ranges::find(words, name, &Named::name);
  return found == std::end(words) ? nullptr : found->word;
}

}  // namespace simtlab::machine
