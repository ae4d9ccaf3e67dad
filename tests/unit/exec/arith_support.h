// Runs single arithmetic handlers of every instruction set that this host has against a reference written for
// one lane.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "exec/warp.h"

namespace arith {

using namespace simtlab;
using exec::Handler;
using exec::WarpCtx;
using exec::XInst;
using ptx::Op;
using ptx::Type;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

struct InstructionSet {
  const char* name;
  Handler (*select)(const ptx::Inst&);
};
const std::vector<InstructionSet>& instruction_sets();  // those that this host can run

template <class To, class From>
To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
inline float f32(u64 bits) { return bits_as<float>(static_cast<u32>(bits)); }
inline double f64(u64 bits) { return bits_as<double>(bits); }
inline u64 bits(float v) { return bits_as<u32>(v); }
inline u64 bits(double v) { return bits_as<u64>(v); }

// Deterministic random numbers (splitmix64).
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  u64 below(u64 n) { return next() % n; }

 private:
  u64 state_;
};

// A value of a type as a row holds it: edge cases half of the time. Small: shift amounts, lanes, field
// positions.
u64 sample(Random& random, Type type);
const std::vector<u64>& edges(Type type);
unsigned bytes_of(Type type);
std::string text_of(u64 value, Type type);

struct Sources {
  u64 v[4] = {};
  bool p[2] = {};
  u32 lane = 0;
};
struct Result {
  u64 d = 0;
  bool p = false, q = false;
};
using Reference = std::function<Result(const Sources&)>;

// One instruction form: how many results and sources it has, and of which types.
struct Form {
  Op op = Op::nop;
  Type type = Type::none, stype = Type::none;
  ptx::Mods mods{};
  std::vector<Type> sources{};  // types of the row sources
  Type result = Type::none;     // none: no row result
  unsigned predicate_results = 0, predicate_sources = 0;
  unsigned result_bytes = 0;                         // register width if wider than `result`
  std::vector<unsigned> source_bytes{};              // register widths if wider than the types
  std::function<bool(u64 got, u64 want)> accepts{};  // default: equal
  std::string name() const;
};

struct Warp {
  std::array<std::array<u64, 32>, 4> sources{};
  u32 predicates[2] = {};
};
struct Outcome {
  std::array<u64, 32> d{};
  u32 p = 0, q = 0, carry = 0;
};
inline constexpr u64 untouched = 0xa5a5a5a5a5a5a5a5ull;

// alias: source whose row overlaps the result's (-1: none), second_half: at the upper half of a 64-bit
// result.
Outcome execute(const InstructionSet& isa, const Form& form, const Warp& warp, u32 mask, int alias = -1,
                bool second_half = false, u32 carry = 0);

// Runs a form on samples with full and partial masks, with and without aliased rows, on every instruction
// set.
void check(const Form& form, const Reference& reference, unsigned rounds = 40);

// The host rounds so while it lives.
class HostRounding {
 public:
  explicit HostRounding(ptx::Rounding mode) {
    std::fesetround(mode == ptx::Rounding::rz   ? FE_TOWARDZERO
                    : mode == ptx::Rounding::rm ? FE_DOWNWARD
                    : mode == ptx::Rounding::rp ? FE_UPWARD
                                                : FE_TONEAREST);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
};

}  // namespace arith
