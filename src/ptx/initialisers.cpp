// Initial contents of variables.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "ptx/layout.h"

namespace simtlab::ptx {
namespace {

using Value = AstVariable::Value;

std::uint64_t number_bits(const ModuleScope& scope, const Value& v, Type type) {
  if (v.kind == Value::Kind::integer) {
    // C rules for a floating-point element: the value, not its bits.
    const auto value =
        v.is_unsigned ? static_cast<double>(v.bits) : static_cast<double>(static_cast<std::int64_t>(v.bits));
    if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
    return v.bits;
  }
  const bool single = v.kind == Value::Kind::float32;
  const double value = single ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v.bits)))
                              : std::bit_cast<double>(v.bits);
  if (type == Type::f32 || type == Type::b32)
    return single ? v.bits : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == Type::f64 || type == Type::b64) return single ? std::bit_cast<std::uint64_t>(value) : v.bits;
  scope.source->fail(v.at, "ptx-operand",
                     fmt::format("floating-point value in an array of .{}", name_of(type)));
}

// Byte number of a mask such as 0xff00, or fails.
unsigned mask_byte(const ModuleScope& scope, const Value& v) {
  for (unsigned byte = 0; byte < 8; ++byte)
    if (v.mask == std::uint64_t{0xff} << (8 * byte)) return byte;
  scope.source->fail(v.at, "ptx-operand", fmt::format("mask 0x{:x} does not select one byte", v.mask));
}

void add_symbol(ModuleScope& scope, Variable& out, const Value& v, unsigned element, VirtualFunction* user) {
  Variable::Reloc reloc{};
  reloc.offset = v.offset;
  reloc.addend = static_cast<std::int64_t>(v.bits);
  reloc.bytes = static_cast<std::uint8_t>(element);
  reloc.generic = v.generic;
  if (const auto var = scope.variables.find(v.symbol); var != scope.variables.end()) {
    reloc.symbol = var->second;
    if (scope.module->variables[var->second].space == Space::shared)
      scope.source->fail(v.at, "ptx-operand", "the address of a shared variable can't be an initial value");
  } else if (const auto f = scope.functions.find(v.symbol); f != scope.functions.end()) {
    reloc.is_function = true;
    reloc.symbol = f->second;
    if (user != nullptr) user->addresses_taken.push_back(f->second);
  } else if (scope.ast->function_index.contains(v.symbol)) {
    return scope.report(v.at,
                        fmt::format("function '{}' is declared but not defined", v.symbol.substr(0, 256)),
                        std::string(hint_for_undefined(v.symbol)));
  } else {
    scope.source->fail(v.at, "ptx-undeclared", fmt::format("'{}' is not declared", v.symbol.substr(0, 256)));
  }
  if (v.mask == 0) {
    if (element != 8) scope.source->fail(v.at, "ptx-operand", "an address needs an element of 64 bits");
    out.relocs.push_back(reloc);
    return;
  }
  const unsigned byte = mask_byte(scope, v);
  if (element != 1) scope.source->fail(v.at, "ptx-operand", "a masked address needs an element of 8 bits");
  reloc.shift = static_cast<std::uint8_t>(8 * byte);
  // Eight bytes of one address in a row are the address.
  if (!out.relocs.empty() && byte != 0) {
    Variable::Reloc& last = out.relocs.back();
    if (last.shift == 0 && last.bytes == byte && last.offset + byte == v.offset &&
        last.symbol == reloc.symbol && last.is_function == reloc.is_function && last.addend == reloc.addend) {
      ++last.bytes;
      return;
    }
  }
  out.relocs.push_back(reloc);
}

}  // namespace

void fill_initialisers(ModuleScope& scope, const std::vector<const AstVariable*>& origin,
                       std::vector<VirtualFunction>& functions) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < origin.size(); ++i) {
    const AstVariable& from = *origin[i];
    Variable& out = scope.module->variables[i];
    if (!from.has_initial || from.initial.empty() || from.reference != Type::none) continue;
    const unsigned element = size_of(from.type);
    // Only up to the last value that is given: a huge array with three initialised elements stays small.
    std::uint64_t bytes = 0;
    for (const Value& v : from.initial) bytes = std::max(bytes, v.offset + element);
    if (bytes > from.bytes)
      scope.source->fail(from.at, "ptx-operand",
                         fmt::format("initialiser of '{}' has {} bytes, the variable has {}",
                                     out.name.substr(0, 64), bytes, from.bytes));
    total += bytes;
    if (total > Limits::initial_bytes)
      scope.source->fail(from.at, "ptx-limit",
                         fmt::format("initial values need more than {} MiB", Limits::initial_bytes >> 20));
    out.initial.assign(bytes, std::byte{0});
    for (const Value& v : from.initial) {
      if (v.kind == Value::Kind::symbol) {
        add_symbol(scope, out, v, element, functions.empty() ? nullptr : &functions.front());
        continue;
      }
      const std::uint64_t bits = number_bits(scope, v, from.type);
      std::memcpy(out.initial.data() + v.offset, &bits, std::min<std::size_t>(element, 8));
    }
  }
}

}  // namespace simtlab::ptx
