// Functions of the driver that machine code calls: printf, malloc, free, assert. Arguments and results are in
// registers: from R4 on, 64-bit values in even pairs.
#include <bit>
#include <cstring>
#include <utility>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

using machine::SystemCall;

constexpr unsigned first_argument = 4, most_arguments = 4;
// Place of the packed arguments in WarpCtx::bases: that of results which nobody wants
constexpr RowRef argument_base = 3;
constexpr std::uint32_t wide_row = 2 * row_bytes;

struct Signature {
  Handler handler = nullptr;
  std::uint8_t arguments = 0;
  std::uint8_t bytes[most_arguments] = {};
  std::uint8_t result_bytes = 0;
};

Signature signature_of(SystemCall call) {
  switch (call) {
    case SystemCall::print: return {handle_print, 2, {8, 8}, 4};       // format, arguments
    case SystemCall::allocate: return {handle_heap_alloc, 1, {8}, 8};  // bytes
    case SystemCall::release: return {handle_heap_free, 1, {8}, 0};    // address
    case SystemCall::fail_assertion:
      return {handle_assert, 4, {8, 8, 4, 8}, 0};  // message, file, line, function
    case SystemCall::none: break;
  }
  return {};
}

}  // namespace

unsigned system_call_of(std::uint64_t address) {
  const std::uint64_t offset = address - machine::system_calls;
  if (offset % 16 != 0 || offset / 16 >= system_call_count) return 0;
  return static_cast<unsigned>(offset / 16);
}

void call_system(Warp& w, const XInst& at, unsigned call, std::uint32_t lanes) {
  const Signature signature = signature_of(static_cast<SystemCall>(call));
  alignas(64) std::byte packed[(most_arguments + 1) * wide_row] = {};
  ptx::Inst inst = *at.inst;  // for messages
  XInst x;
  x.inst = &inst;
  WarpCtx& ctx = w.ctx;
  const auto row_of = [&](unsigned r) { return ctx.row32(r * row_bytes); };
  unsigned next = first_argument;
  for (unsigned i = 0; i < signature.arguments; ++i) {
    const bool wide = signature.bytes[i] == 8;
    next += wide ? next % 2 : 0;
    std::byte* const row = packed + i * wide_row;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      std::memcpy(row + lane * signature.bytes[i], row_of(next) + lane, 4);
      if (wide) std::memcpy(row + lane * 8 + 4, row_of(next + 1) + lane, 4);
    }
    x.src[i] = i * wide_row | argument_base;
    inst.src[i].bytes = signature.bytes[i];
    next += wide ? 2 : 1;
  }
  x.dst = most_arguments * wide_row | argument_base;
  std::byte* const scratch_base = std::exchange(ctx.bases[argument_base], packed);
  const std::uint32_t active = ctx.mask;
  set_mask(ctx, lanes);
  signature.handler(ctx, x);
  set_mask(ctx, active);
  ctx.bases[argument_base] = scratch_base;
  const std::byte* const result = packed + most_arguments * wide_row;
  for (unsigned r = 0; r < signature.result_bytes / 4u; ++r)
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      std::memcpy(row_of(first_argument + r) + lane, result + lane * signature.result_bytes + 4 * r, 4);
    }
}

}  // namespace simtlab::exec
