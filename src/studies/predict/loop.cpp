#include "studies/predict/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>

#include "base/files.h"
#include "base/shown.h"
#include "base/sizes.h"
#include "compile/frontend.h"
#include "compile/loops.h"
#include "models/answer.h"
#include "models/loops/choose.h"
#include "models/loops/cuda_source.h"
#include "models/loops/tables.h"
#include "models/result.h"
#include "studies/common/command.h"
#include "studies/common/compile.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/predict/nest_answer.h"
#include "studies/predict/nest_code.h"
#include "studies/predict/nest_inputs.h"
#include "studies/predict/nest_simulation.h"
#include "studies/predict/variants.h"

namespace simtlab::studies {
namespace {

using models::loops::Description;

compile::LoopSource source_of(const LoopOptions& o, const std::string& file) {
  compile::LoopSource out;
  out.file = file;
  out.flags = compile::split_words(o.cflags);
  if (o.loop.empty()) return out;
  const std::size_t colon = o.loop.rfind(':');
  const std::string line = colon == std::string::npos ? o.loop : o.loop.substr(colon + 1);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), out.line);
  if (error != std::errc() || end != line.data() + line.size() || out.line == 0)
    throw Error(ExitCode::usage, "option-value", fmt::format("--loop {} names no line", shown(o.loop)),
                "--loop FILE:LINE, for example --loop transpose.c:9");
  if (colon != std::string::npos) out.loop_file = o.loop.substr(0, colon);
  return out;
}

// The file with the nest, and other sources of the measured program.
std::vector<std::filesystem::path> compiled(const LoopOptions& o, const std::string& file) {
  std::vector<std::filesystem::path> out = {file};
  std::error_code ignored;
  for (const std::string& flag : source_of(o, file).flags)
    if (is_source(flag) && std::filesystem::exists(flag, ignored)) out.emplace_back(flag);
  return out;
}

// Values by name; each must be an input of the nest.
std::vector<std::optional<std::int64_t>> values_of(const Description& nest, const LoopOptions& o) {
  std::vector<std::optional<std::int64_t>> out(nest.inputs.size());
  std::vector<std::string> names;
  for (const models::loops::Input& i : nest.inputs)
    if (!i.pointer && !i.real) names.push_back(i.name);
  for (const std::string& list : o.params)
    for (std::size_t from = 0; from <= list.size();) {
      const std::size_t comma = std::min(list.find(',', from), list.size()), equal = list.find('=', from);
      if (equal == std::string::npos || equal > comma)
        throw Error(ExitCode::usage, "option-value", fmt::format("--params {}: no NAME=VALUE", shown(list)),
                    "for example --params N=1024,M=5");
      const std::string name = list.substr(from, equal - from),
                        value = list.substr(equal + 1, comma - equal - 1);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (value.empty() || error != std::errc() || end != value.data() + value.size())
        throw Error(ExitCode::usage, "option-value",
                    fmt::format("--params {}: {} is no whole number", shown(list), shown(value)),
                    "for example --params N=1024");
      bool used = false;
      for (std::size_t i = 0; i < nest.inputs.size(); ++i)
        if (nest.inputs[i].name == name && !nest.inputs[i].pointer) {
          out[i] = number;
          used = true;
        }
      if (!used) {
        Diagnostic d;
        d.message = fmt::format("the nest has no parameter '{}'", shown(name));
        d.pos = {nest.file, nest.line, nest.column};
        d.hint = names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
        throw Error(ExitCode::bad_input, "loop-parameters", std::move(d));
      }
      from = comma + 1;
    }
  return out;
}

struct Measurement {
  models::loops::Measured counted;
  std::vector<models::loops::Touched> touched;
  std::optional<double> sequential_ns;
  compile::LoopRun run;
};

Measurement measure(const compile::LoopProgram& program, const LoopOptions& o, const std::string& file,
                    const Description& nest) {
  Measurement out;
  if (!o.run) return out;
  compile::RunWish wish;
  wish.arguments = compile::split_words(*o.run);
  wish.seconds = o.run_limit;
  wish.keep_bytes = o.simulate ? o.keep_bytes : 0;
  talk(fmt::format("running {} {} in its folder, {} times, at most {:g} s each\n", file, shown(*o.run),
                   wish.runs + 1, wish.seconds));
  out.run = program.measure(wish);
  if (out.run.blocks.size() != nest.blocks.size() || out.run.arguments.size() != nest.inputs.size())
    throw Error(ExitCode::failure, "loops-tool",
                "the run counted another nest than the one that was described");
  out.counted.blocks = out.run.blocks;
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) {
    const compile::LoopRun::Argument& a = out.run.arguments[i];
    out.touched.push_back({a.low, a.high > a.low ? a.high : a.low, a.written});
  }
  if (!out.run.times_ns.empty()) out.sequential_ns = out.run.times_ns[out.run.times_ns.size() / 2];
  return out;
}

// What nobody gave is what the run had.
void fill_in(std::vector<std::optional<std::int64_t>>& values, const Description& nest,
             const Measurement& measured) {
  if (measured.run.arguments.empty()) return;
  for (std::size_t i = 0; i < nest.inputs.size(); ++i)
    if (!nest.inputs[i].pointer && !nest.inputs[i].real && !values[i])
      values[i] = static_cast<std::int64_t>(measured.run.arguments[i].value);
}

// Nothing can become threads: why, at its place.
[[noreturn]] void refuse(const Description& nest, const models::loops::Parallelism& parallel) {
  std::vector<Diagnostic> all;
  bool unproven = true;
  for (const models::loops::Finding& f : parallel.findings) {
    Diagnostic d;
    d.message = fmt::format(
        "the loop over '{}' {}: {}", nest.loops[static_cast<std::size_t>(f.loop)].name,
        f.verdict == models::loops::Verdict::carried ? "is not parallel" : "is not proven parallel", f.text);
    d.pos = nest.at(nest.accesses[static_cast<std::size_t>(f.a)]);
    d.hint = f.hint + (f.verdict == models::loops::Verdict::carried ||
                               f.hint.find("--assume-parallel") != std::string::npos
                           ? ""
                           : "; or --assume-parallel");
    unproven &= f.verdict == models::loops::Verdict::unproven;
    if (all.size() < 10) all.push_back(std::move(d));
  }
  throw Error(ExitCode::bad_input, unproven ? "loop-unproven" : "loop-dependence", std::move(all));
}

std::optional<std::array<std::uint32_t, 3>> block_of(const LoopOptions& o) {
  if (o.block.empty()) return std::nullopt;
  std::array<std::uint32_t, 3> out{1, 1, 1};
  std::size_t from = 0;
  for (std::size_t d = 0; from <= o.block.size(); ++d) {
    const std::size_t end = std::min(o.block.find('x', from), o.block.size());
    const std::string_view text = std::string_view(o.block).substr(from, end - from);
    std::uint32_t n = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (d > 2 || error != std::errc() || stop != text.data() + text.size() || n == 0 || n > 1024)
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("--nest-block {} is no size of a block", shown(o.block)),
                  "for example --nest-block 32x8");
    out[d] = n;
    from = end + 1;
  }
  return out;
}

// Of fewer dimensions, as many threads.
std::array<std::uint32_t, 3> folded(std::array<std::uint32_t, 3> block, std::size_t dimensions) {
  for (std::size_t d = 3; d-- > std::max<std::size_t>(dimensions, 1);) {
    block[d - 1] *= block[d];
    block[d] = 1;
  }
  return block;
}

constexpr std::uint64_t most_blocks_x = 0x7fffffff, most_blocks_y = 65535;  // of a grid; in z as in y

class LoopPrediction {
 public:
  // PTX of a mapping; empty: none can be made.
  using PtxOf = std::function<std::string(const models::loops::Mapping&)>;
  LoopPrediction(const LoopOptions& o, const device::Device& device, const gpu::PredictOptions& predict,
                 std::string kernel, gpu::Ptx lowering, PtxOf ptx_of)
      : o_(o),
        device_(device),
        kernel_(std::move(kernel)),
        lowering_(lowering),
        ptx_of_(std::move(ptx_of)),
        model_(predict.model),
        options_(models::parse_options(predict.rule, predict.resios)),
        given_(models::parse_counts(predict.counts, predict.counts_file)) {}

  // Every mapping with the block that suits it, best first.
  std::vector<models::loops::Candidate> candidates(const Description& nest, const models::loops::Shape& shape,
                                                   const models::loops::Parallelism& parallel,
                                                   const Measurement& measured,
                                                   models::loops::BlockSizes& sizes) const {
    std::vector<models::loops::Candidate> out;
    std::vector<models::loops::BlockSizes> all_sizes;
    const auto wanted = block_of(o_);
    for (const std::vector<int>& loops : models::loops::mappings(nest, parallel, o_.assume_parallel)) {
      if (!o_.map.empty() && named(nest, loops) != o_.map) continue;
      double threads = 1;
      for (const int l : loops) threads *= shape.trips[static_cast<std::size_t>(l)];
      const models::loops::Mapping probe =
          models::loops::with_block(nest, shape, loops, models::loops::block_shape(256, loops.size()));
      const models::loops::BlockSizes s = models::loops::block_sizes(
          models::loops::code_of(nest, shape, probe, device_), static_cast<std::uint64_t>(threads), device_);
      const auto block =
          wanted ? folded(*wanted, loops.size()) : models::loops::block_shape(s.chosen, loops.size());
      if (std::uint64_t{block[0]} * block[1] * block[2] > device_.sm.max_threads_per_block)
        throw Error(ExitCode::usage, "option-value",
                    fmt::format("--nest-block {}: {} has blocks of at most {} threads", o_.block,
                                device_.name, device_.sm.max_threads_per_block),
                    "for example --nest-block 32x8");
      const models::loops::Mapping mapping = models::loops::with_block(nest, shape, loops, block);
      // No GPU takes that
      if (mapping.grid[0] > most_blocks_x || mapping.grid[1] > most_blocks_y ||
          mapping.grid[2] > most_blocks_y)
        continue;
      out.push_back(
          rated(nest, shape, counted(nest, shape, mapping, measured), device_, model_, options_, given_));
      all_sizes.push_back(s);
    }
    if (out.empty()) {
      std::string all;
      for (const std::vector<int>& loops : models::loops::mappings(nest, parallel, o_.assume_parallel))
        all += fmt::format("{}{}", all.empty() ? "" : " or ", named(nest, loops));
      throw Error(
          ExitCode::usage, "option-value",
          o_.map.empty()
              ? std::string("no mapping of this nest fits the largest grid of a GPU")
              : fmt::format("--nest-map {} is no mapping of this nest, or needs a grid that is too large",
                            shown(o_.map)),
          fmt::format("the loop that becomes x first: {}", all));
    }
    std::vector<std::size_t> order(out.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // Equal times: fewer lines a warp, then inner loops first.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if (out[a].time_ns != out[b].time_ns) return out[a].time_ns < out[b].time_ns;
      if (out[a].counts.lines_per_access != out[b].counts.lines_per_access)
        return out[a].counts.lines_per_access < out[b].counts.lines_per_access;
      return turned(nest, out[a].counts.mapping) < turned(nest, out[b].counts.mapping);
    });
    std::vector<models::loops::Candidate> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(out[i]));
    sizes = all_sizes[order.front()];
    return sorted;
  }

  // Of the code of the last mapping: why it is not that of the kernel; empty if it is.
  const std::string& why_not_followed() const { return why_; }

  // Of what shared memory could hold; returns the time with it.
  double choose(std::vector<models::loops::Staging>& all, const Description& nest,
                const models::loops::Shape& shape, const models::loops::Candidate& best,
                const Measurement& measured) const {
    return models::loops::choose(
        all, device_, best.time_ns, [&](const std::vector<models::loops::Tile>& tiles) {
          return rated(nest, shape,
                       models::loops::staged(nest, shape, best.counts, tiles, device_, measured.touched),
                       device_, best.model, options_, given_)
              .time_ns;
        });
  }

  const models::Inputs& given() const { return given_; }
  const models::Options& options() const { return options_; }
  result::KernelResult answer(const std::string& name, const models::Inputs& inputs) const {
    return models::answer(name, inputs, model_, options_);
  }

 private:
  static std::string named(const Description& nest, const std::vector<int>& loops) {
    std::string out;
    for (const int l : loops)
      out += fmt::format("{}{}", out.empty() ? "" : ",", nest.loops[static_cast<std::size_t>(l)].name);
    return out;
  }

  static int turned(const Description& nest, const models::loops::Mapping& m) {
    int n = 0;
    for (std::size_t d = 1; d < m.loops.size(); ++d)
      n += nest.loops[static_cast<std::size_t>(m.loops[d])].level >
                   nest.loops[static_cast<std::size_t>(m.loops[d - 1])].level
               ? 1
               : 0;
    return n;
  }

  models::loops::NestCounts counted(const Description& nest, const models::loops::Shape& shape,
                                    const models::loops::Mapping& mapping,
                                    const Measurement& measured) const {
    models::loops::NestCounts plain =
        models::loops::counts_of(nest, shape, mapping, device_, measured.touched);
    const std::string ptx = ptx_of_(mapping);
    if (ptx.empty()) {
      why_ = "no kernel can be made of the nest";
      return plain;
    }
    FollowedCode followed = follow_code(nest, shape, mapping, ptx, kernel_, device_, lowering_);
    why_ = followed.why;
    if (!followed.code) return plain;
    return models::loops::with_code(nest, shape, plain, *followed.code, device_, measured.touched);
  }

  const LoopOptions& o_;
  const device::Device& device_;
  std::string kernel_;
  gpu::Ptx lowering_;
  PtxOf ptx_of_;
  mutable std::string why_;
  std::string model_;
  models::Options options_;
  models::Inputs given_;  // counts by hand
};

std::string cuda_of(const Description& nest, const models::loops::NestCounts& counts,
                    const Measurement& measured, const std::string& name,
                    const std::vector<models::loops::Tile>& tiles) {
  std::vector<std::uint64_t> bytes(nest.inputs.size());
  for (const models::loops::Pattern& p : counts.patterns) {
    auto& b = bytes[static_cast<std::size_t>(nest.accesses[static_cast<std::size_t>(p.access)].input)];
    b = std::max(b, p.end);
  }
  for (std::size_t i = 0; i < measured.touched.size(); ++i)
    if (const models::loops::Touched& t = measured.touched[i]; t.high > t.low)
      bytes[i] = t.high - std::min(t.low, measured.run.arguments[i].value);
  return models::loops::cuda_source(
      nest, counts.mapping, read_file(nest.file, std::uint64_t{64} << 20, "C source"), name, bytes, tiles);
}

std::vector<unsigned> levels_of(const Description& nest, const models::loops::Mapping& m) {
  std::vector<unsigned> out;
  for (const int l : m.loops)
    out.push_back(static_cast<unsigned>(nest.loops[static_cast<std::size_t>(l)].level));
  return out;
}

void set_manifest(result::Manifest& manifest, const std::string& device, const models::Inputs& inputs,
                  const std::vector<std::filesystem::path>& sources) {
  manifest.mode = "predict";
  manifest.device = device;
  manifest.configuration = models::to_configuration(inputs);
  manifest.inputs = hash_inputs(sources);
}

// A nest and what a run of its program counted, for as many devices and settings as one likes.
class LoopStudy {
 public:
  LoopStudy(const LoopOptions& o, std::string file)
      : file_(std::move(file)),
        program_(source_of(o, file_)),
        nest_(models::loops::parse_description(program_.describe())) {}
  result::Result at(const LoopOptions& o, const RunOptions& given, const gpu::PredictOptions& predict,
                    const OutputOptions& output);
  std::vector<Outcome::More> kernels;  // as source

 private:
  // Made once for the loops that become threads, whichever dimensions they get.
  std::string ptx_of(const models::loops::Mapping& mapping, const std::string& name,
                     const std::string& architecture);
  // The kernels that somebody wants to have; returns the PTX, where it is wanted.
  std::string emit(const LoopOptions& o, models::loops::Answer& answer, const Measurement& measured,
                   const std::string& name, const std::string& architecture);

  std::string file_;
  compile::LoopProgram program_;
  Description nest_;
  std::optional<Measurement> measured_;  // of the one run
  std::map<std::pair<std::vector<unsigned>, std::string>, std::string> ptx_;
};

std::string LoopStudy::ptx_of(const models::loops::Mapping& mapping, const std::string& name,
                              const std::string& architecture) {
  const std::vector<unsigned> wanted = levels_of(nest_, mapping);
  std::vector<unsigned> levels = wanted;
  std::ranges::sort(levels);
  const auto [made, is_new] = ptx_.try_emplace({levels, architecture});
  if (is_new) {
    try {
      made->second = program_.ptx(levels, name, architecture);
    } catch (const Error& e) {
      if (e.code() == ExitCode::interrupted) throw;
      // The prediction does without; --emit-ptx and --simulate say why there is none.
    }
  }
  return with_dimensions(made->second, levels, wanted);
}

std::string LoopStudy::emit(const LoopOptions& o, models::loops::Answer& answer, const Measurement& measured,
                            const std::string& name, const std::string& architecture) {
  const models::loops::NestCounts& counts = answer.candidates.front().counts;
  const std::vector<models::loops::Tile> tiles =
      o.stage ? models::loops::chosen(answer.staging) : std::vector<models::loops::Tile>();
  if (!o.emit_cuda.empty())
    kernels.push_back({o.emit_cuda, [text = cuda_of(nest_, counts, measured, name, tiles)] { return text; }});
  if (o.stage && tiles.empty())
    answer.notes.emplace_back("--stage: there is nothing that shared memory would make faster");
  if (o.emit_ptx.empty() && !o.simulate) return {};
  std::string ptx = program_.ptx(levels_of(nest_, counts.mapping), name, architecture);
  if (!o.emit_ptx.empty()) kernels.push_back({o.emit_ptx, [ptx] { return ptx; }});
  return ptx;
}

result::Result LoopStudy::at(const LoopOptions& o, const RunOptions& given,
                             const gpu::PredictOptions& predict, const OutputOptions& output) {
  const options::Configuration configuration = resolve(given);
  const device::LoadedDevice device = options::load_device(configuration);
  const Description& nest = nest_;
  std::vector<std::optional<std::int64_t>> values = values_of(nest, o);
  if (!measured_) measured_ = measure(program_, o, file_, nest);
  const Measurement& measured = *measured_;
  fill_in(values, nest, measured);
  const models::loops::Shape shape = models::loops::shape_of(nest, values, measured.counted);
  const models::loops::Parallelism parallel = models::loops::parallelism(nest, shape, measured.touched);
  if (models::loops::mappings(nest, parallel, o.assume_parallel).empty()) refuse(nest, parallel);

  const std::string name = fmt::format("{}_{}", nest.function, nest.line);
  const std::string architecture = compile::architecture_for(device.device.cc_major, device.device.cc_minor);
  const LoopPrediction prediction(
      o, device.device, predict, name, gpu::ptx_of(configuration.options.lowering),
      [&](const models::loops::Mapping& m) { return ptx_of(m, name, architecture); });
  models::loops::Answer answer{nest,
                               shape,
                               parallel,
                               {},
                               {},
                               models::loops::on_chip_intensity(nest, shape),
                               {},
                               {},
                               0,
                               {},
                               measured.sequential_ns,
                               measured.run.calls,
                               {}};
  answer.candidates = prediction.candidates(nest, shape, parallel, measured, answer.sizes);
  const models::loops::Candidate& best = answer.candidates.front();
  add_notes(answer, o, measured.run, prediction.why_not_followed(), device.device.name);
  double threads = 1;
  for (const int l : best.counts.mapping.loops) threads *= shape.trips[static_cast<std::size_t>(l)];
  answer.resios = models::loops::resios_block(best.counts.code, answer.intensity, threads, device.device);
  const models::Inputs inputs = inputs_of(nest, shape, best.counts, device.device, prediction.given());
  result::Result result;
  result.kernels.push_back(prediction.answer(name, inputs));
  result::KernelResult& k = result.kernels.back();
  set_launch(k, best.counts);
  answer.idle = idle_of(nest, inputs, prediction.options());
  answer.staging = models::loops::stagings(nest, shape, best.counts, device.device);
  answer.staged_ns = prediction.choose(answer.staging, nest, shape, best, measured);
  answer.worth = worth_of(k, best.counts, device.device, best.model, prediction.given(), inputs.counts);
  const std::string ptx = emit(o, answer, measured, name, architecture);
  if (o.simulate)
    add_simulation(answer, k,
                   simulate_nest(nest, best.counts.mapping, ptx, name, measured.run, device.device,
                                 configuration.options, output),
                   inputs.counts, threads, device.device);
  models::loops::add_tables(answer, k);
  result.total = k.metrics;
  set_manifest(result.manifest, device.device.name, inputs, compiled(o, file_));
  return result;
}

// An axis is the GPU, the block or the mapping of the nest, a device key, or a parameter of the nest.
void vary(LoopOptions& o, RunOptions& given, const Axis& axis, const std::string& value) {
  if (axis.name == "gpu")
    given.set("gpu", value);
  else if (axis.name == "block")
    o.block = value;
  // Commas part the values of an axis
  else if (axis.name == "map")
    o.map.clear(), std::ranges::replace_copy(value, std::back_inserter(o.map), '+', ',');
  else if (axis.name.find('.') != std::string::npos)
    given.add("set", fmt::format("{}={}", axis.name, with_unit(value)));
  else
    o.params.push_back(fmt::format("{}={}", axis.name, value));
}

void check_axes(const LoopOptions& o, const std::vector<Axis>& axes) {
  if (!o.emit_ptx.empty() || !o.emit_cuda.empty())
    throw Error(ExitCode::usage, "option-conflict",
                "--emit-ptx and --emit-cuda write one kernel; several GPUs or a sweep have many",
                "one of them at a time");
  for (const Axis& a : axes) {
    if (a.name == "block" && !o.block.empty())
      throw Error(ExitCode::usage, "option-conflict",
                  "--nest-block and --sweep block both say how large a block is", "leave one of them out");
    if (a.name == "map" && !o.map.empty())
      throw Error(ExitCode::usage, "option-conflict",
                  "--nest-map and --sweep map both say which loops become threads", "leave one of them out");
    const bool parameter =
        a.name != "gpu" && a.name != "block" && a.name != "map" && a.name.find('.') == std::string::npos;
    if (parameter && o.run)
      throw Error(ExitCode::usage, "option-conflict",
                  fmt::format("--sweep {}: a run of the program has one value of it", a.name),
                  "leave out --run, or sweep a GPU, block, map or a device key");
  }
}

}  // namespace

result::Result loop_result(const LoopOptions& o, const RunOptions& given, const gpu::PredictOptions& predict,
                           const std::string& file, const OutputOptions& output) {
  return LoopStudy(o, file).at(o, given, predict, output);
}

Outcome predict_loop(const LoopOptions& o, const RunOptions& given, OutputOptions output,
                     const gpu::PredictOptions& predict, const std::vector<std::string>& rest,
                     const std::vector<std::string>& sweep) {
  const RunClock clock;
  if (rest.size() > 1)
    throw Error(ExitCode::usage, "argument-unexpected",
                fmt::format("'{}' is too much: a C program is one file",
                            shown(rest[rest[0].ends_with(".c") ? 1 : 0])),
                "--cflags takes other sources and clang's options, --run the program's arguments");
  const std::string file = rest.front();
  if (o.simulate && !o.run)
    throw Error(ExitCode::bad_input, "loop-data",
                "--simulate needs data, which only a run of the program gives", "add --run 'ARGUMENTS'");
  output.more.push_back({"--emit-ptx", const_cast<std::string*>(&o.emit_ptx)});
  output.more.push_back({"--emit-cuda", const_cast<std::string*>(&o.emit_cuda)});
  check_outputs(output);
  check_inputs(output, {file});

  LoopStudy study(o, file);
  const std::vector<Axis> axes = predicted_axes(given, sweep);
  if (!axes.empty()) {
    check_axes(o, axes);
    return predict_points(axes, output, [&](const std::vector<std::string>& values) {
      LoopOptions varied = o;
      RunOptions there = given;
      gpu::PredictOptions model = predict;
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (!vary_model(model, axes[i].name, values[i])) vary(varied, there, axes[i], values[i]);
      return study.at(varied, there, model, output);
    });
  }
  result::Result result = study.at(o, given, predict, output);
  clock.finish(result);
  Outcome out(std::move(result), std::move(output));
  out.more = std::move(study.kernels);
  return out;
}

}  // namespace simtlab::studies
