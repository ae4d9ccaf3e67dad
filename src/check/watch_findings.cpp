// Watch: findings of races, accesses outside, faults.
#include <fmt/format.h>

#include <algorithm>

#include "check/host_work.h"
#include "check/watch.h"
#include "exec/outside.h"

namespace simtlab::check {

using exec::Warp;

namespace {

std::string access_text(const Site& site, bool writes) {
  if (site.atomic) return fmt::format("atomic read-modify-write of {} bytes", site.bytes);
  if (site.late)
    return fmt::format("{} of {} bytes ({})", writes ? "copy" : "read by a copy", site.bytes,
                       ptx::is_bulk_copy(site.inst()) ? "cp.async.bulk" : "cp.async");
  return fmt::format("{}{} of {} byte{}", site.volatile_ ? "volatile " : "", writes ? "write" : "read",
                     site.bytes, site.bytes == 1 ? "" : "s");
}

// What happened, by the rule and the reason.
std::string message_of(const Race& r, const Site& mine, const Site& other, const result::Finding& found) {
  const char* const where = r.shared ? "shared" : "global";
  if (found.rule == "race.guess")
    return fmt::format(
        "a plain load of what compare-and-swap expects at first, of {} memory that another thread changes by "
        "an atomic operation",
        where);
  if (found.rule == "race.stream")
    return fmt::format("a kernel {} memory that a {} of another stream {}, and nothing orders the two",
                       r.writes ? "writes" : "reads", found.accesses[1].place.kernel,
                       r.other_writes ? "writes" : "reads");
  if (found.rule == "race.same-value")
    return fmt::format("two threads write the same value to the same {} memory, and nothing orders them",
                       where);
  switch (r.why) {
    case Race::Why::unordered:
      return fmt::format("two threads {} the same {} memory{}, and nothing orders them",
                         r.writes && r.other_writes ? "write to" : "use", where,
                         r.writes && r.other_writes ? "" : ", one of them writes");
    case Race::Why::scope:
      return fmt::format(
          "two threads use the same {} memory by operations of a scope that does not include both of them",
          where);
    case Race::Why::volatile_:
      return fmt::format(
          "two threads use the same {} memory by volatile accesses: no race for PTX, one for CUDA C++",
          where);
    case Race::Why::late:
      return other.writes ? fmt::format("a copy to {} memory may still be under way when {}", where,
                                        mine.late ? "another one writes there" : "it is used")
                          : "a copy out of shared memory may still be under way when that memory is written";
    case Race::Why::unfenced: break;
  }
  return fmt::format(
      "two threads use the same {} memory; the second one has seen what the first one released, but has not "
      "acquired it",
      where);
}

// The copy of that line is under way.
void add_missing_wait(std::uint32_t line, const Site& copy, result::Finding& found) {
  if (copy.handed) {
    found.missing =
        fmt::format("nothing waits for the phase of the barrier at which the copy of line {} arrives", line);
    found.hint =
        "wait for that phase (mbarrier.try_wait, cuda::barrier::wait, cuda::pipeline::consumer_wait): its "
        "own "
        "thread has to, too";
  } else if (ptx::is_bulk_copy(copy.inst())) {
    const char* const wait = copy.writes ? "cp.async.bulk.wait_group" : "cp.async.bulk.wait_group.read";
    found.missing = fmt::format("its thread did not wait for the copy of line {} ({})", line, wait);
    found.hint = fmt::format(
        "cp.async.bulk.commit_group and {} by the thread that copies, then __syncthreads()", wait);
  } else {
    found.missing = fmt::format(
        "no wait for copies (cp.async.wait_group) that includes the one of line {}, and then for its threads "
        "(__syncthreads())",
        line);
    found.hint = "wait for the copy (__pipeline_wait_prior, cuda::pipeline), then __syncthreads()";
  }
}

// The edge that is missing, and what would make one.
void add_missing_edge(const Race& r, const Site& mine, const Site& other, result::Finding& found) {
  const std::uint32_t line = found.accesses[1].place.line;
  if (found.rule == "race.guess") {
    found.missing = "the load is no atomic operation";
    found.hint = "a volatile load, cuda::atomic_ref, or atomicCAS with any value for the first look";
  } else if (r.why == Race::Why::unfenced) {
    found.missing = fmt::format(
        "no fence{} between the atomic or volatile operation that saw the release and this access",
        r.same_block ? "" : " of the whole GPU's scope");
    found.hint =
        "__threadfence() behind that operation, or an acquire; without it an older value may be read";
  } else if (r.why == Race::Why::late) {
    add_missing_wait(line, other, found);
  } else if (r.launch != r.other_launch) {
    add_missing_stream_order(found);
  } else if (r.why == Race::Why::scope) {
    // The smaller one of the two
    const bool is_other = other.scope == ptx::Scope::cta || mine.scope != ptx::Scope::cta;
    const bool small_other =
        is_other && (other.scope == ptx::Scope::cta || other.scope == ptx::Scope::cluster);
    const bool cluster = (small_other ? other : mine).scope == ptx::Scope::cluster;
    found.missing =
        fmt::format("the operation at line {} is of {} scope (.{}), and the {} differ",
                    small_other ? line : found.accesses[0].place.line, cluster ? "cluster" : "block",
                    cluster ? "cluster" : "cta", cluster ? "clusters" : "blocks");
    found.hint = "atomicAdd() instead of atomicAdd_block(), or thread_scope_device";
  } else if (r.same_instruction) {
    found.missing = "lanes of one warp, in one instruction";
    found.hint = "let one thread do it, or use an atomic operation";
  } else if (r.same_warp) {
    found.missing = fmt::format("lanes of one warp, and no __syncwarp() of both since line {}", line);
    found.hint = "__syncwarp() between the two; lanes of a warp need not run in step";
  } else if (r.same_block) {
    found.missing = fmt::format("no __syncthreads() since line {}", line);
    found.hint = "__syncthreads() between the two, or an atomic operation";
  } else {
    found.missing =
        r.acquires
            ? fmt::format(
                  "the blocks of a kernel run in any order, and this thread has acquired nothing that the "
                  "other one released behind line {}",
                  line)
            : "the blocks of a kernel run in any order, and nothing makes one wait for the other";
    found.hint =
        "an atomic operation, another kernel for the second part, or a flag that is released "
        "(__threadfence(), then an atomic) and acquired";
  }
}

}  // namespace

void Watch::race(const Race& r) {
  const Site &mine = checker_.sites().at(r.site), &other = checker_.sites().at(r.other_site);
  Findings& findings = checker_.findings();
  const ptx::Inst& inst = mine.inst();
  // Values: of what is about to be written, and of what is there.
  const std::string before = memory_value(inst, r.shared, r.address);
  std::string value = mine.writes && !mine.late ? lane_value(*now_.warp, *now_.x, r.lane) : before;
  std::string other_value = other.atomic ? std::string() : before;
  if (r.same_instruction && r.other_writes)
    other_value = lane_value(*now_.warp, *now_.x, r.other_thread % exec::warp_size);
  const char* rule = r.shared ? "race.shared" : "race.global";
  switch (r.why) {
    case Race::Why::unordered:
      if (r.writes && r.other_writes && !mine.atomic && !other.atomic && !value.empty() &&
          value == other_value)
        rule = "race.same-value";
      if ((mine.atomic && other.guesses) || (mine.guesses && other.atomic)) rule = "race.guess";
      break;
    case Race::Why::scope: rule = "race.scope"; break;
    case Race::Why::volatile_: rule = "race.volatile"; break;
    case Race::Why::late: rule = "race.async"; break;
    case Race::Why::unfenced: rule = "race.unfenced"; break;
  }
  CheckedFunction& f = *now_.function;
  const CheckedFunction& g = checker_.function(checker_.launch(r.other_launch).module, *other.function);
  if (is_host_work(*g.module)) rule = "race.stream";
  result::Finding* const found = findings.add(rule, {&f, mine.pc}, {&g, other.pc});
  if (found == nullptr) return;
  if (found->rule != "race.guess" && found->rule != "race.stream")  // these are not mended by a barrier
    findings.set_conflict(
        {{&f, mine.pc}, {&g, other.pc}, r.why, r.same_block, r.same_warp, r.same_instruction});
  if (mine.atomic || other.atomic) {
    if (mine.atomic) value.clear();
    if (other.atomic) other_value.clear();
  }
  found->accesses.push_back(
      checker_.access_of(f, mine.pc, r.launch, r.block, r.thread, access_text(mine, r.writes)));
  found->accesses.back().value = value;
  std::string other_text = access_text(other, r.other_writes);
  if (r.one_of_several)
    other_text += r.other_many == Many::grid    ? ", as threads of other blocks did"
                  : r.other_many == Many::block ? ", as threads of other warps did"
                                                : ", as other lanes of the warp did";
  found->accesses.push_back(
      checker_.access_of(g, other.pc, r.other_launch, r.other_block, r.other_thread, std::move(other_text)));
  found->accesses.back().value = other_value;
  const unsigned bytes = std::min<unsigned>(mine.bytes, 8);
  found->memory =
      r.shared ? shared_place(*f.module, *launch_.entry->function, r.address, bytes, place_in_cluster())
               : global_place(checker_.memory(), r.address, bytes);
  found->message = message_of(r, mine, other, *found);
  add_missing_edge(r, mine, other, *found);
}

// The instruction goes to places that nobody has allocated.
void Watch::outside(Warp& w, std::uint32_t lanes, unsigned side) {
  if (!checker_.options().memory) return;
  CheckedFunction& f = *now_.function;
  const ptx::Inst& inst = f.function->code[now_.pc];
  const bool copy = inst.op == ptx::Op::cp_async;
  const bool writes = inst.op == ptx::Op::st || (copy && side == 0);
  // The address that the program meant
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  const std::uint64_t meant = exec::address_of(w.ctx, *now_.x, side, lane);
  const bool shared = now_.look->space == ptx::Space::shared;
  std::uint64_t offset = 0;
  const Checker::Gone* const gone = shared ? nullptr : checker_.gone(meant, &offset);
  const unsigned bytes = copy ? inst.mods.copy_bytes : ptx::size_of(inst.type) * inst.mods.vector;
  const bool misaligned = meant % bytes != 0;
  result::Finding* const found = checker_.findings().add(misaligned        ? "memory.misaligned"
                                                         : gone != nullptr ? "memory.use-after-free"
                                                                           : "memory.out-of-bounds",
                                                         {&f, now_.pc});
  if (found == nullptr) return;
  const bool atomic = inst.op == ptx::Op::atom || inst.op == ptx::Op::red;
  found->accesses.push_back(checker_.access_of(f, now_.pc, id_, now_.block->races.block,
                                               w.ctx.warp * exec::warp_size + lane,
                                               fmt::format("{} of {} byte{}",
                                                           atomic   ? "atomic read-modify-write"
                                                           : writes ? "write"
                                                                    : "read",
                                                           bytes, bytes == 1 ? "" : "s")));
  if (misaligned) {
    found->message = fmt::format("the address of a {} of {} bytes is no multiple of {}",
                                 writes ? "write" : "read", bytes, bytes);
    found->memory = fmt::format("address {:#x}", meant);
    found->hint =
        "a cast to a wider type of a pointer with an offset? A GPU stops the kernel here; the run went "
        "on: such loads read zeros, such stores are lost";
    return;
  }
  if (gone != nullptr) {
    found->message = fmt::format("{} of memory that has been freed", writes ? "write" : "read");
    found->memory = fmt::format("byte {} of what was {} bytes of {}", offset, gone->bytes, gone->what);
    found->hint = "free it when the last kernel that uses it has ended";
    return;
  }
  found->message = fmt::format("{} outside of {}", writes ? "write" : "read",
                               shared ? "the block's shared memory" : "every allocation");
  // Not the place that stands in for what lies outside
  const exec::OutsideAccesses* const stand_in = w.ctx.memory->outside;
  const exec::Allocation* near = checker_.memory().nearest(meant);
  if (near != nullptr && stand_in != nullptr && near->address >= stand_in->first()) near = nullptr;
  constexpr std::uint64_t null_page = std::uint64_t{1} << 20;
  if (!shared && meant < null_page) {
    found->memory = fmt::format("address {:#x}: a null pointer", meant);
    found->hint = "look for a cudaMalloc() that failed, and for pointers that were never set";
    return;
  }
  if (shared && now_.block->cluster != nullptr && launch_.params.cluster.count() > 1) {
    const std::uint64_t rank = (meant & 0xffffffffu) >> ptx::cluster_shift;
    const bool there = rank < launch_.params.cluster.count();
    found->message = fmt::format("{} outside of the cluster's shared memory", writes ? "write" : "read");
    if (there && now_.block->block->cluster->has_ended(static_cast<unsigned>(rank)))
      found->message = fmt::format("{} of the shared memory of a block of the cluster that has ended",
                                   writes ? "write" : "read");
    found->memory = fmt::format("byte {} of {} bytes of shared memory of block {} of the cluster",
                                meant % ptx::cluster_stride, launch_.shared_bytes, rank);
  } else if (shared) {
    found->memory =
        fmt::format("byte {} of {} bytes of shared memory", meant & 0xffffffffu, launch_.shared_bytes);
  } else if (near != nullptr) {
    const std::uint64_t end = near->address + near->bytes;
    found->memory =
        meant >= end ? fmt::format("{} bytes after the end of the {} bytes of {}", meant - end, near->bytes,
                                   near->what)
        : meant < near->address
            ? fmt::format("{} bytes before the start of the {} bytes of {}", near->address - meant,
                          near->bytes, near->what)
            : fmt::format("the last bytes are after the end of the {} bytes of {}", near->bytes, near->what);
  }
  found->hint =
      "compare the index with the size before the access, or allocate as much as it needs; the run went on: "
      "such loads read zeros, such stores are lost";
}

void Watch::fault(const exec::Fault& fault) {
  const Diagnostic& d = fault.diagnostics().front();
  const char* rule = "program.fault";
  switch (fault.kind()) {
    case exec::Fault::Kind::illegal_address:
      rule =
          d.message.find("is read-only") != std::string::npos ? "memory.read-only" : "memory.out-of-bounds";
      break;
    case exec::Fault::Kind::misaligned_address: rule = "memory.misaligned"; break;
    case exec::Fault::Kind::trap: rule = "program.trap"; break;
    case exec::Fault::Kind::assertion: rule = "program.assert"; break;
    case exec::Fault::Kind::deadlock: rule = "barrier.deadlock"; break;
    case exec::Fault::Kind::illegal_instruction:
    case exec::Fault::Kind::stack_overflow: break;
  }
  result::Finding* const found = checker_.findings().add(rule, d.message);
  if (found == nullptr) return;
  found->message = d.message;
  found->hint = d.hint;
  const CheckedLaunch& l = checker_.launch(id_);
  result::Access access;
  access.launch = l.number;
  access.place.kernel = l.kernel;
  access.place.ptx_file = d.pos.file;
  access.place.ptx_line = d.pos.line;
  access.place.file = d.pos.file;
  access.place.line = d.pos.line;
  access.place.column = d.pos.column;
  access.place.text = d.text;
  // The source line of that PTX
  for (const ptx::Function& function : l.module->functions)
    for (const ptx::Inst& inst : function.code)
      if (inst.line == d.pos.line && d.pos.line != 0 && inst.source_line != 0) {
        access.place = place_of(checker_.findings().sources(), l.kernel, *l.module, function, inst);
        found->accesses.assign(1, access);
        return;
      }
  found->accesses.push_back(std::move(access));
}

}  // namespace simtlab::check
