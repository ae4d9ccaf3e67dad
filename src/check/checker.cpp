#include "check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/kernel_name.h"
#include "check/host_work.h"
#include "check/unset_registers.h"
#include "exec/state.h"
#include "ptx/machine_ops.h"

namespace simtlab::check {
namespace {

// Of released memory, so that it is not used again at once.
constexpr std::uint64_t most_held = std::uint64_t{1} << 30;

Hook hook_of(const ptx::Inst& inst) {
  switch (inst.op) {
    case ptx::Op::membar:
    case ptx::Op::fence: return Hook::fence;
    case ptx::Op::bar_warp: return Hook::sync_warp;
    case ptx::Op::shfl:
    case ptx::Op::vote:
    case ptx::Op::match:
    case ptx::Op::redux: return Hook::members;
    case ptx::Op::cp_async_commit: return Hook::commit;
    case ptx::Op::cp_async_wait: return Hook::wait;
    case ptx::Op::nop: return inst.mods.video != 0 ? Hook::bulk_group : Hook::none;
    default: return Hook::none;
  }
}

}  // namespace

Checker::Checker(const Options& options, exec::GlobalMemory& memory)
    : options_(options),
      memory_(memory),
      shadow_(memory.begin(), memory.capacity()),
      races_(shadow_, sites_, sink_) {
  memory.set_on_write([this](std::uint64_t address, std::uint64_t bytes) { written(address, bytes); });
  if (options.memory) {
    constexpr std::uint64_t least_gap = std::uint64_t{1} << 20;
    memory.set_gap(std::min(least_gap, memory.capacity() / 1024));
    memory.hold_released(std::min(most_held, memory.capacity() / 4));
  }
  if (options.races && !shadow_.has_cells())
    findings_.gap("races in global memory: the host has no address space for their shadow (ulimit -v)");
}
Checker::~Checker() { memory_.set_on_write({}); }

// ---- the host

void Checker::allocated(std::uint64_t address, std::uint64_t bytes) {
  shadow_.forget(address, bytes);
  shadow_.expect(address, bytes);
  tracked_[address] = bytes;
  auto old = gone_.lower_bound(address);
  if (old != gone_.begin() && std::prev(old)->first + std::prev(old)->second.bytes > address) --old;
  while (old != gone_.end() && old->first < address + bytes) old = gone_.erase(old);
}

void Checker::released(std::uint64_t address) {
  const exec::Allocation* const there = memory_.find(address);
  if (there == nullptr || there->address != address) return;
  shadow_.forget(address, there->bytes);
  constexpr std::size_t most_gone = 1u << 16;
  if (gone_.size() < most_gone) gone_[address] = {there->bytes, there->what};
  tracked_.erase(address);
  ordered_.erase(address);
}

void Checker::allocated_in_stream(std::uint64_t address, std::uint32_t stream) {
  const exec::Allocation* const there = memory_.find(address);
  Submitted submitted = streams_.submit(stream);
  if (there != nullptr && options_.memory) ordered_.add(address, there->bytes, std::move(submitted));
}

void Checker::freed_in_stream(std::uint64_t address, std::uint32_t stream) {
  const Submitted freed = streams_.submit(stream);
  if (const OrderedMemory::Allocation* const there = ordered_.find(address))
    OrderedMemory::freed(findings_, *there, freed, global_place(memory_, address, 1));
}

void Checker::uses_ordered(OrderedMemory::Allocation& allocation, InstructionAt at, std::uint32_t launch,
                           std::uint64_t block, unsigned thread, std::uint64_t address, std::string what) {
  allocation.seen_in = launch;
  OrderedMemory::used(findings(), allocation,
                      {launches_.at(launch).submitted, at,
                       access_of(*at.function, at.pc, launch, block, thread, std::move(what))},
                      global_place(memory_, address, 1));
}

void Checker::written(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || !shadow_.holds(address) || shadow_.written() == nullptr) return;
  set_bits(shadow_.written(), shadow_.offset(address), bytes, true);
}

void Checker::unwritten(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || !shadow_.holds(address) || shadow_.written() == nullptr) return;
  set_bits(shadow_.written(), shadow_.offset(address), bytes, false);
}

void Checker::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (shadow_.written() == nullptr || !shadow_.holds(to) || bytes == 0) return;
  if (!shadow_.holds(from) || is_written(from, bytes)) return written(to, bytes);
  // Found before any of it is set: the two may overlap.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // place, length
  for (std::uint64_t i = 0; i < bytes;) {
    runs.emplace_back(i, run_of_bits(shadow_.written(), shadow_.offset(from) + i, bytes - i));
    i += runs.back().second;
  }
  bool value = all_set(shadow_.written(), shadow_.offset(from), 1);
  for (const auto& [at, length] : runs) {
    set_bits(shadow_.written(), shadow_.offset(to) + at, length, value);
    value = !value;
  }
}

void Checker::fetched(std::uint64_t from, std::uint64_t bytes, unsigned element) {
  if (bytes == 0 || !options_.init || !shadow_.holds(from) || is_written(from, bytes)) return;
  // Holes: how many, and the longest
  std::uint64_t holes = 0, longest = 0, at = 0;
  for (std::uint64_t i = 0; i < bytes;) {
    const std::uint64_t first = shadow_.offset(from) + i,
                        length = run_of_bits(shadow_.written(), first, bytes - i);
    const bool hole = !all_set(shadow_.written(), first, 1);
    if (hole && length > longest) longest = length, at = i;
    holes += hole ? 1 : 0;
    i += length;
  }
  // Structures have padding: a few bytes each, in each of them.
  constexpr std::uint64_t most_padding = 16, structure = 128;
  const bool whole_element = element >= 4 && longest >= element;
  const bool padding =
      !whole_element && longest < most_padding && (holes > 1 || bytes < structure) && longest < bytes;
  if (padding) return;
  const exec::Allocation* const there = memory_.find(from + at);
  if (there == nullptr) return;
  const std::uint64_t first = from + at - there->address;
  const std::string where = fmt::format("bytes {} to {} of the {} bytes of {}", first, first + longest - 1,
                                        there->bytes, there->what);
  result::Finding* const f = findings_.add("init.copied", where);
  if (f == nullptr) return;
  f->message = "a copy to the host of what nobody wrote on the device";
  f->memory = where;
  f->hint =
      "copy only what the kernels have written, or set it first; here it reads as zero, on a board as "
      "whatever was there";
}

bool Checker::is_written(std::uint64_t address, std::uint64_t bytes) {
  if (!shadow_.holds(address) || shadow_.written() == nullptr) return true;
  if (all_set(shadow_.written(), shadow_.offset(address), bytes)) return true;
  const exec::Allocation* const there = memory_.find(address);
  if (there != nullptr && tracked_.contains(there->address) && !there->host_writes) return false;
  // Nobody keeps account of it: variables of modules, the heap, memory that the host writes to.
  if (there != nullptr) written(there->address, there->bytes);
  return true;
}

void Checker::for_each_unwritten(const std::function<void(std::uint64_t, std::uint64_t)>& take) const {
  if (shadow_.written() == nullptr) return;
  for (const auto& [address, bytes] : tracked_) {
    const exec::Allocation* const there = memory_.find(address);
    if (there == nullptr || there->host_writes) continue;
    const std::uint64_t first = shadow_.offset(address);
    for (std::uint64_t at = 0; at < bytes;) {
      const std::uint64_t length = run_of_bits(shadow_.written(), first + at, bytes - at);
      if (!all_set(shadow_.written(), first + at, 1)) take(address + at, length);
      at += length;
    }
  }
}

const Checker::Gone* Checker::gone(std::uint64_t address, std::uint64_t* offset) const {
  auto at = gone_.upper_bound(address);
  if (at == gone_.begin()) return nullptr;
  --at;
  if (address - at->first >= at->second.bytes) return nullptr;
  *offset = address - at->first;
  return &at->second;
}

void Checker::api_error(const std::string& call, const std::string& error) {
  if (!options_.api) return;
  const bool launch = call.find("Launch") != std::string::npos, free = call.find("Free") != std::string::npos;
  result::Finding* const f = findings_.add(launch ? "api.launch"
                                           : free ? "memory.invalid-free"
                                                  : "api.error",
                                           call + error);
  if (f == nullptr) return;
  f->message = fmt::format("{} returned {}", call, error);
}

// ---- kernels

CheckedFunction& Checker::function(const std::shared_ptr<const ptx::Module>& module,
                                   const ptx::Function& function) {
  std::unique_ptr<CheckedFunction>& out = functions_[&function];
  if (out != nullptr) return *out;
  out = std::make_unique<CheckedFunction>();
  out->module = module;
  out->function = &function;
  for (const ptx::Inst& inst : function.code) out->hooks.push_back(hook_of(inst));
  for (auto& sites : out->sites) sites.assign(function.code.size(), 0);
  out->counted.resize(function.code.size());
  if (options_.init && function.is_entry) out->unset = may_be_unset(function);
  return *out;
}

std::uint32_t Checker::begin_launch(CheckedLaunch launch) {
  if (const auto at = submitted_.find(launch.number); at != submitted_.end()) launch.submitted = at->second;
  const bool last = std::ranges::all_of(
      launches_, [&](const auto& earlier) { return launch.submitted.comes_after(earlier.second.submitted); });
  if (under_way_++ == 0 && last) {
    races_.all_is_over();
    launches_.clear();
    sites_.clear();
    for (auto& [at, f] : functions_) {
      for (auto& sites : f->sites) std::ranges::fill(sites, 0);
    }
  }
  std::vector<std::uint32_t> over;
  for (const auto& [earlier, l] : launches_)
    if (launch.submitted.comes_after(l.submitted)) over.push_back(earlier);
  launch.beside = over.size() != launches_.size();
  const std::uint32_t id = races_.begin_launch(std::move(over));
  launches_[id] = std::move(launch);
  return id;
}

void Checker::end_launch() { --under_way_; }

std::uint32_t Checker::site(CheckedFunction& f, std::uint32_t pc, SiteKind kind) {
  std::uint32_t& known = f.sites[static_cast<std::size_t>(kind)][pc];
  if (known != 0) return known;
  const ptx::Inst& inst = f.function->code[pc];
  Site site;
  site.module = f.module.get();
  site.function = f.function;
  site.pc = pc;
  site.late = kind == SiteKind::late || kind == SiteKind::late_source || kind == SiteKind::handed;
  site.handed = kind == SiteKind::handed;
  site.atomic = inst.op == ptx::Op::atom || inst.op == ptx::Op::red;
  site.arrives = site.atomic && inst.mods.atom == ptx::AtomOp::inc && inst.mods.video == ptx::arrives_counted;
  const bool copy = inst.op == ptx::Op::cp_async;
  const bool source = kind == SiteKind::source || kind == SiteKind::late_source;
  site.reads = site.atomic || inst.op == ptx::Op::ld || inst.op == ptx::Op::ldu || source;
  site.writes = site.atomic || (copy && !source) || inst.op == ptx::Op::st;
  site.volatile_ = inst.mods.order == ptx::MemOrder::volatile_;
  site.strong = site.atomic || inst.mods.order != ptx::MemOrder::weak;
  site.spins = site.reads && site.strong && waits_in_loop(*f.function, pc);
  site.guesses = inst.op == ptx::Op::ld && !site.strong && is_guess(*f.function, pc);
  site.scope = inst.mods.scope != ptx::Scope::none ? inst.mods.scope
               : site.volatile_                    ? ptx::Scope::sys
                                                   : ptx::Scope::gpu;
  if (std::ranges::find(widened_, InstructionAt{&f, pc}) != widened_.end()) site.scope = ptx::Scope::gpu;
  site.bytes = copy ? (inst.mods.copy_bytes != 0 ? inst.mods.copy_bytes : bulk_grain)
                    : static_cast<std::uint16_t>(ptx::size_of(inst.type) * inst.mods.vector);
  known = sites_.add(site);
  if (known == 0)
    findings_.gap(fmt::format("races at instructions beyond the first {} that touch memory", late_bit));
  return known;
}

result::Access Checker::access_of(const CheckedFunction& f, std::uint32_t pc, std::uint32_t launch,
                                  std::uint64_t block, unsigned thread, std::string what) {
  const CheckedLaunch& l = launches_.at(launch);
  result::Access out;
  out.place = place_of(findings_.sources(), l.kernel, *f.module, *f.function, f.function->code[pc]);
  out.what = std::move(what);
  out.launch = l.number;
  const exec::Dim3 at = exec::block_at(l.grid, block);
  out.block[0] = at.x, out.block[1] = at.y, out.block[2] = at.z;
  out.thread[0] = thread % l.block.x;
  out.thread[1] = thread / l.block.x % l.block.y;
  out.thread[2] = thread / l.block.x / l.block.y;
  return out;
}

// ---- the result

void Checker::add_leaks(std::vector<result::Finding>& findings) const {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> leaks;  // by call: how many, bytes
  for (const auto& [address, size] : tracked_) {
    const exec::Allocation* const there = memory_.find(address);
    if (there == nullptr) continue;
    auto& [n, sum] = leaks[there->what];
    ++n, sum += size;
  }
  for (const auto& [what, leak] : leaks) {
    result::Finding f;
    f.rule = "memory.leak";
    f.level = result::Level::warning;
    f.count = leak.first;
    f.message = fmt::format("{} bytes of {} allocation{} by {} were never freed", leak.second, leak.first,
                            leak.first == 1 ? "" : "s", what);
    f.hint = "free them before the program ends";
    findings.push_back(std::move(f));
  }
}

namespace {

// What is often the consequence of what else was found: it comes behind that.
int comes_of_others(std::string_view rule) {
  if (rule == "memory.leak") return 4;
  if (rule.starts_with("api.") || rule.starts_with("program.")) return 3;
  if (rule.starts_with("init.") || rule.starts_with("order.") || rule.starts_with("number.")) return 2;
  return rule == "race.global" || rule == "race.shared" || rule == "barrier.deadlock" ? 1 : 0;
}

// Of the same lines, where one store writes the same value and another one does not, the race says it all.
std::vector<result::Finding> without_weaker(const std::vector<result::Finding>& findings) {
  const auto lines = [](const result::Finding& f) {
    std::vector<std::tuple<std::string, std::uint32_t>> out;
    for (const result::Access& a : f.accesses) out.emplace_back(a.place.file, a.place.line);
    std::ranges::sort(out);
    return out;
  };
  std::vector<result::Finding> out = findings;
  std::erase_if(out, [&](const result::Finding& weak) {
    return weak.rule == "race.same-value" && std::ranges::any_of(findings, [&](const result::Finding& f) {
             return (f.rule == "race.global" || f.rule == "race.shared") && lines(f) == lines(weak);
           });
  });
  return out;
}

struct FileCoverage {
  std::map<std::uint32_t, result::CoveredLine> lines;
  std::map<std::uint32_t, std::vector<result::CoveredBranch>> branches;
  std::vector<result::CoveredFunction> functions;
};

void cover(const CheckedFunction& f, std::map<std::string, FileCoverage>& files) {
  const ptx::Function& function = *f.function;
  bool first = true;
  for (std::size_t pc = 0; pc < function.code.size(); ++pc) {
    const ptx::Inst& inst = function.code[pc];
    const auto name = f.module->files.find(inst.file);
    const bool source = inst.source_line != 0 && name != f.module->files.end();
    FileCoverage& file = files[source ? name->second : f.module->name];
    const std::uint32_t number = source ? inst.source_line : inst.line;
    const Counted& counted = f.counted[pc];
    if (std::exchange(first, false))
      file.functions.push_back({demangle(function.name), number, counted.warps});
    result::CoveredLine& line = file.lines[number];
    line.line = number;
    line.warps = std::max(line.warps, counted.warps);
    line.lanes = std::max(line.lanes, counted.lanes);
    if (inst.op == ptx::Op::bra && inst.guard.kind != ptx::OperandKind::none) {
      auto& branches = file.branches[number];
      branches.push_back({number, static_cast<std::uint32_t>(branches.size()), counted.taken,
                          counted.not_taken, counted.parted});
    }
  }
}

}  // namespace

result::CheckResult Checker::result(bool ended) {
  result::CheckResult out;
  out.checks = options_.names();
  out.launches = launched_;
  out.findings = without_weaker(findings_.all());
  for (result::Finding& f : out.findings)
    if (const result::FindingRule* rule = result::find_finding_rule(f.rule)) f.level = rule->level;
  if (ended && options_.leaks) add_leaks(out.findings);
  if (races_.lists_were_cut())
    findings_.gap("races with all but the last 4096 warps that read a word while nothing orders them");
  const result::CodePlace none;
  std::ranges::stable_sort(out.findings, {}, [&none](const result::Finding& f) {
    const result::CodePlace& p = f.accesses.empty() ? none : f.accesses.front().place;
    return std::tuple(f.level != result::Level::error, comes_of_others(f.rule), f.rule, p.file, p.line,
                      p.kernel);
  });
  out.gaps = findings_.gaps();
  if (!ended && options_.leaks)
    out.gaps.emplace_back("memory that is never freed: the program did not come to its end");
  if (!options_.coverage) return out;
  std::map<std::string, FileCoverage> files;
  // By name, not by the place in memory: the same in every run.
  std::map<std::pair<std::string, std::string>, const CheckedFunction*> by_name;
  for (const auto& [at, f] : functions_)
    if (!is_host_work(*f->module)) by_name[{f->module->name, f->function->name}] = f.get();
  for (const auto& [name, f] : by_name) cover(*f, files);
  for (auto& [name, file] : files) {
    result::CoveredFile& covered = out.coverage.emplace_back();
    covered.file = name;
    covered.functions = std::move(file.functions);
    for (auto& [number, line] : file.lines) covered.lines.push_back(line);
    for (auto& [number, branches] : file.branches)
      covered.branches.insert(covered.branches.end(), branches.begin(), branches.end());
    std::ranges::stable_sort(covered.functions, {}, &result::CoveredFunction::line);
  }
  return out;
}

}  // namespace simtlab::check
