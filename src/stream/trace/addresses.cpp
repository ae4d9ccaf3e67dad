#include "stream/trace/addresses.h"

namespace simtlab::stream::trace {
namespace {

enum How : std::uint8_t { predicted, new_base, new_stride, rows, list, none };
constexpr std::uint8_t changed = 8;
constexpr std::uint8_t no_pattern = 6;

void check(std::uint64_t all_bits) {
  if (all_bits >> address_bits != 0)
    throw Malformed("an address has more than " + std::to_string(address_bits) + " bits");
}

bool follows(const AddressState& s, const std::uint64_t* addresses, std::uint32_t mask) {
  std::uint64_t difference = 0;
  if (mask == ~0u && s.row == 5) {
    std::uint64_t expected = s.base;
    for (unsigned lane = 0; lane < 32; ++lane, expected += s.stride) difference |= addresses[lane] ^ expected;
    return difference == 0;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (addresses[lane] != lane_address(s, lane)) return false;
  }
  return true;
}

// Distance of two lanes' addresses by lane; false: not whole.
bool stride_of(const std::uint64_t* addresses, unsigned a, unsigned b, std::uint64_t& stride) {
  const auto distance = static_cast<std::int64_t>(addresses[b] - addresses[a]);
  const auto lanes = static_cast<std::int64_t>(b - a);
  if (distance % lanes != 0) return false;
  stride = static_cast<std::uint64_t>(distance / lanes);
  return true;
}

bool find_uniform(AddressState& s, const std::uint64_t* addresses, std::uint32_t mask) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  s.row = 5;
  if (const std::uint32_t rest = mask & (mask - 1); rest != 0) {
    if (!stride_of(addresses, first, static_cast<unsigned>(std::countr_zero(rest)), s.stride)) return false;
  }
  s.base = addresses[first] - first * s.stride;
  return follows(s, addresses, mask);
}

bool find_rows(AddressState& s, const std::uint64_t* addresses, std::uint32_t mask) {
  for (std::uint8_t row = 4; row >= 1; --row) {
    const unsigned width = 1u << row;
    if ((mask & 1) == 0 || (mask >> 1 & 1) == 0 || (mask >> width & 1) == 0) continue;
    s.row = row;
    s.base = addresses[0];
    s.stride = addresses[1] - addresses[0];
    s.row_stride = addresses[width] - addresses[0];
    if (follows(s, addresses, mask)) return true;
  }
  return false;
}

}  // namespace

void put_addresses(Buffer& out, AddressState& state, const std::uint64_t* addresses, std::uint32_t mask,
                   ptx::Space space, std::uint16_t bytes) {
  if (addresses == nullptr) return out.push_back(none);
  const std::uint64_t old_base = state.base;
  const bool other = state.space != static_cast<std::uint8_t>(space) || state.bytes != bytes;
  const std::uint8_t flag = other ? changed : 0;
  const auto head = [&](unsigned how) {
    out.push_back(static_cast<std::uint8_t>(how | flag));
    if (!other) return;
    state.space = static_cast<std::uint8_t>(space);
    state.bytes = bytes;
    out.push_back(state.space);
    put_number(out, bytes);
  };
  if (state.row != no_pattern) {
    state.base += state.step;
    if (follows(state, addresses, mask)) return head(predicted);
    // The same pattern elsewhere.
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    state.base += addresses[first] - lane_address(state, first);
    if (follows(state, addresses, mask)) {
      state.step = state.base - old_base;
      head(new_base);
      return put_signed(out, state.step);
    }
  }
  if (find_uniform(state, addresses, mask)) {
    state.step = state.base - old_base;
    head(new_stride);
    put_signed(out, state.step);
    return put_signed(out, state.stride);
  }
  if (find_rows(state, addresses, mask)) {
    state.step = state.base - old_base;
    head(rows | static_cast<unsigned>(state.row) << 4);
    put_signed(out, state.step);
    put_signed(out, state.stride);
    return put_signed(out, state.row_stride);
  }
  head(list);
  state.row = no_pattern;
  std::uint64_t last = old_base;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[std::countr_zero(rest)];
    put_signed(out, address - last);
    last = address;
  }
  state.base = addresses[std::countr_zero(mask)];
}

bool get_addresses(Bytes& in, AddressState& state, std::uint64_t* addresses, std::uint32_t mask) {
  const std::uint8_t head = in.byte();
  const unsigned how = head & 7;
  if (how == none) return false;
  if ((head & changed) != 0) {
    state.space =
        static_cast<std::uint8_t>(in.number(static_cast<std::uint64_t>(ptx::Space::tex), "a memory space"));
    state.bytes = static_cast<std::uint16_t>(in.number(32, "the bytes of an access"));
    const auto space = static_cast<ptx::Space>(state.space);
    const bool banked =
        space == ptx::Space::shared || space == ptx::Space::constant || space == ptx::Space::param;
    if (banked && !std::has_single_bit(state.bytes))
      throw Malformed("an access of " + std::to_string(state.bytes) + " bytes");
  }
  std::uint64_t seen = 0;  // bits of all addresses
  switch (how) {
    case predicted: state.base += state.step; break;
    case new_base:
      state.step = in.signed_number();
      state.base += state.step;
      break;
    case new_stride:
      state.step = in.signed_number();
      state.base += state.step;
      state.stride = in.signed_number();
      state.row = 5;
      break;
    case rows:
      state.row = head >> 4 & 7;
      if (state.row == 0 || state.row > 4) throw Malformed("rows of lanes that do not exist");
      state.step = in.signed_number();
      state.base += state.step;
      state.stride = in.signed_number();
      state.row_stride = in.signed_number();
      break;
    case list: {
      state.row = no_pattern;
      std::uint64_t last = state.base;
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
        seen |= last = addresses[std::countr_zero(rest)] = last + in.signed_number();
      check(seen);
      state.base = addresses[std::countr_zero(mask)];
      return true;
    }
    default: throw Malformed("addresses of an unknown kind");
  }
  if (state.row == no_pattern) throw Malformed("a pattern of addresses that is not known");
  if (mask == ~0u && state.row == 5) {
    std::uint64_t address = state.base;
    for (unsigned lane = 0; lane < 32; ++lane, address += state.stride) seen |= addresses[lane] = address;
    check(seen);
    return true;
  }
  if (mask == ~0u) {
    const unsigned width = 1u << state.row;
    std::uint64_t row = state.base;
    for (unsigned first = 0; first < 32; first += width, row += state.row_stride) {
      std::uint64_t address = row;
      for (unsigned lane = first; lane < first + width; ++lane, address += state.stride)
        seen |= addresses[lane] = address;
    }
    check(seen);
    return true;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    seen |= addresses[lane] = lane_address(state, lane);
  }
  check(seen);
  return true;
}

}  // namespace simtlab::stream::trace
