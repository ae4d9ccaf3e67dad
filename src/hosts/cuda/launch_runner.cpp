#include "hosts/cuda/launch_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/shown.h"
#include "compile/launch_values.h"
#include "gpu/launch_values.h"
#include "hosts/cuda/launch_contents.h"

namespace simtlab::hosts::cuda {
namespace {

using compile::Contents;
using compile::LaunchArg;
using compile::LaunchSpec;

constexpr std::size_t shown_differences = 5;

[[noreturn]] void bad_arguments(const SourcePos& pos, const std::string& message,
                                const std::string& hint = {}) {
  throw Error(ExitCode::bad_input, "launch-arguments", Diagnostic{message, pos, {}, hint});
}

// Releases the buffers of a launch, whatever happens.
class Buffers {
 public:
  explicit Buffers(gpu::Gpu& gpu) : gpu_(gpu) {}
  ~Buffers() {
    for (const std::uint64_t address : addresses_) gpu_.release(address);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  std::uint64_t add(std::uint64_t bytes, const std::string& what, const SourcePos& pos) {
    const std::optional<std::uint64_t> address = gpu_.allocate(bytes, what);
    if (!address)
      throw Error(ExitCode::bad_input, "launch-memory",
                  Diagnostic{fmt::format("{} of {} bytes does not fit the device's memory", what, bytes),
                             pos,
                             {},
                             "use a smaller shape, another --gpu, or raise --max-memory"});
    addresses_.push_back(*address);
    return *address;
  }

 private:
  gpu::Gpu& gpu_;
  std::vector<std::uint64_t> addresses_;
};

SourcePos place_or_file(const SourcePos& pos, const LaunchSpec& spec) {
  return pos.file.empty() ? SourcePos{spec.file, 0, 0} : pos;
}

gpu::Kernel find_kernel(const LaunchSpec& spec, gpu::ModuleId module, const gpu::Gpu& gpu) {
  const ptx::Module& m = gpu.module(module);
  std::vector<std::string> names;
  for (const ptx::Function& f : m.functions)
    if (f.is_entry) names.push_back(f.name);
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (spec.kernel.empty()) {
    if (names.size() == 1) return *gpu.find_kernel(module, names.front());
    bad_arguments({spec.file, 0, 0},
                  names.empty() ? fmt::format("{} has no kernel", m.name)
                                : fmt::format("{} has {} kernels: {}", m.name, names.size(), all),
                  names.empty() ? "" : "say which: kernel = \"...\" or --kernel");
  }
  const std::optional<gpu::Kernel> found = gpu.find_kernel(module, spec.kernel);
  if (found) return *found;
  const std::string near = nearest_name(spec.kernel.substr(0, 1000), names);
  bad_arguments(place_or_file(spec.kernel_pos, spec),
                fmt::format("{} has no kernel '{}'", shown(m.name), shown(spec.kernel)),
                near.empty() ? "it has: " + all : fmt::format("did you mean '{}'?", near));
}

// The first argument too many, or the last before the missing one.
SourcePos place_of_surplus(const LaunchSpec& spec, std::size_t parameters) {
  if (spec.args.empty()) return place_or_file(spec.kernel_pos, spec);
  return spec.args[std::min(parameters, spec.args.size() - 1)].pos;
}

// A vector of three has the room of four.
void check_lanes(const LaunchArg& arg, std::size_t i, const ptx::Param& p) {
  const std::size_t size = compile::size_of(arg.type), n = arg.lanes.size();
  if (p.bytes == n * size || (n == 3 && p.bytes == 4 * size)) return;
  bad_arguments(arg.pos,
                fmt::format("{} is {} values of {}, {} bytes, but parameter '{}' has {}", label_of(arg, i), n,
                            compile::name_of(arg.type), n * size, p.name, p.bytes));
}

void check_against_parameters(const LaunchSpec& spec, const ptx::Function& f) {
  if (spec.args.size() != f.params.size())
    bad_arguments(place_of_surplus(spec, f.params.size()),
                  fmt::format("kernel '{}' has {} parameters, {} arguments are given", f.name,
                              f.params.size(), spec.args.size()),
                  "one [[arg]] or --arg for each, in order");
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    const LaunchArg& arg = spec.args[i];
    const ptx::Param& p = f.params[i];
    const bool address = p.bytes == 8 || p.bytes == 4;
    if (arg.kind == LaunchArg::Kind::buffer && p.bytes != 8)
      bad_arguments(arg.pos,
                    fmt::format("{} is a buffer, but parameter '{}' has {} bytes and cannot be an address",
                                label_of(arg, i), p.name, p.bytes));
    if (arg.kind == LaunchArg::Kind::local && !address)
      bad_arguments(
          arg.pos, fmt::format("{} is local memory, but parameter '{}' has {} bytes and cannot be an address",
                               label_of(arg, i), p.name, p.bytes));
    if (arg.kind != LaunchArg::Kind::scalar) continue;
    if (!arg.lanes.empty()) {
      check_lanes(arg, i, p);
      continue;
    }
    if (compile::size_of(arg.type) != p.bytes)
      bad_arguments(arg.pos,
                    fmt::format("{} is a {} of {} bytes, but parameter '{}' has {}", label_of(arg, i),
                                compile::name_of(arg.type), compile::size_of(arg.type), p.name, p.bytes),
                    fmt::format("its PTX type is .{}", ptx::name_of(p.type)));
    if (ptx::is_float(p.type) != compile::is_floating(arg.type) && ptx::is_float(p.type))
      bad_arguments(arg.pos, fmt::format("{} is a {}, but parameter '{}' is .{}", label_of(arg, i),
                                         compile::name_of(arg.type), p.name, ptx::name_of(p.type)));
  }
}

exec::Dim3 dim(const std::array<std::uint32_t, 3>& d) { return {d[0], d[1], d[2]}; }

void find_shape(const LaunchSpec& spec, const ptx::Function& f, exec::Dim3& grid, exec::Dim3& block) {
  if (spec.block)
    block = dim(*spec.block);
  else if (f.req_ntid[0] != 0)
    block = {f.req_ntid[0], std::max(1u, f.req_ntid[1]), std::max(1u, f.req_ntid[2])};
  else
    bad_arguments({spec.file, 0, 0}, "the size of a block is missing", "block = [256] or --local 256");
  if (spec.grid) {
    grid = dim(*spec.grid);
    return;
  }
  if (!spec.global)
    bad_arguments({spec.file, 0, 0}, "the size of the grid is missing",
                  "grid (in blocks) or global (in threads)");
  const exec::Dim3 global = dim(*spec.global);
  if (global.x % block.x != 0 || global.y % block.y != 0 || global.z % block.z != 0)
    bad_arguments(place_or_file(spec.grid_pos, spec),
                  fmt::format("global ({}, {}, {}) is not a multiple of the block ({}, {}, {})", global.x,
                              global.y, global.z, block.x, block.y, block.z),
                  "round it up and test the bounds in the kernel, or give the grid in blocks");
  grid = {global.x / block.x, global.y / block.y, global.z / block.z};
}

void set_offset(const LaunchSpec& spec, gpu::ModuleId module, gpu::Gpu& gpu) {
  gpu::LaunchValues values;
  if (spec.offset) values.offset = *spec.offset;
  values.dimensions = spec.dimensions;
  if (!gpu::set_launch_values(gpu, module, values) && !gpu.module(module).name.ends_with(".cl"))
    bad_arguments(place_or_file(spec.offset_pos, spec), "an offset of the global ids is for OpenCL C",
                  "leave it out: PTX counts its threads from 0");
}

// Errors about the shape of a launch know no file: they get the place of what is to blame.
[[noreturn]] void with_place(const Error& e, const LaunchSpec& spec) {
  std::vector<Diagnostic> diagnostics = e.diagnostics();
  Diagnostic& d = diagnostics.front();
  const bool is_grid = e.id() == "launch-grid" || d.message.find("the grid") != std::string::npos;
  const bool is_shared = e.id() == "launch-resources" && !spec.shared_pos.file.empty() &&
                         (d.message.ends_with("(shared memory)") ||
                          d.hint.find("limit is the shared memory") != std::string::npos);
  const SourcePos& pos = is_grid ? spec.grid_pos : is_shared ? spec.shared_pos : spec.block_pos;
  if (d.pos.file.empty()) d.pos = place_or_file(pos, spec);
  throw Error(e.code(), e.id(), std::move(diagnostics));
}

// The message says where, as that of an interrupted kernel does.
void stop_if(const volatile bool* interrupt, const char* doing, const LaunchArg& arg, std::size_t index) {
  if (interrupt != nullptr && *interrupt)
    throw Error(ExitCode::interrupted, "interrupted", fmt::format("{} {}", doing, label_of(arg, index)));
}

void compare(const compile::Expectation& expected, const LaunchArg& arg, std::uint64_t address, gpu::Gpu& gpu,
             const volatile bool* interrupt, std::vector<Diagnostic>& findings) {
  gpu.charge_copy(arg.bytes(), gpu::Gpu::CopyKind::device_to_host, 0, false);
  const unsigned size = compile::size_of(arg.type);
  // `values` may be shorter than the buffer: the rest is not compared.
  const bool listed = expected.contents.kind == Contents::Kind::values && !expected.fill;
  const std::uint64_t n = listed ? expected.contents.values.size() : arg.elements();
  std::uint64_t different = 0;
  double worst = 0;
  std::string lines;
  make_contents({arg, expected.contents, expected.fill, n}, [&](std::uint64_t offset,
                                                                std::span<const std::byte> wanted) {
    stop_if(interrupt, "the comparison of", arg, expected.arg);
    const std::byte* got = gpu.memory().host(address + offset);
    for (std::size_t at = 0; at < wanted.size(); at += size) {
      const std::byte *g = got + at, *w = wanted.data() + at;
      if (equal_elements(g, w, arg.type, expected.tolerance)) continue;
      const double error = std::abs(value_of(g, arg.type) - value_of(w, arg.type));
      if (std::isnan(error) || error > worst) worst = error;  // once NaN, it stays
      if (++different <= shown_differences)
        lines += fmt::format("{}{} is {}, expected {}", lines.empty() ? "" : "; ",
                             place_of(arg, (offset + at) / size), text_of(g, arg.type), text_of(w, arg.type));
    }
  });
  if (different == 0) return;
  const std::string largest = std::isnan(worst) ? "NaN" : fmt::format("{}", worst);
  findings.push_back(
      {fmt::format("{}: {} of {} elements differ (largest error {}): {}{}", label_of(arg, expected.arg),
                   different, n, largest, lines, different > shown_differences ? "; ..." : ""),
       expected.pos,
       {},
       {}});
}

}  // namespace

PlannedLaunch plan_launch(const LaunchSpec& spec, gpu::ModuleId module, const gpu::Gpu& gpu) {
  PlannedLaunch out;
  out.kernel = find_kernel(spec, module, gpu);
  find_shape(spec, gpu.module(module).functions[out.kernel.function], out.grid, out.block);
  return out;
}

void run_launch(const LaunchSpec& spec, gpu::ModuleId module, gpu::Gpu& gpu, std::uint64_t seed,
                const volatile bool* interrupt, const AfterLaunch& after) {
  const gpu::Kernel kernel = find_kernel(spec, module, gpu);
  const ptx::Function& f = gpu.module(module).functions[kernel.function];
  check_against_parameters(spec, f);
  exec::Dim3 grid, block;
  find_shape(spec, f, grid, block);
  set_offset(spec, module, gpu);

  Buffers buffers(gpu);
  std::vector<std::uint64_t> addresses(spec.args.size());
  std::vector<std::byte> params(f.param_bytes);
  gpu::LocalMemory local(f.shared_bytes, spec.shared_bytes);
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    const LaunchArg& arg = spec.args[i];
    std::byte* at = params.data() + f.params[i].offset;
    if (arg.kind == LaunchArg::Kind::scalar) {
      if (arg.lanes.empty()) store(at, arg.type, arg.value);
      for (std::size_t lane = 0; lane < arg.lanes.size(); ++lane)
        store(at + lane * compile::size_of(arg.type), arg.type, arg.lanes[lane]);
      continue;
    }
    std::uint64_t address = 0;
    if (arg.kind == LaunchArg::Kind::buffer) {
      address = addresses[i] = buffers.add(arg.bytes(), label_of(arg, i), arg.pos);
      if (arg.contents.kind == Contents::Kind::zero) {
        gpu.charge_fill(arg.bytes(), 0, false);  // new memory is zero
        gpu.note_written(address, arg.bytes());
      } else if (arg.contents.kind != Contents::Kind::none) {
        // Straight into device memory: a second copy of a large buffer may not fit the host.
        make_contents({arg, arg.contents, false, arg.elements(), seed, i},
                      [&](std::uint64_t offset, std::span<const std::byte> piece) {
                        stop_if(interrupt, "the contents of", arg, i);
                        SIMTLAB_ASSERT(gpu.memory().write(address + offset, piece),
                                       "a buffer was allocated too small");
                      });
        gpu.charge_copy(arg.bytes(), gpu::Gpu::CopyKind::host_to_device, 0, false);
      }
    } else {
      const std::optional<std::uint64_t> place = local.add(arg.local_bytes, f.params[i].pointee_align);
      if (!place) bad_arguments(arg.pos, "more than 4 GiB of local memory");
      address = *place;
    }
    std::memcpy(at, &address, f.params[i].bytes);
  }

  try {
    gpu.launch(kernel, grid, block, local.dynamic_bytes(), params, 0);
  } catch (const Error& e) {
    if (!e.id().starts_with("launch-")) throw;
    with_place(e, spec);
  }
  gpu.synchronize();
  for (std::size_t i = 0; i < spec.args.size(); ++i)
    if (const LaunchArg& arg = spec.args[i];
        arg.kind == LaunchArg::Kind::buffer && arg.contents.kind != Contents::Kind::none)
      gpu.note_read(addresses[i], arg.bytes(), compile::size_of(arg.type));
  if (after) {
    Launched launched{spec, kernel, grid, block, local.dynamic_bytes(), params, {}};
    for (std::size_t i = 0; i < spec.args.size(); ++i)
      if (spec.args[i].kind == LaunchArg::Kind::buffer)
        launched.buffers.push_back({i, f.params[i].offset, addresses[i]});
    after(launched);
  }

  std::vector<Diagnostic> findings;
  for (const compile::Expectation& e : spec.expect)
    compare(e, spec.args[e.arg], addresses[e.arg], gpu, interrupt, findings);
  if (!findings.empty()) throw Error(ExitCode::program_failed, "wrong-result", std::move(findings));
}

}  // namespace simtlab::hosts::cuda
