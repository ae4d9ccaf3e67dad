// simtlab disasm FILE: the machine code in a cubin, a fat binary, an executable or a library, or what
// simtlab's assembler makes of the PTX in it, or of a source.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "machine/forms.h"
#include "machine/image.h"
#include "studies/common/device_code.h"
#include "studies/common/studies.h"
#include "studies/disasm/assembled.h"
#include "studies/disasm/disasm.h"
#include "studies/disasm/listing.h"
#include "studies/disasm/sources.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{4} << 30;

struct DisasmOptions {
  std::string file, kernel, architecture, assemble, json;
};

// What is to be shown of a file.
struct Source {
  DisasmOptions options;
  std::string bytes;
  std::vector<DeviceCode> code;
  std::vector<AssembledModule> assembled;
};

bool is_wanted(const DisasmOptions& o, const DeviceCode& code) {
  return o.architecture.empty() || o.architecture == fmt::format("sm_{}", code.generation) ||
         o.architecture == std::to_string(code.generation);
}

void for_code(const Source& source, const std::function<void(const ChosenCode&)>& each) {
  for (const AssembledModule& module : source.assembled)
    if (const ChosenCode chosen = choose(module, source.options.kernel);
        !chosen.kernels.empty() || !chosen.refused.empty())
      each(chosen);
  for (const DeviceCode& code : source.code) {
    ChosenCode chosen{.name = code.name, .generation = code.generation};
    std::string bytes;
    if (!machine::is_decoded(code.generation)) {
      chosen.why_not = fmt::format("simtlab decodes that of sm_{}", machine::decoded_generations);
    } else {
      bytes = code.contents();
      chosen.image = machine::read_image(std::as_bytes(std::span(bytes)), code.name);
      chosen.lines = machine::read_lines(chosen.image.elf);
      chosen.ptx = machine::read_ptx_lines(chosen.image.elf);
      for (const machine::ImageKernel& kernel : chosen.image.kernels)
        if (kernel.name.find(source.options.kernel) != std::string::npos)
          chosen.kernels.push_back({.facts = kernel, .list = [&chosen, &kernel] {
                                      return machine::list_kernel(chosen.image, kernel, chosen.lines,
                                                                  chosen.ptx);
                                    }});
      if (!source.options.kernel.empty() && chosen.kernels.empty()) continue;
    }
    each(chosen);
  }
}

Error unknown(const std::string& name, const std::string& kernel, const machine::ListedInstruction& line) {
  return {ExitCode::unsupported, "machine-instruction",
          fmt::format("{}: word 0x{:016x}{:016x} at 0x{:04x} of kernel {} is no known instruction: {}",
                      shown(name), line.word.high, line.word.low, line.address, shown(kernel),
                      std::get<machine::Undecoded>(line.decoded).reason)};
}

Error nothing_in(const Source& source) {
  const DisasmOptions& o = source.options;
  const std::string file = shown(o.file);
  const std::string of_kernel = o.kernel.empty() ? "" : " of a kernel named " + shown(o.kernel);
  if (is_device_source(o.file) && o.assemble.empty())
    return {ExitCode::bad_input, "disasm-nothing",
            fmt::format("{} is a source: it holds no machine code", file),
            "`--assemble sm_80` compiles it and makes machine code of it"};
  if (!o.assemble.empty())
    return {
        ExitCode::bad_input, "disasm-nothing",
        fmt::format("{} holds {}{}", file, is_device_source(o.file) ? "no kernel" : "no PTX", of_kernel),
        "CUDA C++ (.cu), OpenCL C (.cl), PTX text, a fat binary, or an executable or library with PTX in it"};
  const bool has_ptx = !find_ptx(source.bytes, o.file, 0).empty();
  return {ExitCode::bad_input, "disasm-nothing",
          fmt::format("{} holds no machine code{}{}", file,
                      o.architecture.empty() ? "" : " for " + shown(o.architecture), of_kernel),
          has_ptx
              ? "it holds PTX: `--assemble sm_80` makes machine code of that"
              : "a cubin, a fat binary, or an executable or library that nvcc built; `nvcc -cubin` makes a "
                "cubin"};
}

Error refused(const ChosenCode& code) {
  const ChosenCode::Refused& first = code.refused.front();
  return {
      ExitCode::unsupported, "not-assembled",
      fmt::format("{}: kernel {} was not assembled: {}", shown(code.name), shown(first.kernel), first.why)};
}

Outcome show(const std::shared_ptr<const Source>& source) {
  Outcome out;
  std::size_t shown_images = 0;
  for_code(*source, [&](const ChosenCode& code) {
    ++shown_images;
    if (!code.refused.empty() && !out.failure) out.failure = refused(code);
    for (const ShownKernel& kernel : code.kernels)
      for (const machine::ListedInstruction& line : kernel.list().instructions)
        if (!out.failure && line.text.empty()) out.failure = unknown(code.name, kernel.facts.name, line);
  });
  if (shown_images == 0) throw nothing_in(*source);
  const ForCode each = [source](const auto& f) { for_code(*source, f); };
  out.text = [each](const report::Style& style) { return text_of(each, style); };
  out.json = [each] { return json_of(each); };
  out.output.json = source->options.json;
  return out;
}

Outcome disassemble(const DisasmOptions& o) {
  const auto source = std::make_shared<Source>();
  source->options = o;
  const unsigned generation = o.assemble.empty() ? 0 : assembled_generation(o.assemble, "--assemble");
  source->bytes = read_file(o.file, max_file_bytes, "file");
  if (generation != 0) {
    source->assembled = is_device_source(o.file) ? assemble_source(o.file, generation)
                                                 : assemble_all(source->bytes, o.file, generation);
  } else {
    source->code = find_device_code(source->bytes, o.file);
    std::erase_if(source->code, [&](const DeviceCode& code) { return !is_wanted(o, code); });
  }
  return show(source);
}

}  // namespace

Outcome show_machine_code(const std::string& file, const std::vector<std::string>& arguments) {
  const auto source = std::make_shared<Source>();
  BuiltCode built = assemble_build(file, arguments);
  source->options.file = file;
  source->options.assemble = "as built";
  source->assembled = std::move(built.modules);
  Outcome out = show(source);
  out.output.output = built.output;
  return out;
}

void add_disasm(Command& app) {
  Command* sub =
      app.add_subcommand("disasm", "The machine code in a cubin, an executable or a library, or made of PTX");
  const auto o = std::make_shared<DisasmOptions>();
  sub->add_option("FILE", o->file,
                  "A cubin, a fat binary, or an executable or library that contains some; with --assemble "
                  "also PTX, CUDA "
                  "C++ (.cu) or OpenCL C (.cl)")
      ->required();
  sub->add_option("--kernel", o->kernel, "Only kernels whose name contains this")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--arch", o->architecture, "Only code for this architecture: sm_80")
      ->check(not_empty())
      ->type_name("SM");
  sub->add_option(
         "--assemble", o->assemble,
         "Instead: what simtlab's assembler makes of the PTX in the file, or of the source, for this "
         "architecture: sm_80 "
         "(docs/concepts/assembler.md)")
      ->check(not_empty())
      ->excludes("--arch")
      ->type_name("SM");
  sub->add_option("--json", o->json, "Write it as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->footer(
      "Columns: cycles until the next instruction of the warp may issue (stall); y where another warp goes\n"
      "first; the scoreboards that it sets, until results are written (w) and until operands were read (r);\n"
      "those that it waits for; operands whose value is kept for the next instruction.");
  sub->embeds();
  sub->action([o](const Call&) { return disassemble(*o); });
}

}  // namespace simtlab::studies
