// simtlab trace: what a recorded trace holds, parts of it, differences, other formats.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "stream/trace/cut.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"
#include "studies/trace/convert.h"
#include "studies/trace/info.h"

namespace simtlab::studies {
namespace {

namespace trace = stream::trace;

void refuse_same(const std::string& in, const std::string& out) {
  std::error_code ignored;
  if (in == out || std::filesystem::equivalent(in, out, ignored))
    throw Error(ExitCode::usage, "trace-same", fmt::format("{} is the input and the output", shown(in)),
                "choose another file");
}

// "3", "3-7", "3-" or "-7".
trace::Range range_of(const std::string& text, const char* option) {
  const auto refuse = [&] {
    throw Error(ExitCode::usage, "option-value", fmt::format("{} {} is no range", option, shown(text)),
                "for example 3, 3-7, 3- or -7");
  };
  const auto number = [&](std::string_view part, std::uint64_t otherwise) {
    if (part.empty()) return otherwise;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size()) refuse();
    return value;
  };
  const std::string_view all = text;
  const std::size_t dash = all.find('-');
  trace::Range range;
  if (all.empty() || all == "-") refuse();
  if (dash == std::string_view::npos) {
    range.first = range.last = number(all, 0);
  } else {
    range.first = number(all.substr(0, dash), 0);
    range.last = number(all.substr(dash + 1), ~std::uint64_t{0});
  }
  if (range.first > range.last) refuse();
  return range;
}

struct CutOptions {
  std::string in, out, kernels = "0-", blocks = "0-";
};

Outcome cut(const CutOptions& o) {
  refuse_same(o.in, o.out);
  const Signals signals(0);
  const std::unique_ptr<trace::Reader> reader = trace::open(o.in);
  trace::Writer writer(o.out, reader->recorded_on());
  const trace::Totals kept = trace::cut(*reader, range_of(o.kernels, "--kernels"),
                                        range_of(o.blocks, "--blocks"), writer, signals.flag());
  if (kept.kernels == 0)
    throw Error(ExitCode::bad_input, "trace-selection",
                fmt::format("no block of {} is in --kernels {} --blocks {}: it has {} kernels", shown(o.in),
                            o.kernels, o.blocks, reader->totals().kernels),
                "simtlab trace info lists kernels and blocks");
  writer.close();
  talk(fmt::format("{}: {} kernels, {} blocks\n", shown(o.out), kept.kernels, kept.blocks));
  return {};
}

Outcome diff(const std::string& a, const std::string& b) {
  const Signals signals(0);
  const std::unique_ptr<trace::Reader> first = trace::open(a), second = trace::open(b);
  const std::optional<trace::Difference> found = trace::difference(*first, *second, signals.flag());
  std::string text;
  if (found)
    text = fmt::format(
        "first difference: kernel {}, block {}, warp {}, instruction {}\n  {}\n    {}: {}\n    {}: {}\n",
        found->kernel, found->block, found->warp, found->instruction, shown(found->what), shown(a),
        shown(found->first), shown(b), shown(found->second));
  else
    text = fmt::format("the same {} kernels, {} warp instructions\n", first->totals().kernels,
                       first->totals().warp_instructions);
  Outcome out;
  out.text = [text = std::move(text)](const report::Style&) { return text; };
  if (found) out.code = static_cast<int>(ExitCode::check_failed);
  return out;
}

void add_cut(Command& trace) {
  Command* sub = trace.add_subcommand("cut", "Copy some kernels and blocks of a trace to a smaller one");
  const auto o = std::make_shared<CutOptions>();
  sub->add_option("TRACE", o->in, "Trace (FILE.simt)")->required();
  sub->add_option("-o,--output", o->out, "The smaller trace")
      ->required()
      ->check(output_file())
      ->type_name("FILE");
  sub->add_option("--kernels", o->kernels, "Kernels by the order of their launch, from 1: 3, 3-7, 3-, -7")
      ->type_name("RANGE");
  sub->add_option("--blocks", o->blocks, "Blocks by their number in the grid, from 0")->type_name("RANGE");
  sub->action([o](const Call&) { return cut(*o); });
}

}  // namespace

void add_trace(Command& app) {
  Command* trace = app.add_subcommand("trace", "Look at, cut, compare and convert recorded traces");
  trace->require_subcommand(1, 1);
  add_trace_info(*trace);
  add_cut(*trace);
  Command* sub =
      trace->add_subcommand("diff", "Find the first difference of two traces (exit code 6 if there is one)");
  const auto files = std::make_shared<std::pair<std::string, std::string>>();
  sub->add_option("FIRST", files->first, "Trace (FILE.simt)")->required();
  sub->add_option("SECOND", files->second, "Trace (FILE.simt)")->required();
  sub->action([files](const Call&) { return diff(files->first, files->second); });
  add_trace_convert(*trace);
}

}  // namespace simtlab::studies
