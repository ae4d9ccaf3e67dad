// The command line forms of a launch: --kernel --grid --global --block --offset --shared --arg.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/shown.h"
#include "compile/launch_values.h"

namespace simtlab::compile {
namespace {

[[noreturn]] void usage(const std::string& option, const std::string& text, const std::string& message,
                        const std::string& hint) {
  throw Error(ExitCode::usage, "launch-option", fmt::format("{} {}: {}", option, shown(text), message), hint);
}

constexpr const char* arg_forms =
    "buffer:64x64:f32[:zero|none|iota|random|random=SEED|file=PATH], f32:1.5, u32:64, f32:1,2,3,4, "
    "local:4096";

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator, std::size_t most) {
  std::vector<std::string_view> out;
  while (out.size() + 1 < most) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  out.push_back(text);
  return out;
}

std::array<std::uint32_t, 3> dimensions(const std::string& option, const std::string& text,
                                        bool zero_allowed = false) {
  const auto parts = split(text, 'x', 4);
  std::array<std::uint32_t, 3> out{1, 1, 1};
  if (zero_allowed) out = {0, 0, 0};
  if (parts.size() > 3) usage(option, text, "more than three dimensions", "for instance 64x64 or 1024");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<std::uint64_t> d = whole(parts[i]);
    if (!d || (*d == 0 && !zero_allowed) || *d > std::numeric_limits<std::uint32_t>::max())
      usage(option, text,
            fmt::format("'{}' is not a number of {} to 4294967295", shown(parts[i]), zero_allowed ? 0 : 1),
            "for instance 64x64 or 1024");
    out[i] = static_cast<std::uint32_t>(*d);
  }
  return out;
}

Number number(const std::string& text, std::string_view digits, ElementType type) {
  Number out;
  const std::string_view body = digits.starts_with('+') ? digits.substr(1) : digits;
  const bool hex = body.starts_with("0x") || body.starts_with("0X");
  const char* begin = body.data() + (hex ? 2 : 0);
  const char* const end = body.data() + body.size();
  if (hex || !is_floating(type)) {
    // Unsigned first: all 64 bits of a u64 are kept as a pattern.
    std::uint64_t bits = 0;
    auto [at, error] = std::from_chars(begin, end, bits, hex ? 16 : 10);
    if (error == std::errc{} && at == end && begin != end) {
      if (type != ElementType::u64 &&
          bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        usage("--arg", text, fmt::format("{} does not fit {}", shown(digits), name_of(type)), arg_forms);
      out.integer = static_cast<std::int64_t>(bits);
    } else {
      std::tie(at, error) = [&] {
        const auto r = std::from_chars(begin, end, out.integer, hex ? 16 : 10);
        return std::pair(r.ptr, r.ec);
      }();
      if (error != std::errc{} || at != end || begin == end)
        usage("--arg", text,
              fmt::format("'{}' is not a whole number that fits {}", shown(digits), name_of(type)),
              arg_forms);
      if (type == ElementType::u64) usage("--arg", text, "a u64 is not negative", arg_forms);
    }
    out.real = static_cast<double>(out.integer);
  } else {
    const auto [at, error] = std::from_chars(begin, end, out.real);
    if (error != std::errc{} || at != end || begin == end)
      usage("--arg", text, fmt::format("'{}' is not a number, or out of range", shown(digits)), arg_forms);
    out.is_integer = false;
  }
  const std::string wrong = check_value(out, type);
  if (!wrong.empty()) usage("--arg", text, wrong, arg_forms);
  return out;
}

ElementType type_of(const std::string& text, std::string_view name) {
  const std::optional<ElementType> type = element_type(name);
  if (!type)
    usage("--arg", text, fmt::format("unknown type '{}'", shown(name)),
          fmt::format("one of {}; forms: {}", type_list(), arg_forms));
  return *type;
}

LaunchArg buffer(const std::string& text, const std::vector<std::string_view>& parts) {
  LaunchArg arg;
  arg.kind = LaunchArg::Kind::buffer;
  if (parts.size() < 3) usage("--arg", text, "a buffer needs a shape and a type", arg_forms);
  arg.type = type_of(text, parts[2]);
  for (const std::string_view d : split(parts[1], 'x', 16)) {
    const std::optional<std::uint64_t> n = whole(d);
    if (!n) usage("--arg", text, fmt::format("'{}' is not a dimension", shown(d)), arg_forms);
    arg.shape.push_back(*n);
  }
  const std::string wrong = check_shape(arg.shape, arg.type);
  if (!wrong.empty()) usage("--arg", text, wrong, arg_forms);
  const std::string_view init = parts.size() > 3 ? parts[3] : std::string_view{"zero"};
  if (init == "zero")
    arg.contents.kind = Contents::Kind::zero;
  else if (init == "none")
    arg.contents.kind = Contents::Kind::none;
  else if (init == "iota")
    arg.contents.kind = Contents::Kind::iota;
  else if (init == "random")
    arg.contents.kind = Contents::Kind::random;
  else if (init.starts_with("random=")) {
    arg.contents.kind = Contents::Kind::random;
    arg.contents.seed = whole(init.substr(7));
    if (!arg.contents.seed) usage("--arg", text, "the seed is not a number", arg_forms);
  } else if (init.starts_with("file=") && init.size() > 5) {
    arg.contents.kind = Contents::Kind::file;
    arg.contents.file = std::string(init.substr(5));
  } else {
    usage("--arg", text, fmt::format("unknown contents '{}'", shown(init)), arg_forms);
  }
  return arg;
}

LaunchArg argument(const std::string& text) {
  // At most four parts, so that a path may hold colons.
  const auto parts = split(text, ':', 4);
  LaunchArg arg;
  if (parts[0] == "buffer") {
    arg = buffer(text, parts);
  } else if (parts[0] == "local") {
    arg.kind = LaunchArg::Kind::local;
    const std::optional<std::uint64_t> bytes = parts.size() == 2 ? whole(parts[1]) : std::nullopt;
    if (!bytes || *bytes > std::numeric_limits<std::uint32_t>::max())
      usage("--arg", text, "local memory needs its size in bytes", arg_forms);
    arg.local_bytes = *bytes;
  } else {
    if (parts.size() != 2) usage("--arg", text, "not a form of an argument", arg_forms);
    arg.kind = LaunchArg::Kind::scalar;
    arg.type = type_of(text, parts[0]);
    const auto elements = split(parts[1], ',', max_lanes + 1);
    if (elements.size() > max_lanes)
      usage("--arg", text, fmt::format("a vector has at most {} elements", max_lanes), arg_forms);
    if (elements.size() == 1)
      arg.value = number(text, parts[1], arg.type);
    else
      for (const std::string_view element : elements) arg.lanes.push_back(number(text, element, arg.type));
  }
  arg.pos.file = "--arg " + shown(text);
  arg.contents.file_pos = arg.pos;
  return arg;
}

}  // namespace

LaunchSpec launch_from_options(const LaunchOptions& options, LaunchSpec base) {
  LaunchSpec spec = std::move(base);
  if (spec.file.empty()) spec.file = "command line";
  // An option stands where a file's name stands in messages.
  const auto place = [](const char* option, const std::string& text) {
    return SourcePos{fmt::format("{} {}", option, shown(text)), 0, 0};
  };
  if (options.kernel) {
    if (options.kernel->empty())
      usage("--kernel", "''", "an empty name", "leave it out if there is one kernel");
    spec.kernel = *options.kernel;
    spec.kernel_pos = place("--kernel", spec.kernel);
  }
  if (options.grid && options.global)
    usage("--grid", *options.grid, "--global is given as well",
          "keep one of them: --grid counts blocks, --global threads");
  if (options.grid) {
    spec.grid = dimensions("--grid", *options.grid);
    spec.global.reset();
    spec.grid_pos = place("--grid", *options.grid);
    spec.dimensions = static_cast<std::uint32_t>(split(*options.grid, 'x', 3).size());
  }
  if (options.global) {
    spec.global = dimensions("--global", *options.global);
    spec.grid.reset();
    spec.grid_pos = place("--global", *options.global);
    spec.dimensions = static_cast<std::uint32_t>(split(*options.global, 'x', 3).size());
  }
  if (options.block) {
    spec.block = dimensions("--block", *options.block);
    spec.block_pos = place("--block", *options.block);
  }
  if (options.offset) {
    spec.offset = dimensions("--offset", *options.offset, true);
    spec.offset_pos = place("--offset", *options.offset);
  }
  if (options.shared) {
    const std::optional<std::uint64_t> bytes = whole(*options.shared);
    if (!bytes || *bytes > std::numeric_limits<std::uint32_t>::max())
      usage("--shared", *options.shared, "not a number of bytes", "for instance 4096");
    spec.shared_bytes = static_cast<std::uint32_t>(*bytes);
    spec.shared_pos = place("--shared", *options.shared);
  }
  if (options.args.size() > max_args)
    usage("--arg", options.args.back(), fmt::format("more than {} arguments", max_args), "");
  if (!options.args.empty()) {
    if (!spec.expect.empty())
      usage("--arg", options.args.front(),
            fmt::format("'{}' expects results of its own arguments", spec.file),
            "change the arguments in the launch file");
    spec.args.clear();
    for (const std::string& text : options.args) spec.args.push_back(argument(text));
  }
  return spec;
}

}  // namespace simtlab::compile
