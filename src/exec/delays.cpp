#include "exec/delays.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

using machine::ResultSource;
using Result = Delays::Result;

// A scoreboard counts from the second cycle on: who waits right behind the instruction that sets it does not
// wait. DEPBAR does.
constexpr std::uint32_t scoreboard_cycles = 2;
// What a stall count of 0 stands for: until the pipelines are empty.
constexpr std::uint32_t drain_cycles = 34;

std::uint32_t* row_of(const Warp& w, Place place) {
  return place >= first_predicate_place ? w.ctx.preds + (place - first_predicate_place)
                                        : w.ctx.row32(place * row_bytes);
}

void copy_lanes(std::uint32_t* to, const std::uint32_t* from, std::uint32_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    to[lane] = from[lane];
  }
}

void put(const Warp& w, Place place, const std::uint32_t* values, std::uint32_t lanes) {
  std::uint32_t* const row = row_of(w, place);
  if (place >= first_predicate_place)
    *row = (*row & ~lanes) | (*values & lanes);
  else
    copy_lanes(row, values, lanes);
}

// One warp before and after an instruction.
class Delivery {
 public:
  Delivery(Block::Impl& b, Warp& w)
      : b_(b), w_(w), plan_(*b.launch->late.plan), delays_(*w.delays), pc_(w.pc), step_(plan_[w.pc]) {}

  // What the next instruction may count on reaches its registers.
  void before() {
    for (unsigned scoreboard = 0; scoreboard < no_scoreboard; ++scoreboard)
      if (step_.waits >> scoreboard & 1)
        wait_for(static_cast<std::uint8_t>(scoreboard), scoreboard_cycles, 0);
    if (step_.partial.scoreboard != machine::PartialWait::nothing)
      wait_for(step_.partial.scoreboard, 0, step_.partial.left);
    for (Result& r : delays_.results)
      if (r.source != ResultSource::variable && !r.delivered &&
          (step_.reads_all || r.age >= machine::longest_latency))
        deliver(r, ~0u);
    for (const DelayStep::Read& read : step_.reads) give(read);
    std::erase_if(delays_.results, [&](const Result& r) { return is_over(r); });
    std::erase_if(delays_.operands, [](const Delays::Operand& o) { return o.mask == 0; });
  }

  // Throws Fault where the instruction reads what is not there, or overwrites what is still wanted.
  void check() const {
    for (const DelayStep::Read& read : step_.reads)
      for (const Result& r : delays_.results)
        if (r.place == read.place && (r.mask & lanes_of(read)) != 0 && is_early(r, read)) report(r, read);
    for (const DelayStep::Write& write : step_.writes) {
      const std::uint32_t lanes = guarded();
      for (const Result& r : delays_.results)
        if (r.place == write.place && r.source == ResultSource::variable && (r.mask & lanes) != 0)
          report_overwritten(r.by.pc, r.place, r.mask & lanes, "has not written", r.scoreboard);
      for (const Delays::Operand& o : delays_.operands)
        if (o.place == write.place && (o.mask & lanes) != 0)
          report_overwritten(o.by.pc, o.place, o.mask & lanes, "may not have read", o.scoreboard);
    }
  }

  std::uint32_t run(const XInst& x, std::uint64_t now) {
    const std::uint32_t active = w_.active;
    std::uint32_t old[most_writes][warp_size];
    const std::size_t count = std::min(step_.writes.size(), most_writes);
    for (std::size_t i = 0; i < count; ++i) {
      const Place place = step_.writes[i].place;
      if (place >= first_predicate_place)
        old[i][0] = *row_of(w_, place);
      else
        std::copy_n(row_of(w_, place), warp_size, old[i]);
    }
    const std::uint32_t lanes = execute(b_, w_, x, now);
    if (lanes != 0) {
      for (std::size_t i = 0; i < count; ++i) take_back(step_.writes[i], old[i], lanes);
      if (step_.read_scoreboard != no_scoreboard)
        for (const DelayStep::Read& read : step_.reads)
          if (is_read_late(read.place))
            delays_.operands.push_back(
                {read.place, step_.read_scoreboard, step_.write_scoreboard, issued(), lanes});
    }
    advance(active);
    return lanes;
  }

 private:
  static constexpr std::size_t most_writes = 16;
  static constexpr auto in_order_units = static_cast<std::size_t>(machine::InOrder::count_);

  // Lanes that read: a guard is read for all of the split.
  std::uint32_t lanes_of(const DelayStep::Read& read) const {
    return read.reader == machine::ResultReader::guard ? w_.active : guarded();
  }
  std::uint32_t guarded() const {
    const XInst& x = b_.launch->entry->code[pc_];
    return x.kind & flag_guarded ? w_.active & w_.ctx.pred(x.guard) : w_.active;
  }

  bool is_over(const Result& r) const {
    return r.mask == 0 || (w_.splits->alive & r.mask) == 0 ||
           (r.source != ResultSource::variable && r.age >= machine::longest_latency);
  }

  // Predicates and uniform registers are read at issue: compilers overwrite them without waiting.
  bool is_read_late(Place place) const { return place < first_predicate_place && !plan_.is_uniform(place); }

  // Uniform registers have one value for all lanes.
  std::uint32_t share(Place place, std::uint32_t lanes) const {
    return plan_.is_uniform(place) ? ~0u : lanes;
  }

  void deliver(Result& r, std::uint32_t lanes) {
    put(w_, r.place, r.values, r.mask & lanes);
    if (r.source == ResultSource::variable)
      r.mask &= ~lanes;
    else
      r.delivered = true;
  }

  // cycles: of those who hold it, since issue at least. left: so many of the newest may still hold it.
  void wait_for(std::uint8_t scoreboard, std::uint32_t cycles, unsigned left) {
    const std::uint32_t lanes = w_.active;
    const std::uint64_t before = left == 0 ? ~std::uint64_t{0} : oldest_left(scoreboard, left);
    std::uint64_t done[in_order_units] = {};  // serial + 1 of the last that is over, by unit
    const auto is_over = [&](const Delays::Issued& by) {
      std::uint64_t& last = done[static_cast<std::size_t>(by.unit)];
      last = std::max(last, by.serial + 1);
    };
    for (Result& r : delays_.results)
      if (r.source == ResultSource::variable && r.scoreboard == scoreboard && r.by.serial < before &&
          r.age >= cycles && (r.mask & share(r.place, lanes)) != 0) {
        deliver(r, share(r.place, lanes));
        is_over(r.by);
      }
    done[0] = 0;  // no unit
    for (Result& r : delays_.results)
      if (r.source == ResultSource::variable && r.scoreboard == no_scoreboard &&
          r.by.serial < done[static_cast<std::size_t>(r.by.unit)])
        deliver(r, share(r.place, lanes));
    for (Delays::Operand& o : delays_.operands)
      if (left == 0 && (o.scoreboard == scoreboard || o.result == scoreboard)) {
        o.mask &= ~share(o.place, lanes);
        is_over(o.by);
      }
    done[0] = 0;
    for (Delays::Operand& o : delays_.operands)
      if (o.by.serial < done[static_cast<std::size_t>(o.by.unit)]) o.mask &= ~share(o.place, lanes);
  }

  // Of the newest `left` instructions that hold a scoreboard, the first one.
  std::uint64_t oldest_left(std::uint8_t scoreboard, unsigned left) const {
    std::uint64_t serial = ~std::uint64_t{0};
    for (auto r = delays_.results.rbegin(); r != delays_.results.rend(); ++r)
      if (r->scoreboard == scoreboard && (r->mask & w_.active) != 0 && r->by.serial < serial) {
        if (left-- == 0) break;
        serial = r->by.serial;
      }
    return serial;
  }

  void give(const DelayStep::Read& read) {
    for (Result& r : delays_.results)
      if (r.place == read.place && r.source != ResultSource::variable && !r.delivered &&
          (r.mask & w_.active) != 0 && !is_early(r, read))
        deliver(r, ~0u);
  }

  bool is_early(const Result& r, const DelayStep::Read& read) const {
    return r.source == ResultSource::variable || r.age < plan_.latency(r.place, r.source, read.reader);
  }

  void take_back(const DelayStep::Write& write, const std::uint32_t* old, std::uint32_t lanes) {
    Result r;
    r.place = write.place;
    r.source = write.source;
    if (r.source == ResultSource::variable)
      r.scoreboard = write.with_operands ? step_.read_scoreboard : step_.write_scoreboard;
    r.by = issued();
    r.mask = share(write.place, lanes);
    if (write.place >= first_predicate_place)
      r.values[0] = *row_of(w_, write.place);
    else
      std::copy_n(row_of(w_, write.place), warp_size, r.values);
    put(w_, write.place, old, r.mask);
    // An older result comes first and is replaced, unless it is a late one and the new one is not.
    for (Result& other : delays_.results)
      if (other.place == r.place &&
          (other.source != ResultSource::variable || r.source == ResultSource::variable))
        other.mask &= ~r.mask;
    delays_.results.push_back(r);
  }

  void advance(std::uint32_t lanes) {
    const bool pairs = machine::in_bundles(plan_.generation());  // with the next one
    const std::uint32_t cycles = step_.stall == 0 && !pairs ? drain_cycles : step_.stall;
    const std::size_t count = delays_.results.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t part = delays_.results[i].mask & share(delays_.results[i].place, lanes);
      if (part == 0) continue;
      if (part != delays_.results[i].mask) {  // lanes that run apart have a time of their own
        Result rest = delays_.results[i];
        rest.mask &= ~part;
        delays_.results[i].mask = part;
        delays_.results.push_back(rest);
      }
      delays_.results[i].age += cycles;
    }
    ++delays_.issued;
  }

  Delays::Issued issued() const { return {pc_, step_.unit, delays_.issued}; }

  std::string text_of(std::uint32_t pc) const {
    return fmt::format("{} at 0x{:04x}", plan_.instruction(pc).mnemonic(),
                       machine::address_in_file(plan_.generation(), plan_.instruction(pc).address));
  }

  [[noreturn]] void fail(std::uint32_t lanes, std::string what) const {
    const ptx::Inst& inst = b_.launch->entry->function->code[pc_];
    raise(b_, inst, Fault::Kind::illegal_instruction, "machine-hazard",
          fmt::format("{}, in {} of {}", what,
                      thread_name(b_, w_.ctx.warp, static_cast<unsigned>(std::countr_zero(lanes))),
                      kernel_name(b_, inst)),
          "the control information of the code has a gap, or simtlab takes the instruction for another one");
  }

  [[noreturn]] void report(const Result& r, const DelayStep::Read& read) const {
    const std::string place = plan_.name_of(r.place);
    const std::uint32_t lanes = r.mask & lanes_of(read);
    if (r.source != ResultSource::variable)
      fail(lanes, fmt::format("{} reads {} {} cycles after {}, whose result takes {}", text_of(pc_), place,
                              r.age, text_of(r.by.pc), plan_.latency(r.place, r.source, read.reader)));
    if (r.scoreboard == no_scoreboard)
      fail(lanes,
           fmt::format("{} reads {} of {}, which sets no scoreboard", text_of(pc_), place, text_of(r.by.pc)));
    fail(lanes, fmt::format("{} reads {} without waiting for scoreboard {} of {}", text_of(pc_), place,
                            r.scoreboard, text_of(r.by.pc)));
  }

  [[noreturn]] void report_overwritten(std::uint32_t pc, Place place, std::uint32_t lanes, const char* what,
                                       std::uint8_t scoreboard) const {
    fail(lanes, fmt::format("{} writes {}, which {} {} yet: it does not wait for scoreboard {}", text_of(pc_),
                            plan_.name_of(place), text_of(pc), what, scoreboard));
  }

  Block::Impl& b_;
  Warp& w_;
  const DelayPlan& plan_;
  Delays& delays_;
  const std::uint32_t pc_;
  const DelayStep& step_;
};

}  // namespace

void deliver_results(Block::Impl& b, Warp& w) { Delivery(b, w).before(); }

std::uint32_t execute_delayed(Block::Impl& b, Warp& w, std::uint64_t now) {
  Delivery delivery(b, w);
  delivery.before();
  if (b.launch->params.results == Results::checked) delivery.check();
  return delivery.run(b.launch->entry->code[w.pc], now);
}

}  // namespace simtlab::exec
