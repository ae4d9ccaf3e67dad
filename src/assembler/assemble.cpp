#include "assembler/assemble.h"

#include <algorithm>

#include "assembler/allocate.h"
#include "assembler/balance.h"
#include "assembler/clean.h"
#include "assembler/control.h"
#include "assembler/converge.h"
#include "assembler/expand.h"
#include "assembler/layout.h"
#include "assembler/predicate.h"
#include "assembler/schedule.h"
#include "assembler/select.h"
#include "assembler/simplify.h"
#include "machine/code.h"
#include "ptx/fold.h"

namespace simtlab::assembler {
namespace {

// Registers that a thread may have: by .maxnreg, and so that a block of the largest size fits.
std::uint32_t register_limit(const ptx::Function& f) {
  constexpr std::uint64_t file = 65536, resident_threads = 2048, most = 255;
  std::uint64_t limit = f.max_nreg != 0 ? std::min<std::uint64_t>(f.max_nreg, most) : most;
  const std::uint32_t(&ntid)[3] = f.req_ntid[0] != 0 ? f.req_ntid : f.max_ntid;
  if (ntid[0] == 0) return static_cast<std::uint32_t>(limit);
  std::uint64_t threads = 1;
  for (const std::uint32_t n : ntid)
    threads = std::min<std::uint64_t>(threads * std::max(n, 1u), resident_threads + 1);
  threads = (threads + 31) / 32 * 32;
  std::uint64_t resident = threads * std::max(f.min_nctapersm, 1u);
  if (resident > resident_threads) resident = threads;  // then .minnctapersm does not count
  return static_cast<std::uint32_t>(std::min(limit, std::max<std::uint64_t>(file / resident / 8 * 8, 16)));
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

Program program_of(ptx::VirtualFunction work, const ptx::Module& module, unsigned generation) {
  std::string why;
  if (!expand(work, generation, why)) throw GivenUp{why};
  ptx::fold(work.fn, ptx::build_cfg(work.fn), work.registers);
  Program program;
  program.most_registers = register_limit(work.fn);
  if (!select(work, module, generation, program, why)) throw GivenUp{why};
  clean(program);
  simplify(program);
  clean(program);
  predicate(program);
  converge(program);
  schedule_before_allocation(program);
  if (!allocate(program, why)) throw GivenUp{why};
  balance(program);
  schedule_after_allocation(program);
  lay_out(program);
  set_control(program);
  return program;
}

}  // namespace

bool makes(unsigned generation) { return machine::is_decoded(generation); }

Assembler::Assembler(const ptx::Module& module, unsigned generation)
    : module_(module), generation_(generation) {}

bool Assembler::assemble(ptx::VirtualFunction& f, std::string& why) {
  if (!f.fn.is_entry || !f.fn.call_sites.empty()) {
    why = f.fn.is_entry ? "a call of a function" : "a function that is called";
    return false;
  }
  if (!makes(generation_)) {
    why = "instructions of sm_" + std::to_string(generation_) + " are not known (only those of sm_" +
          std::string(machine::decoded_generations) + ")";
    return false;
  }
  try {
    if (!views_) views_.emplace(machine::SassTable::shipped(generation_));
    const Program program = program_of(f, module_, generation_);
    machine::MadeCode made = encode(program);
    if (!lines_) lines_ = lines_of(module_);
    made.ptx = lines_;
    if (const ptx::Variable* bank = module_.find_variable(ptx::constant_bank_name))
      made.banks[3] = {static_cast<std::uint32_t>(bank - module_.variables.data()), bank->bytes};
    ptx::Function whole = f.fn;
    whole.assembled = true;
    machine::set_code(whole, std::move(made), *views_);
    f.fn = std::move(whole);
    return true;
  } catch (const GivenUp& reason) { why = reason.why; } catch (const Error& error) {
    why = error.diagnostics().front().message;
  }
  return false;
}

}  // namespace simtlab::assembler
