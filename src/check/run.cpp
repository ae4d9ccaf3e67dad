#include "check/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "base/error.h"
#include "check/patch.h"
#include "check/runner.h"
#include "check/shadow.h"

namespace simtlab::check {
namespace {

// Device memory as it was, in pieces.
struct Snapshot {
  struct Piece {
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
  };
  std::vector<Piece> pieces;
  Reserved room;

  explicit Snapshot(exec::GlobalMemory& memory) : room(bytes_of(memory)) {
    if (room.data() == nullptr) throw std::bad_alloc();
    room.in_large_pages(0, bytes_of(memory));
    std::byte* to = room.data();
    memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
      std::memcpy(to, memory.host(a.address), a.bytes);
      pieces.push_back({a.address, {to, a.bytes}});
      to += a.bytes;
    });
  }
  static std::uint64_t bytes_of(exec::GlobalMemory& memory) {
    std::uint64_t bytes = 1;  // a mapping has something
    memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) { bytes += a.bytes; });
    return bytes;
  }
  void restore(exec::GlobalMemory& memory) const {
    for (const Piece& piece : pieces)
      std::memcpy(memory.host(piece.address), piece.bytes.data(), piece.bytes.size());
  }
};

constexpr std::uint64_t most_to_keep = std::uint64_t{256} << 20, most_to_mend = std::uint64_t{64} << 20;
// In the place of an order's number: what nobody wrote was filled.
constexpr std::uint64_t poisoned = ~std::uint64_t{0};
// Of a launch that is repeated to try something, and of findings that something is tried for.
constexpr std::uint64_t longest_trial = 4'000'000, most_trials = 8;

}  // namespace

struct CheckedRun::Impl {
  Impl(const exec::Launch& l, const exec::FunctionalOptions& o, Checker& c, std::uint64_t n,
       const std::string& k)
      : launch(l), options(o), checker(c), number(n), kernel(k) {
    // Races are tried to be mended where they are found: mostly in the first launches of a kernel.
    const unsigned times = checker.count_launch(launch.function());
    const bool mends = checker.options().races && times <= 2;
    if (checker.options().explore == 0 && !mends) return;
    std::uint64_t bytes = 0;
    checker.memory().for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) { bytes += a.bytes; });
    const bool whole = options.first_block == 0 && options.block_count >= launch.block_count();
    const bool explores = checker.options().explore != 0;
    if (explores && bytes > most_to_keep)
      checker.gap(
          fmt::format("other orders of kernel {}: {} MiB of device memory would have to be kept, more "
                      "than {}",
                      kernel, bytes >> 20, most_to_keep >> 20));
    else if (explores && launch.module().allocates)
      checker.gap(fmt::format("other orders of kernel {}: it allocates memory", kernel));
    else if (whole && !launch.module().allocates && bytes <= (explores ? most_to_keep : most_to_mend))
      before.emplace(checker.memory());
    if (before && explores) unwritten = unwritten_now();
    known = checker.findings().all().size();
  }

  void explore();
  void mend();
  std::string try_to_mend(const exec::Launch& quiet, const Snapshot& usual, const result::Finding& finding,
                          const Conflict& conflict);
  void compare(const Snapshot& usual, std::uint64_t order);
  bool poison();

  const exec::Launch& launch;
  const exec::FunctionalOptions options;
  Checker& checker;
  const std::uint64_t number;
  const std::string kernel;
  std::optional<Snapshot> before;
  std::unique_ptr<Runner> runner;
  exec::FunctionalResult result;
  bool parked = false;
  std::size_t known = 0;  // findings before it ran
  struct Unwritten {
    std::uint64_t address = 0, bytes = 0;
  };
  std::vector<Unwritten> unwritten;  // before it ran
  std::vector<Unwritten> unwritten_now() const {
    std::vector<Unwritten> out;
    checker.for_each_unwritten([&out](std::uint64_t address, std::uint64_t n) {
      out.push_back({address, n});
    });
    return out;
  }
};

// Fills what nobody wrote with a pattern; false: all has been written.
bool CheckedRun::Impl::poison() {
  constexpr std::byte pattern{0xa5};
  bool any = false;
  for (const Unwritten& u : unwritten) {
    std::fill_n(checker.memory().host(u.address), u.bytes, pattern);
    any = true;
  }
  return any;
}

// The first place that another order leaves otherwise.
void CheckedRun::Impl::compare(const Snapshot& usual, std::uint64_t order) {
  exec::GlobalMemory& memory = checker.memory();
  for (const Snapshot::Piece& piece : usual.pieces) {
    const std::byte* const now = memory.host(piece.address);
    if (std::memcmp(now, piece.bytes.data(), piece.bytes.size()) == 0) continue;
    std::size_t at = 0;
    // What nobody has written is as it was filled.
    while (at < piece.bytes.size() &&
           (now[at] == piece.bytes[at] || (order == poisoned && !checker.is_written(piece.address + at, 1))))
      ++at;
    if (at == piece.bytes.size()) continue;
    const auto races = [&](const result::Finding& f) {
      return f.rule.starts_with("race.") && std::ranges::any_of(f.accesses, [&](const result::Access& a) {
               return a.place.kernel == kernel;
             });
    };
    const bool racy = std::ranges::any_of(checker.findings().all(), races);
    bool adds_floats = false;
    for (const ptx::Inst& inst : launch.function().code)
      adds_floats = adds_floats || ((inst.op == ptx::Op::atom || inst.op == ptx::Op::red) &&
                                    (inst.type == ptx::Type::f32 || inst.type == ptx::Type::f64) &&
                                    inst.mods.atom == ptx::AtomOp::add);
    const char* const rule = order == poisoned ? "order.uninitialised"
                             : racy            ? "order.race"
                             : adds_floats     ? "order.float-atomics"
                                               : "order.other";
    result::Finding* const found = checker.findings().add(rule, kernel);
    if (found == nullptr) return;
    const bool filled = order == poisoned;
    if (!filled) found->order = std::to_string(order);
    found->message =
        filled
            ? "with other values in memory that nobody wrote, the kernel leaves other values where it writes"
            : fmt::format("another order of blocks and warps leaves other values in memory: {}",
                          racy ? "a race, see its own finding"
                          : adds_floats
                              ? "floating-point sums by atomics, whose rounding depends on the order"
                              : "atomics, or a choice of whoever comes first, and no race");
    const std::size_t word = at / 4 * 4;
    std::uint32_t one = 0, other = 0;
    const std::size_t width = std::min<std::size_t>(4, piece.bytes.size() - word);
    std::memcpy(&one, piece.bytes.data() + word, width);
    std::memcpy(&other, now + word, width);
    found->memory = fmt::format("{}: {:#x} in the usual run, {:#x} in this one ({:g} and {:g} as floats)",
                                global_place(memory, piece.address + word, 4), one, other,
                                std::bit_cast<float>(one), std::bit_cast<float>(other));
    result::Access& access = found->accesses.emplace_back();
    access.launch = number;
    access.what = "launch";
    access.place.kernel = access.place.function = kernel;
    return;
  }
}

void CheckedRun::Impl::explore() {
  exec::GlobalMemory& memory = checker.memory();
  const Snapshot usual(memory);
  exec::LaunchParams params = launch.params();
  params.print = nullptr;  // it has printed
  const exec::Launch quiet(params, memory);
  exec::FunctionalOptions other = options;
  other.tell = nullptr;
  const std::vector<Unwritten> left = unwritten_now();
  for (std::uint64_t order = 1; order <= checker.options().explore; ++order) {
    before->restore(memory);
    for (const Unwritten& u : unwritten) checker.unwritten(u.address, u.bytes);
    const std::size_t known = checker.findings().all().size();
    try {
      Runner run(quiet, other, checker, number, kernel, order);
      if (!run.go_on()) run.report_all();
      compare(usual, order);
    } catch (const exec::Fault&) {  // it is a finding
    }
    for (std::size_t i = known; i < checker.findings().all().size(); ++i)
      checker.findings().all()[i].order = std::to_string(order);
  }
  for (const Unwritten& u : unwritten) checker.written(u.address, u.bytes);
  for (const Unwritten& u : left) checker.unwritten(u.address, u.bytes);
  before->restore(memory);
  if (poison()) {
    Findings ignored;
    checker.set_trial(&ignored);
    try {
      Runner run(quiet, other, checker, number, kernel, 0);
      run.go_on();
    } catch (const exec::Fault&) {  // of values that nobody wrote
    } catch (...) {
      checker.set_trial(nullptr);
      throw;
    }
    checker.set_trial(nullptr);
    compare(usual, poisoned);
  }
  usual.restore(memory);
}

// Runs the kernel again with something inserted. What came of it, in words; empty: there is nothing to try.
std::string CheckedRun::Impl::try_to_mend(const exec::Launch& quiet, const Snapshot& usual,
                                          const result::Finding& finding, const Conflict& c) {
  struct Attempt {
    Patch patch;
    bool widen = false;
    std::string what;
  };
  std::vector<Attempt> attempts;
  const auto line = [&](std::size_t i) {
    const result::CodePlace& p = finding.accesses.at(i).place;
    return fmt::format("line {}", p.line);
  };
  if (c.why == Race::Why::scope) {
    attempts.push_back({{}, true, "the scope of the whole GPU for both operations"});
  } else if (c.why == Race::Why::unfenced) {
    attempts.push_back({{Patch::Kind::fence, c.later}, false, "__threadfence() before " + line(0)});
  } else if (c.why != Race::Why::late && c.same_block && !c.same_instruction) {
    if (c.same_warp)
      attempts.push_back({{Patch::Kind::sync_warp, c.later}, false, "__syncwarp() before " + line(0)});
    // In the order of the source: the second one is the likelier place.
    Attempt first{{Patch::Kind::barrier, c.later}, false, "__syncthreads() before " + line(0)},
        second{{Patch::Kind::barrier, c.earlier}, false, "__syncthreads() before " + line(1)};
    if (c.later.function == c.earlier.function && c.earlier.pc > c.later.pc) std::swap(first, second);
    attempts.push_back(std::move(first));
    if (c.later != c.earlier) attempts.push_back(std::move(second));
    attempts.push_back({{Patch::Kind::barrier, c.earlier, true}, false, "__syncthreads() behind " + line(1)});
  }
  std::string stays;
  for (const Attempt& attempt : attempts) {
    Findings found;
    before->restore(checker.memory());
    if (attempt.widen) checker.widen({c.later, c.earlier});
    checker.set_trial(&found);
    bool possible = true;
    exec::FunctionalOptions trial = options;
    trial.tell = nullptr;
    // With a barrier in a wrong place others may wait for what comes behind it, and for ever.
    trial.max_warp_instructions = 4 * result.warp_instructions + 65536;
    try {
      Runner run(quiet, trial, checker, number, kernel, 0, attempt.patch);
      possible = run.go_on();
    } catch (const NoPlace&) { possible = false; } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) {
        checker.set_trial(nullptr);
        throw;
      }
      possible = false;
    }
    checker.set_trial(nullptr);
    checker.widen({});
    usual.restore(checker.memory());
    if (!possible) continue;
    const auto again = [&](const result::Finding& f) {
      return f.rule.starts_with("race.") && f.accesses.size() == 2 &&
             f.accesses[0].place.line + std::uint64_t{f.accesses[1].place.line} ==
                 finding.accesses[0].place.line + std::uint64_t{finding.accesses[1].place.line} &&
             f.accesses[0].place.file == finding.accesses[0].place.file;
    };
    if (std::ranges::none_of(found.all(), again))
      return fmt::format("the kernel was run again with {}: the race is gone", attempt.what);
    if (stays.empty())
      stays = fmt::format("the kernel was run again with {}: that is not enough", attempt.what);
  }
  return stays;
}

void CheckedRun::Impl::mend() {
  Findings& findings = checker.findings();
  std::vector<std::size_t> which;
  for (const auto& [at, conflict] : findings.conflicts())
    if (at >= known && which.size() < most_trials) which.push_back(at);
  if (which.empty() || result.warp_instructions > longest_trial) return;
  const Snapshot usual(checker.memory());
  exec::LaunchParams params = launch.params();
  params.print = nullptr;
  const exec::Launch quiet(params, checker.memory());
  for (const std::size_t at : which) {
    const result::Finding finding = findings.all()[at];
    std::string mend = try_to_mend(quiet, usual, finding, findings.conflicts().at(at));
    findings.all()[at].mend = std::move(mend);
  }
}

CheckedRun::CheckedRun(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
                       std::uint64_t number, const std::string& kernel)
    : impl_(std::make_unique<Impl>(launch, options, checker, number, kernel)) {
  std::uint64_t order = 0;
  if (const std::string& seed = checker.options().order; !seed.empty()) order = std::stoull(seed);
  impl_->runner = std::make_unique<Runner>(launch, options, checker, number, kernel, order);
}
CheckedRun::~CheckedRun() = default;

bool CheckedRun::go_on() {
  Impl& m = *impl_;
  if (!m.runner->go_on()) {
    m.parked = true;  // what it waits for would have to be repeated, too
    return false;
  }
  m.result = m.runner->result();
  m.runner.reset();
  if (!m.before || m.parked) return true;
  m.mend();
  m.explore();
  return true;
}

void CheckedRun::report() const { impl_->runner->report_all(); }
const exec::FunctionalResult& CheckedRun::result() const {
  return impl_->runner ? impl_->runner->result() : impl_->result;
}

}  // namespace simtlab::check
