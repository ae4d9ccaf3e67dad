// simtlab disasm FILE: the machine code in a cubin, a fat binary, an executable or a library.
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
#include "studies/disasm/listing.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{4} << 30;

struct DisasmOptions {
  std::string file, kernel, architecture, json;
};

// What is to be shown of a file.
struct Source {
  DisasmOptions options;
  std::string bytes;
  std::vector<DeviceCode> code;
};

bool is_wanted(const DisasmOptions& o, const DeviceCode& code) {
  return o.architecture.empty() || o.architecture == fmt::format("sm_{}", code.generation) ||
         o.architecture == std::to_string(code.generation);
}

void for_code(const Source& source, const std::function<void(const ChosenCode&)>& each) {
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
        if (kernel.name.find(source.options.kernel) != std::string::npos) chosen.kernels.push_back(&kernel);
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

Outcome disassemble(const DisasmOptions& o) {
  const auto source = std::make_shared<Source>();
  source->options = o;
  source->bytes = read_file(o.file, max_file_bytes, "file");
  source->code = find_device_code(source->bytes, o.file);
  std::erase_if(source->code, [&](const DeviceCode& code) { return !is_wanted(o, code); });
  Outcome out;
  std::size_t shown_images = 0;
  for_code(*source, [&](const ChosenCode& code) {
    ++shown_images;
    for (const machine::ImageKernel* kernel : code.kernels)
      for (const machine::ListedInstruction& line : machine::list_kernel(code.image, *kernel).instructions)
        if (!out.failure && line.text.empty()) out.failure = unknown(code.name, kernel->name, line);
  });
  if (shown_images == 0)
    throw Error(
        ExitCode::bad_input, "disasm-nothing",
        fmt::format("{} holds no machine code{}{}", shown(o.file),
                    o.architecture.empty() ? "" : " for " + shown(o.architecture),
                    o.kernel.empty() ? "" : " of a kernel named " + shown(o.kernel)),
        "a cubin, a fat binary, or an executable or library that nvcc built; `nvcc -cubin` makes a cubin");
  const ForCode each = [source](const auto& f) { for_code(*source, f); };
  out.text = [each](const report::Style& style) { return text_of(each, style); };
  out.json = [each] { return json_of(each); };
  out.output.json = o.json;
  return out;
}

}  // namespace

void add_disasm(Command& app) {
  Command* sub = app.add_subcommand("disasm", "The machine code in a cubin, an executable or a library");
  const auto o = std::make_shared<DisasmOptions>();
  sub->add_option("FILE", o->file, "A cubin, a fat binary, or an executable or library that contains some")
      ->required();
  sub->add_option("--kernel", o->kernel, "Only kernels whose name contains this")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--arch", o->architecture, "Only code for this architecture: sm_80")
      ->check(not_empty())
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
