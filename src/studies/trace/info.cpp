#include "studies/trace/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "machine/code.h"
#include "report/format.h"
#include "result/json.h"
#include "stream/trace/walk.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

namespace trace = stream::trace;

struct InfoOptions {
  std::string file, json;  // json: a file, "-" for stdout, empty for none
  bool mix = false;
};

using Mix = std::map<std::string, std::uint64_t>;

// Every instruction that was executed, by class, by name, and those names that no table knows.
struct Counts {
  Mix classes, names, guessed;
};

void count(const trace::ReplayedLaunch& launch, Counts& counts, const volatile bool* stop) {
  // By function and pc first: names are looked up once an instruction of the code.
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_pc;
  for (std::uint64_t i = 0; i < launch.block_count(); ++i) {
    if (*stop)
      throw Error(ExitCode::interrupted, "interrupted",
                  fmt::format("block {} of '{}'", i, launch.function().name));
    const trace::BlockEntry block = launch.entry(i);
    for (unsigned warp = 0; warp < launch.warps_per_block(); ++warp)
      for (trace::WarpWalk walk(launch, block, warp); !walk.at_end();) {
        std::vector<std::uint64_t>& pcs = by_pc[walk.function()];
        const std::uint32_t pc = walk.step().pc;
        if (pc >= pcs.size()) pcs.resize(pc + 1);
        ++pcs[pc];
      }
  }
  for (const auto& [function, pcs] : by_pc) {
    const trace::Code& code = launch.reader().codes()[function];
    for (std::uint32_t pc = 0; pc < pcs.size(); ++pc) {
      if (pcs[pc] == 0) continue;
      counts.classes[std::string(ptx::name_of(code.function().code[pc].op_class))] += pcs[pc];
      counts.names[trace::name_of(code, pc)] += pcs[pc];
      if (std::ranges::find(code.guessed, pc) != code.guessed.end())
        counts.guessed[trace::name_of(code, pc)] += pcs[pc];
    }
  }
}

std::vector<std::pair<std::string, std::uint64_t>> sorted(const Mix& mix) {
  std::vector<std::pair<std::string, std::uint64_t>> out(mix.begin(), mix.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

double per_instruction(std::uint64_t bytes, std::uint64_t instructions) {
  return instructions == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(instructions);
}

std::string shape(const std::array<std::uint32_t, 3>& d) { return fmt::format("{}x{}x{}", d[0], d[1], d[2]); }

std::string json_mix(const Mix& mix) {
  std::string out;
  for (const auto& [name, n] : mix)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", result::json_string(name), n);
  return "{" + out + "}";
}

struct Item {
  trace::Kernel kernel;
  std::string name;
  std::string code;  // what was recorded: "PTX", "machine code for sm_80"
  Counts counts;
};

// With the words of machine code its control information is there, too.
std::string code_of(const trace::Code& code) {
  if (code.function().machine)
    return fmt::format("machine code for sm_{}", code.function().machine->generation);
  return code.mnemonics.empty() ? "PTX" : fmt::format("opcodes of {} alone", code.module->target);
}

std::string as_json(const trace::Reader& reader, const std::vector<Item>& items, bool mix) {
  const trace::Totals& t = reader.totals();
  std::string kernels;
  for (const Item& i : items) {
    const trace::Kernel& k = i.kernel;
    kernels += fmt::format(
        "{}\n    {{\"name\": {}, \"code\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], "
        "\"shared_bytes\": {}, "
        "\"blocks\": {}, \"whole\": {}, "
        "\"warp_instructions\": {}, \"thread_instructions\": {}, \"stored_bytes\": {}",
        kernels.empty() ? "" : ",", result::json_string(i.name), result::json_string(i.code), k.grid[0],
        k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.shared_bytes, k.blocks, k.whole(),
        k.warp_instructions, k.thread_instructions, k.stored_bytes);
    if (mix)
      kernels +=
          fmt::format(", \"classes\": {}, \"opcodes\": {}, \"unknown_opcodes\": {}",
                      json_mix(i.counts.classes), json_mix(i.counts.names), json_mix(i.counts.guessed));
    kernels += "}";
  }
  return fmt::format(
      "{{\n  \"schema\": 1,\n  \"trace\": {{\"version\": {}, \"recorded_on\": {}, \"file_bytes\": {}, "
      "\"code_bytes\": {}, \"functions\": {}, "
      "\"kernels\": {}, \"blocks\": {}, \"warp_instructions\": {}, \"thread_instructions\": {}, "
      "\"bytes_per_warp_instruction\": {:.4f}}},\n"
      "  \"kernels\": [{}\n  ]\n}}\n",
      reader.version(), result::json_string(reader.recorded_on()), reader.file_bytes(), reader.code_bytes(),
      reader.codes().size(), t.kernels, t.blocks, t.warp_instructions, t.thread_instructions,
      per_instruction(reader.file_bytes(), t.warp_instructions), kernels);
}

std::string mix_line(const char* title, const Mix& mix, std::uint64_t all) {
  if (mix.empty()) return {};
  constexpr std::size_t most_named = 24;
  std::string out;
  std::size_t named = 0;
  for (const auto& [name, n] : sorted(mix)) {
    if (++named > most_named) {
      out += fmt::format(" and {} more", mix.size() - most_named);
      break;
    }
    out += fmt::format(
        "{}{} {}", out.empty() ? "" : ", ", report::printable(name),
        report::format_share(static_cast<double>(n) / static_cast<double>(std::max<std::uint64_t>(1, all))));
  }
  return "    " + report::wrapped(fmt::format("{}: {}", title, out), 96, 6) + "\n";
}

std::string as_text(const trace::Reader& reader, const std::vector<Item>& items) {
  const trace::Totals& t = reader.totals();
  std::string out = fmt::format(
      "{}: trace of simtlab, format {}, recorded on {}\n  {} kernels, {} blocks, {} warp instructions ({} by "
      "threads), {} functions\n"
      "  {} in the file, {:.3f} bytes a warp instruction\n",
      report::printable(reader.name()), reader.version(), report::printable(reader.recorded_on()), t.kernels,
      t.blocks, report::format_exact(t.warp_instructions), report::format_exact(t.thread_instructions),
      reader.codes().size(), report::format_bytes(static_cast<double>(reader.file_bytes())),
      per_instruction(reader.file_bytes(), t.warp_instructions));
  std::size_t number = 0;
  for (const Item& i : items) {
    const trace::Kernel& k = i.kernel;
    out += fmt::format(
        "\n  {}. {}\n    {}; grid {}, block {}, {} shared memory; {} of {} blocks\n    {} warp "
        "instructions, {:.3f} bytes each\n",
        ++number, report::printable(i.name), report::printable(i.code), shape(k.grid), shape(k.block),
        report::format_bytes(k.shared_bytes), k.blocks, k.grid_dim().count(),
        report::format_exact(k.warp_instructions), per_instruction(k.stored_bytes, k.warp_instructions));
    out += mix_line("classes", i.counts.classes, k.warp_instructions);
    out += mix_line("opcodes", i.counts.names, k.warp_instructions);
    out += mix_line("opcodes that the tables do not know, taken for int_alu", i.counts.guessed,
                    k.warp_instructions);
  }
  return out;
}

Outcome info(const InfoOptions& o) {
  const Signals signals(0);
  const std::shared_ptr<trace::Reader> reader = trace::open(o.file);
  const auto items = std::make_shared<std::vector<Item>>();
  {
    const Progress progress("reading", OutputOptions{}, Progress::Stopped::loses);
    while (const std::optional<trace::Operation> operation = reader->next()) {
      if (operation->kind != trace::OpKind::kernel) continue;
      const trace::Code& code = reader->codes()[operation->kernel.function];
      Item& item = items->emplace_back(Item{operation->kernel, code.function().name, code_of(code), {}});
      if (o.mix) count(trace::ReplayedLaunch(*reader, operation->kernel), item.counts, signals.flag());
    }
  }
  Outcome out;
  out.text = [reader, items](const report::Style&) { return as_text(*reader, *items); };
  out.json = [reader, items, mix = o.mix] { return as_json(*reader, *items, mix); };
  out.text_on_stdout = o.json.empty();
  out.output.json = o.json;
  return out;
}

}  // namespace

void add_trace_info(Command& trace) {
  Command* sub = trace.add_subcommand("info", "Kernels, blocks, instructions and bytes of a trace");
  const auto o = std::make_shared<InfoOptions>();
  sub->add_option("TRACE", o->file, "Trace (FILE.simt)")->required();
  sub->add_flag("--mix", o->mix,
                "Count what was executed, too: instruction classes and unknown opcodes (reads all blocks)");
  sub->add_option("--json", o->json, "As JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->action([o](const Call&) { return info(*o); });
}

}  // namespace simtlab::studies
