#include "hosts/cuda/board_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hosts/cuda/launch_contents.h"

namespace simtlab::hosts::cuda {
namespace {

using compile::ElementType;
using compile::LaunchArg;

constexpr std::size_t shown_differences = 5;

struct BoardBuffer {
  const LaunchArg* arg;
  std::size_t index;
  std::uint64_t address;
  std::vector<std::byte> before;
  bool changes = false;  // by the kernel
};

void stop_if(const BoardLaunchOptions& options) {
  if (options.interrupt != nullptr && *options.interrupt)
    throw Error(ExitCode::interrupted, "interrupted", "a launch on the board");
}

std::vector<BoardBuffer> make_buffers(gpu::Board& board, const Launched& launched,
                                      std::span<std::byte> params, const BoardLaunchOptions& options) {
  std::vector<BoardBuffer> out;
  for (const Launched::Buffer& b : launched.buffers) {
    const LaunchArg& arg = launched.spec.args[b.arg];
    BoardBuffer buffer{&arg, b.arg, board.allocate(arg.bytes()), std::vector<std::byte>(arg.bytes()), false};
    if (arg.contents.kind != compile::Contents::Kind::zero)
      make_contents({arg, arg.contents, false, arg.elements(), options.seed, b.arg},
                    [&](std::uint64_t offset, std::span<const std::byte> piece) {
                      stop_if(options);
                      std::memcpy(buffer.before.data() + offset, piece.data(), piece.size());
                    });
    std::memcpy(params.data() + b.param_offset, &buffer.address, sizeof buffer.address);
    out.push_back(std::move(buffer));
  }
  return out;
}

void fill(gpu::Board& board, const std::vector<BoardBuffer>& buffers, bool only_changed) {
  for (const BoardBuffer& b : buffers)
    if (b.changes || !only_changed) board.copy_in(b.address, b.before.data(), b.before.size(), {});
}

void compare(const BoardBuffer& b, std::span<const std::byte> got, const std::byte* wanted,
             const BoardLaunchOptions& options, BoardLaunch& out, std::vector<Diagnostic>& findings) {
  const ElementType type = b.arg->type;
  const unsigned size = compile::size_of(type);
  const double tolerance =
      compile::is_floating(type) ? options.tolerance.value_or(default_tolerance(type)) : 0;
  std::uint64_t different = 0;
  std::string lines;
  for (std::size_t at = 0; at < got.size(); at += size) {
    const std::byte *g = got.data() + at, *w = wanted + at;
    if (equal_elements(g, w, type, tolerance)) {
      if (std::memcmp(g, w, size) == 0 || !compile::is_floating(type)) continue;
      const double a = value_of(g, type), e = value_of(w, type);
      if (std::isfinite(a) && std::isfinite(e))
        out.largest_difference =
            std::max(out.largest_difference, std::abs(a - e) / std::max(1.0, std::abs(e)));
      continue;
    }
    if (++different <= shown_differences)
      lines += fmt::format("{}{} is {} on the board and {} simulated", lines.empty() ? "" : "; ",
                           place_of(*b.arg, at / size), text_of(g, type), text_of(w, type));
  }
  out.elements += got.size() / size;
  if (different == 0) return;
  findings.push_back({fmt::format("{}: {} of {} elements differ: {}{}", label_of(*b.arg, b.index), different,
                                  got.size() / size, lines, different > shown_differences ? "; ..." : ""),
                      b.arg->pos,
                      {},
                      compile::is_floating(type)
                          ? "--tolerance widens the comparison; a kernel whose threads race has no one result"
                          : "a kernel whose threads race has no one result"});
}

double timed(gpu::Board& board, const gpu::Board::Launch& launch) {
  const gpu::Board::Event begin = board.record(launch.stream);
  board.launch(launch);
  const gpu::Board::Event end = board.record(launch.stream);
  return board.elapsed_ns(begin, end);
}

double median(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// What an event, a launch and an event take by themselves.
double time_of_nothing(gpu::Board& board, const BoardLaunchOptions& options) {
  const gpu::Board::Module module = board.load(
      "nothing.ptx",
      fmt::format(".version 6.0\n.target {}\n.address_size 64\n.visible .entry nothing()\n{{\n  ret;\n}}\n",
                  own_target(board.facts())));
  gpu::Board::Launch launch;
  launch.function = board.function(module, "nothing");
  launch.grid = {1, 1, 1}, launch.block = {32, 1, 1};
  timed(board, launch);
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeat; ++i) {
    stop_if(options);
    times.push_back(timed(board, launch));
  }
  std::ranges::sort(times);
  board.unload(module);
  return median(times);
}

// Loaded, with its parameters; the buffers are there and empty.
BoardKernel load_on_board(gpu::Board& board, const std::string& ptx, const Launched& launched,
                          gpu::Gpu& simulated, const BoardLaunchOptions& options,
                          std::vector<BoardBuffer>& buffers) {
  BoardKernel out;
  const ptx::Module& source = simulated.module(launched.kernel.module);
  const ptx::Function& f = source.functions[launched.kernel.function];
  out.name = f.name;
  out.module = board.load(source.name, ptx);
  out.launch.function = board.function(out.module, f.name);
  out.launch.grid = launched.grid, out.launch.block = launched.block;
  out.launch.shared_bytes = launched.shared_bytes;
  if (std::uint64_t{f.shared_bytes} + launched.shared_bytes > board.facts().shared_bytes_per_block)
    board.allow_shared(out.launch.function, launched.shared_bytes);
  std::vector<std::byte> params(launched.params.begin(), launched.params.end());
  buffers = make_buffers(board, launched, params, options);
  for (const BoardBuffer& b : buffers) out.buffers.push_back(b.address);
  out.launch.arguments = gpu::Arguments::of_bytes(params);
  return out;
}

}  // namespace

std::string own_target(const gpu::BoardFacts& facts) {
  return facts.cc_major < 3 ? "sm_20" : facts.cc_major < 5 ? "sm_30" : "sm_50";
}

double default_tolerance(ElementType type) {
  return type == ElementType::f32 ? 1e-5 : type == ElementType::f64 ? 1e-12 : 0;
}

BoardLaunch launch_on_board(gpu::Board& board, const std::string& ptx, const Launched& launched,
                            gpu::Gpu& simulated, const BoardLaunchOptions& options) {
  BoardLaunch out;
  std::vector<BoardBuffer> buffers;
  const BoardKernel kernel = load_on_board(board, ptx, launched, simulated, options, buffers);
  const gpu::Board::Launch& launch = kernel.launch;
  out.registers = board.registers(launch.function);
  out.blocks_per_sm = board.blocks_per_sm(launch.function, static_cast<std::uint32_t>(launch.block.count()),
                                          launch.shared_bytes);

  // The first launch: the values.
  fill(board, buffers, false);
  board.launch(launch);
  board.synchronize();
  std::vector<Diagnostic> findings;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    BoardBuffer& b = buffers[i];
    std::vector<std::byte> got(b.before.size());
    board.copy_out(got.data(), b.address, got.size(), {});
    b.changes = got != b.before;
    compare(b, got, simulated.memory().host(launched.buffers[i].address), options, out, findings);
  }
  if (!findings.empty()) throw Error(ExitCode::program_failed, "board-result", std::move(findings));

  for (unsigned i = 0; i < options.repeat; ++i) {
    stop_if(options);
    fill(board, buffers, true);
    out.times_ns.push_back(timed(board, launch));
  }
  std::ranges::sort(out.times_ns);
  release(board, kernel);
  out.empty_ns = time_of_nothing(board, options);
  return out;
}

BoardKernel kernel_on_board(gpu::Board& board, const std::string& ptx, const Launched& launched,
                            gpu::Gpu& simulated, const BoardLaunchOptions& options) {
  std::vector<BoardBuffer> buffers;
  BoardKernel out = load_on_board(board, ptx, launched, simulated, options, buffers);
  fill(board, buffers, false);
  return out;
}

void release(gpu::Board& board, const BoardKernel& kernel) {
  for (const std::uint64_t address : kernel.buffers) board.release(address);
  board.unload(kernel.module);
}

void add_metrics(const BoardLaunch& l, std::optional<double> simulated_ns, result::Metrics& m) {
  m.set("board.time", median(l.times_ns));
  m.set("board.time.least", l.times_ns.front());
  m.set("board.time.most", l.times_ns.back());
  m.set("board.time.empty", l.empty_ns);
  m.set("board.launches", std::uint64_t{l.times_ns.size()});
  m.set("board.registers", std::uint64_t{l.registers});
  m.set("board.blocks_per_sm", std::uint64_t{l.blocks_per_sm});
  m.set("board.elements", l.elements);
  m.set("board.difference", l.largest_difference);
  if (simulated_ns) m.set("board.simulated_over_measured", *simulated_ns / median(l.times_ns));
}

std::string to_text(const BoardLaunch& l, const gpu::BoardFacts& facts, std::optional<double> simulated_ns) {
  std::string out = fmt::format("\non {} ({})\n", facts.name, facts.driver);
  out += fmt::format("  time         {:.3f} us, {:.3f} to {:.3f} in {} launches; an empty kernel {:.3f} us\n",
                     median(l.times_ns) * 1e-3, l.times_ns.front() * 1e-3, l.times_ns.back() * 1e-3,
                     l.times_ns.size(), l.empty_ns * 1e-3);
  if (simulated_ns)
    out += fmt::format("  simulated    {:.3f} us, {:.2f} times that\n", *simulated_ns * 1e-3,
                       *simulated_ns / median(l.times_ns));
  out += fmt::format(
      "  values       {} elements as simulated{}\n", l.elements,
      l.largest_difference > 0 ? fmt::format(", differences up to {:.1e}", l.largest_difference) : "");
  out += fmt::format("  kernel       {} registers a thread, {} blocks an SM\n", l.registers, l.blocks_per_sm);
  return out;
}

}  // namespace simtlab::hosts::cuda
