#include "cache/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/shown.h"
#include "cache/order.h"
#include "cache/prefetcher.h"
#include "device/policy_names.h"
#include "stream/coalescer.h"

namespace simtlab::cache {
namespace {

constexpr std::array<std::string_view, 2> allocations = {"on-miss", "on-fill"};
constexpr std::array<std::string_view, 2> waits = {"block", "use"};
constexpr std::array<std::string_view, 2> turns = {"batch", "access"};
constexpr std::uint32_t most_points = 1u << 20;
constexpr std::uint32_t largest_warp = 1024, largest_fetch_group = 1024;
constexpr std::string_view order_of_fetch_groups = "two_level";

[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string hint) {
  throw Error(ExitCode::usage, "cache-option", fmt::format("{}: unknown value '{}'", key, shown(value, 40)),
              std::move(hint));
}

template <class Enum, std::size_t n>
Enum named(std::string_view key, std::string_view value, const std::array<std::string_view, n>& names) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == value) return static_cast<Enum>(i);
  refuse(key, value, fmt::format("one of {}", fmt::join(names, ", ")));
}

std::vector<std::string_view> order_names() {
  std::vector<std::string_view> names;
  for (const auto& one : order_policies()) names.push_back(one.name);
  return names;
}

std::vector<std::string_view> prefetcher_names() {
  std::vector<std::string_view> names;
  for (const PrefetchPolicy* one : prefetch_policies()) names.push_back(one->name);
  return names;
}

template <class Number>
Number number(std::string_view key, std::string_view value, Number least, Number most) {
  Number out{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc{} || end != value.data() + value.size() || !(out >= least && out <= most))
    refuse(key, value, fmt::format("a number from {} to {}", least, most));
  return out;
}

Range range(std::string_view key, std::string_view value) {
  constexpr std::uint64_t most = ~std::uint64_t{0} - 1;
  const std::size_t dash = value.find('-');
  const std::uint64_t first = number<std::uint64_t>(key, value.substr(0, dash), 0, most);
  const std::uint64_t last =
      dash == std::string_view::npos ? first : number<std::uint64_t>(key, value.substr(dash + 1), 0, most);
  if (last < first) refuse(key, value, "the first number is not above the last: 0-3");
  return {first, last};
}

bool flag(std::string_view key, std::string_view value) { return number<unsigned>(key, value, 0, 1) == 1; }

void set(Options& o, std::string_view key, std::string_view value) {
  if (key == "order") {
    if (find_named(order_policies(), value) == nullptr)
      refuse(key, value, fmt::format("one of {}", fmt::join(order_names(), ", ")));
    o.order = value;
  } else if (key == "warp_size") {
    o.warp_size = number<std::uint32_t>(key, value, 1, largest_warp);
    if (!std::has_single_bit(o.warp_size)) refuse(key, value, "a power of two from 1 to 1024");
  } else if (key == "alternate_blocks") {
    o.alternate_blocks = flag(key, value);
  } else if (key == "fetch_group") {
    o.fetch_group = number<std::uint32_t>(key, value, 1, largest_fetch_group);
  } else if (key == "zero_latency") {
    o.zero_latency = flag(key, value);
  } else if (key == "fetch_on_write") {
    o.fetch_on_write = flag(key, value);
  } else if (key == "l2") {
    o.l2 = flag(key, value);
  } else if (key == "prefetch") {
    if (find_prefetcher(value) == nullptr)
      refuse(key, value, fmt::format("one of {}", fmt::join(prefetcher_names(), ", ")));
    o.prefetch = value;
  } else if (key == "allocate") {
    o.allocate = named<Allocate>(key, value, allocations);
  } else if (key == "wait") {
    o.wait = named<Wait>(key, value, waits);
  } else if (key == "turn") {
    o.turn = named<Turn>(key, value, turns);
  } else if (key == "jitter") {
    o.jitter = number<double>(key, value, 0, 1e6);
  } else if (key == "skew") {
    o.skew = number<double>(key, value, 0, 1e6);
  } else if (key == "sms") {
    o.sms = range(key, value);
  } else if (key == "groups") {
    o.groups = range(key, value);
  } else if (key == "effects") {
    o.effects = flag(key, value);
  } else if (key == "sample") {
    o.sample = number<double>(key, value, 1e-6, 1.0);
  } else if (key == "pictures") {
    o.pictures = number<std::uint32_t>(key, value, 0, most_points);
  } else if (key == "seed") {
    o.seed = number<std::uint64_t>(key, value, 0, ~std::uint64_t{0});
  } else {
    throw Error(ExitCode::usage, "cache-option",
                fmt::format("unknown option '{}' of a cache study", shown(key, 40)));
  }
}

}  // namespace

std::string_view name_of(Allocate allocate) { return allocations[static_cast<std::size_t>(allocate)]; }
std::string_view name_of(Wait wait) { return waits[static_cast<std::size_t>(wait)]; }
std::string_view name_of(Turn turn) { return turns[static_cast<std::size_t>(turn)]; }

Options on_device(Options options, const device::Device& device) {
  if (options.order.empty()) {
    const std::string_view name = device::name_of(device.sm.scheduler);
    const OrderPolicy* const policy = find_named(order_policies(), name);
    if (policy == nullptr || policy->warps == nullptr)
      throw Error(
          ExitCode::unsupported, "cache-order",
          fmt::format("no order of warps is named like the warp scheduler of {}, '{}'", device.name, name),
          fmt::format("--order: one of {}", fmt::join(order_names(), ", ")));
    options.order = name;
  }
  if (orders_threads(options.order)) options.zero_latency = true;
  if (options.warp_size != 0 && !orders_threads(options.order))
    throw Error(
        ExitCode::usage, "cache-option",
        fmt::format("a warp size goes with an order of threads, and the order is {}: warps of the device "
                    "have {} threads",
                    options.order, stream::lanes),
        "--order round_robin, sequential or random, or leave --warp-size out");
  if (options.alternate_blocks && !(orders_threads(options.order) && !order_policy(options.order).by_chance))
    throw Error(ExitCode::usage, "cache-option",
                fmt::format("blocks take turns in an order of threads by their numbers, and the order is {}",
                            options.order),
                "--order round_robin or sequential, or leave --alternate-blocks out");
  if (options.fetch_group != 0 && options.order != order_of_fetch_groups)
    throw Error(ExitCode::usage, "cache-option",
                fmt::format("the order {} has no fetch groups", options.order),
                fmt::format("--order {}, or leave --fetch-group out", order_of_fetch_groups));
  return options;
}

std::string to_text(const Options& o) {
  const Options usual;
  std::vector<std::string> parts;
  const auto add = [&](bool differs, std::string_view key, const auto& value) {
    if (differs) parts.push_back(fmt::format("{}={}", key, value));
  };
  add(o.order != usual.order, "order", o.order);
  add(o.warp_size != usual.warp_size, "warp_size", o.warp_size);
  add(o.alternate_blocks, "alternate_blocks", 1);
  add(o.fetch_group != usual.fetch_group, "fetch_group", o.fetch_group);
  add(o.zero_latency, "zero_latency", 1);
  add(o.fetch_on_write, "fetch_on_write", 1);
  add(!o.l2, "l2", 0);
  add(o.prefetch != usual.prefetch, "prefetch", o.prefetch);
  add(o.allocate != usual.allocate, "allocate", name_of(o.allocate));
  add(o.wait != usual.wait, "wait", name_of(o.wait));
  add(o.turn != usual.turn, "turn", name_of(o.turn));
  add(o.jitter != usual.jitter, "jitter", o.jitter);
  add(o.skew != usual.skew, "skew", o.skew);
  add(!o.sms.all(), "sms", fmt::format("{}-{}", o.sms.first, o.sms.last));
  add(!o.groups.all(), "groups", fmt::format("{}-{}", o.groups.first, o.groups.last));
  add(!o.effects, "effects", 0);
  add(o.sample != usual.sample, "sample", o.sample);
  add(o.pictures != usual.pictures, "pictures", o.pictures);
  add(o.seed != usual.seed, "seed", o.seed);
  return fmt::format("{}", fmt::join(parts, ","));
}

Options parse_options(std::string_view text, std::uint64_t seed) {
  Options out;
  out.seed = seed;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      throw Error(ExitCode::usage, "cache-option",
                  fmt::format("'{}' is no option of a cache study", shown(part, 40)), "KEY=VALUE");
    set(out, part.substr(0, equals), part.substr(equals + 1));
  }
  return out;
}

}  // namespace simtlab::cache
