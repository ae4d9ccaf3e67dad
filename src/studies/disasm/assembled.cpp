#include "studies/disasm/assembled.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "assembler/assemble.h"
#include "base/error.h"
#include "base/shown.h"
#include "machine/code.h"
#include "machine/forms.h"
#include "machine/launch_state.h"
#include "optimiser/optimiser.h"
#include "studies/common/device_code.h"

namespace simtlab::studies {
namespace {

// As `run` loads it.
std::shared_ptr<const ptx::Module> assembled(std::string name, std::string text, unsigned generation) {
  ptx::LoadOptions options;
  optimiser::use(options);
  assembler::make_code(options, generation);
  auto module = ptx::load_module(std::move(name), std::move(text), options);
  module->complete_all();
  return module;
}

machine::ImageKernel facts_of(const ptx::Function& f, unsigned generation) {
  machine::ImageKernel out;
  out.name = f.name;
  for (std::size_t i = 0; i < f.params.size(); ++i)
    out.parameters.push_back(
        {.ordinal = static_cast<std::uint32_t>(i), .offset = f.params[i].offset, .bytes = f.params[i].bytes});
  out.parameter_base = machine::launch_slots(generation).parameters;
  out.parameter_bytes = f.param_bytes;
  out.registers = f.registers;
  out.shared_bytes = f.shared_bytes;
  out.stack_bytes = f.total_frame_bytes;
  out.barriers = f.barriers;
  return out;
}

}  // namespace

unsigned assembled_generation(const std::string& architecture, const char* option) {
  std::string_view digits = architecture;
  if (digits.starts_with("sm_")) digits.remove_prefix(3);
  unsigned out = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && assembler::makes(out))
    return out;
  throw Error(ExitCode::usage, "option-value",
              fmt::format("{}: no machine code can be made for {}", option, shown(architecture)),
              fmt::format("one of sm_{}", machine::assembled_generations));
}

std::vector<AssembledModule> assemble_all(const std::string& bytes, const std::string& name,
                                          unsigned generation) {
  std::vector<AssembledModule> out;
  for (DeviceText& text : find_ptx(bytes, name, generation))
    out.push_back({text.name, generation, assembled(text.name, std::move(text.ptx), generation)});
  return out;
}

ChosenCode choose(const AssembledModule& assembled, const std::string& kernel) {
  const ptx::Module& module = *assembled.module;
  ChosenCode out{.name = assembled.name, .generation = assembled.generation};
  for (const ptx::Function& f : module.functions) {
    if (!f.is_entry || f.name.find(kernel) == std::string::npos) continue;
    if (!f.assembled) {
      out.refused.push_back({f.name, f.not_assembled});
      continue;
    }
    if (f.machine->ptx && out.ptx.text.empty()) out.ptx = *f.machine->ptx;
    out.kernels.push_back({.facts = facts_of(f, assembled.generation),
                           .list = [&f, &module] { return machine::list_code(f, module.files); }});
  }
  return out;
}

}  // namespace simtlab::studies
