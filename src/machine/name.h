// Names of fields and operands of forms, compared by number: code asks for them at each instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace simtlab::machine {

constexpr std::uint32_t name_number(std::string_view text) {
  std::uint32_t number = 2166136261u;  // FNV-1a
  for (const char c : text) number = (number ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return number;
}

// A name to look for. The number of a literal is known when the program is compiled.
struct Name {
  std::string_view text;
  std::uint32_t number;

  template <std::size_t n>
  consteval Name(const char (&literal)[n]) : text(literal, n - 1), number(name_number(text)) {}
  template <class Pointer>
  requires std::is_same_v<Pointer, const char*> Name(const Pointer& any) : Name(std::string_view(any)) {}
  Name(std::string_view any) : text(any), number(name_number(any)) {}
  Name(const std::string& any) : Name(std::string_view(any)) {}
};

}  // namespace simtlab::machine
