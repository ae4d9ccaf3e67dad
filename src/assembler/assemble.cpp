#include "assembler/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "assembler/allocate.h"
#include "assembler/balance.h"
#include "assembler/bundled.h"
#include "assembler/clean.h"
#include "assembler/combine_atomics.h"
#include "assembler/control.h"
#include "assembler/converge.h"
#include "assembler/expand.h"
#include "assembler/forward.h"
#include "assembler/hoist.h"
#include "assembler/layout.h"
#include "assembler/narrow.h"
#include "assembler/predicate.h"
#include "assembler/recompute.h"
#include "assembler/schedule.h"
#include "assembler/select.h"
#include "assembler/signs.h"
#include "assembler/simplify.h"
#include "assembler/split.h"
#include "assembler/step_products.h"
#include "assembler/test_bits.h"
#include "assembler/uniform_constants.h"
#include "assembler/uniform_offsets.h"
#include "assembler/uniform_registers.h"
#include "assembler/update.h"
#include "assembler/yield.h"
#include "base/error.h"
#include "base/own_binary.h"
#include "machine/code.h"
#include "ptx/fold.h"
#include "ptx/resources.h"

namespace simtlab::assembler {
namespace {

// Registers that a thread may name: by its directives, and so that a block of the largest size fits. No
// kernel gets fewer than the vendor's assembler would give it.
std::uint32_t most_registers(const ptx::Function& f, unsigned generation) {
  constexpr std::uint32_t least = 24;
  const std::uint32_t most = generation < 32 ? 63 : 255;
  // Of the launch bounds' threads Fermi's SM has half as many registers.
  const std::uint32_t parts = generation < 30 ? 2 : 1;
  const auto limit_for = [&](std::uint32_t blocks) {
    const std::uint32_t given = ptx::register_limit(f, blocks);
    return given == f.max_nreg || given >= 255 ? given : given / parts;
  };
  const std::uint32_t limit = std::min(limit_for(1), limit_for(f.min_nctapersm));
  return std::clamp(limit, least, most) - place_registers(generation);
}

std::shared_ptr<const machine::PtxLines> lines_of(const ptx::Module& module) {
  if (!module.text) return nullptr;
  auto out = std::make_shared<machine::PtxLines>();
  std::string_view left = *module.text;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    out->text.emplace_back(line);
  }
  return out;
}

// Behind allocation.
void finish(Program& program) {
  if (!machine::in_bundles(program.generation)) balance(program);
  schedule_after_allocation(program);
  lay_out(program);
}

// From selected instructions to those that are encoded.
Program finished(Program program, bool ordered) {
  std::string why;
  if (ordered) schedule_before_allocation(program);
  if (!allocate(program, why)) throw GivenUp{why};
  finish(program);
  return program;
}

// How few registers let an SM have more: a portion fewer where that lets it be full of threads; it then holds
// a quarter more of them or, in large blocks, twice as many. On Fermi a block of the largest size fits
// with 32.
std::uint32_t better_registers(std::uint32_t needed, unsigned generation) {
  constexpr std::uint32_t largest_block_of_fermi = 32;
  const std::uint32_t full = registers_of_full_sm(generation);
  if (needed > full && needed <= full + register_portion) return full;
  return generation < 30 && needed > largest_block_of_fermi ? largest_block_of_fermi : needed;
}

// With as few registers, if a warp that is alone takes at most a quarter longer.
Program of_full_sm(const Program& selected, Program program) {
  constexpr std::uint64_t worth_it = 4;
  const std::uint32_t needed = program.used_registers + place_registers(program.generation);
  const std::uint32_t full = better_registers(needed, program.generation);
  if (program.spilled > 0 || needed == full) return program;
  const std::uint64_t cycles = expected_cycles(program);
  // The order keeps some free for what allocation loses: as few as suffice.
  for (const std::uint32_t less : {0u, 3u, 6u}) {
    Program fewer = selected;
    fewer.most_registers = full - place_registers(program.generation) + lost_registers - less;
    schedule_before_allocation(fewer);
    fewer.most_registers = full - place_registers(program.generation);
    std::string why;
    if (!allocate(fewer, why) || fewer.spilled > 0) continue;
    finish(fewer);
    if (expected_cycles(fewer) <= cycles + cycles / worth_it) return fewer;
  }
  return program;
}

// What goes to uniform registers
enum class Uniform : std::uint8_t { none, constants, all };

Program program_of(ptx::VirtualFunction work, const ptx::Module& module, unsigned generation,
                   Uniform uniform) {
  std::string why;
  if (!expand(work, selected_as(generation), why)) throw GivenUp{why};
  ptx::fold(work.fn, ptx::build_cfg(work.fn), work.registers);
  Program selected;
  selected.most_registers = most_registers(work.fn, generation);
  if (!select(work, module, selected_as(generation), selected, why)) throw GivenUp{why};
  forward_copies(selected);
  clean(selected);
  simplify(selected);
  narrow(selected);
  forward_copies(selected);
  clean(selected);
  split_registers(selected);
  clean(selected);
  test_bits(selected);
  add_signs(selected);
  combine_atomics(selected, generation);
  hoist(selected);
  if (selected_as(generation) != generation) {
    to_bundles(selected, generation);
    hoist(selected);
  }
  compute_steps_in_loops(selected);
  predicate(selected);
  converge(selected);
  if (!machine::in_bundles(generation)) yield_in_loops(selected);
  update_in_place(selected);
  clean(selected);
  recompute(selected);
  if (uniform == Uniform::all) use_uniform_registers(selected);
  if (uniform != Uniform::none) {
    use_uniform_constants(selected);
    use_uniform_offsets(selected);
  }
  Program program = of_full_sm(selected, finished(selected, true));
  // An order that waits little has many values alive. Where registers did not suffice, the optimiser's may be
  // better.
  if (program.spilled > 0) {
    Program other = finished(std::move(selected), false);
    if (expected_cycles(other) < expected_cycles(program)) program = std::move(other);
  }
  if (machine::has_control(generation)) {
    set_control(program);
    if (machine::in_bundles(generation)) lengthen_short_ways(program);
  }
  return program;
}

// Not the default yet: kernels keep fewer registers, but SGEMM on an H100 comes out further from the vendor's
// code (docs/lab/assembler.md).
bool wants_uniform_registers() {
  const char* wanted = std::getenv("SIMTLAB_UNIFORM");
  const std::string_view word = wanted == nullptr ? "off" : wanted;
  if (word == "on" || word == "off") return word == "on";
  throw Error(ExitCode::usage, "config-uniform", "SIMTLAB_UNIFORM is neither on nor off",
              "leave SIMTLAB_UNIFORM unset for the default");
}

bool all_uniform() {
  static const bool all = wants_uniform_registers();
  return all;
}

Program program_of(const ptx::VirtualFunction& function, const ptx::Module& module, unsigned generation) {
  try {
    return program_of(function, module, generation, all_uniform() ? Uniform::all : Uniform::constants);
  } catch (const NoUniformRegisters&) { return program_of(function, module, generation, Uniform::none); }
}

}  // namespace

bool makes(unsigned generation) { return machine::is_assembled(generation); }

Assembler::Assembler(const ptx::Module& module, unsigned generation, std::optional<KeptCode> kept)
    : module_(module), generation_(generation), kept_(std::move(kept)) {}

bool Assembler::recall(ptx::VirtualFunction& f) {
  if (!kept_ || !f.fn.is_entry || !makes(generation_)) return false;
  std::optional<Kept> kept = kept_->find(f.fn.name);
  if (!kept) return false;
  ptx::VirtualFunction whole = f;
  whole.fn.optimised = kept->optimised;
  whole.fn.not_optimised = std::move(kept->not_optimised);
  try {
    put(std::move(kept->code), whole);
  } catch (const Error&) { return false; }
  f = std::move(whole);
  return true;
}

void Assembler::put(machine::MadeCode made, ptx::VirtualFunction& f) {
  if (!views_) views_.emplace(machine::SassTable::shipped(generation_));
  if (!lines_) lines_ = lines_of(module_);
  made.ptx = lines_;
  if (const ptx::Variable* bank = module_.find_variable(ptx::constant_bank_name))
    made.banks[3] = {static_cast<std::uint32_t>(bank - module_.variables.data()), bank->bytes};
  ptx::Function whole = f.fn;
  whole.assembled = true;
  machine::set_code(whole, std::move(made), *views_);
  f.fn = std::move(whole);
}

bool Assembler::assemble(ptx::VirtualFunction& f, std::string& why) {
  if (!f.fn.is_entry || !f.fn.call_sites.empty()) {
    why = f.fn.is_entry ? "a call of a function" : "a function that is called";
    // The optimiser takes functions into the kernels that call them.
    if (!f.fn.not_optimised.empty()) why += " that was not taken into it (" + f.fn.not_optimised + ")";
    return false;
  }
  if (!makes(generation_)) {
    why = "instructions of sm_" + std::to_string(generation_) + " are not known (only those of sm_" +
          std::string(machine::assembled_generations) + ")";
    return false;
  }
  try {
    const Kept kept{.code = encode(program_of(f, module_, generation_)),
                    .optimised = f.fn.optimised,
                    .not_optimised = f.fn.not_optimised};
    put(kept.code, f);
    if (kept_) kept_->keep(f.fn.name, kept);
    return true;
  } catch (const GivenUp& reason) { why = reason.why; } catch (const Error& error) {
    why = error.diagnostics().front().message;
  }
  return false;
}

namespace {

// Nothing is kept if nobody can tell which builds make the code.
std::optional<KeptCode> kept_code(const ptx::Module& module, unsigned generation,
                                  std::string (*optimiser_build)()) {
  const std::string assembler = build_of(reinterpret_cast<const void*>(&makes));
  const std::string optimiser = optimiser_build == nullptr ? "not optimised" : optimiser_build();
  if (!module.text || assembler.empty() || optimiser.empty()) return std::nullopt;
  return KeptCode(*module.text, generation,
                  fmt::format("{} {} {}", assembler, optimiser, all_uniform() ? "uniform" : ""));
}

}  // namespace

void make_code(ptx::LoadOptions& options, unsigned generation, bool keep) {
  auto assembler = std::make_shared<std::optional<Assembler>>();
  const auto of = [assembler, generation, keep,
                   by = options.optimiser_build](const ptx::Module& m) -> Assembler& {
    if (!*assembler) assembler->emplace(m, generation, keep ? kept_code(m, generation, by) : std::nullopt);
    if (by != nullptr && by().empty()) (*assembler)->keep_no_more();
    return **assembler;
  };
  options.recall = [of](ptx::VirtualFunction& f, const ptx::Module& m, std::string&) {
    return of(m).recall(f);
  };
  options.assemble = [of](ptx::VirtualFunction& f, const ptx::Module& m, std::string& why) {
    return of(m).assemble(f, why);
  };
}

}  // namespace simtlab::assembler
