#include "memory/dram/channel.h"

#include <algorithm>
#include <utility>

namespace simtlab::memory::dram {

using device::QueueStyle;
using device::WriteDone;

namespace {

// A scheduler that keeps an order over all banks has no use for open rows of others, and an activation that
// takes a request out of its queue is for what goes now.
std::uint32_t accesses_before_turn(const device::MemoryController::Queues& queues,
                                   const ActiveScheduler& scheduler) {
  const bool any = !queues.frees_at_activation && !scheduler.strict && !scheduler.rotates;
  return any ? queues.turn_ahead : 0;
}

Cycle least_answer(const device::Technology::Timing& t, const device::MemoryController::Latency& latency) {
  const Cycle read = t.cl + t.burst + latency.read;
  switch (latency.write_done) {
    case WriteDone::accepted: return read;
    case WriteDone::issued: return 0;
    case WriteDone::written: return std::min<Cycle>(read, t.cwl + t.burst);
  }
  return 0;
}

}  // namespace

Channel::Channel(std::uint32_t number, const device::Technology& technology,
                 const device::MemoryController& controller, std::shared_ptr<const TimingRules> rules,
                 const AddressMapping& mapping)
    : controller_(controller),
      t_(rules->timing),
      mapping_(mapping),
      waited_{.answer = least_answer(t_, controller.latency)},
      timing_(rules),
      admission_(controller.queues),
      scheduler_(controller.schedule, shape().all_banks()),
      drain_(controller.queues, accesses_before_turn(controller.queues, scheduler_)),
      pages_(controller.page, shape().all_banks()),
      steady_(scheduler_.steady && controller.queues.style == QueueStyle::split &&
              !controller.queues.frees_at_activation),
      bus_(technology),
      recorder_(number, shape()),
      transfer_(controller.queues),
      queues_(shape().all_banks(), controller.queues.read + controller.queues.write + shape().all_banks()),
      candidates_(timing_, scheduler_),
      upkeep_(technology, controller, timing_),
      answers_(number),
      counters_(std::move(rules), t_.cl + t_.burst + controller.latency.read) {}

void Channel::restart() {
  timing_.restart();
  queues_.clear();
  admission_.restart();
  drain_.restart();
  transfer_.restart();
  upkeep_.restart();
  scheduler_.policy->restart();
  pages_.policy->restart();
  candidates_.restart();
  bus_.restart();
  answers_.restart();
  counters_.restart();
  now_ = 0;
  next_event_ = never;
  waited_.for_room = true;
}

RankActivity Channel::rank_activity(std::uint32_t rank, Cycle end) const {
  RankActivity activity = upkeep_.activity(rank, end);
  counters_.add_commands(rank, activity);
  return activity;
}

// When the channel is looked at again others have driven what the next command needs from the host's cache.
// Always inline: g++ takes functions that only prefetch for ones without effect.
[[gnu::always_inline]] inline void Channel::expect_next() const {
  const Pick& pick = candidates_.next_pick();
  if (pick.at == never) return;
  const Candidates::Column& column = candidates_.column(pick.bank);
  const Slot slot = column.slot != no_slot ? column.slot : candidates_.row(pick.bank).slot;
  if (slot != no_slot) queues_.expect(slot, pick.bank, column.write);
  counters_.expect(pick.bank);
}

void Channel::advance(Cycle end, std::vector<Completion>& done) {
  run(end);
  answers_.report(end, done);
  update_next_event();
  expect_next();
}

void Channel::run(Cycle end) {
  if (admission_.idle() && !recorder_.records()) skip_idle(end);
  run_to(end);
}

// Without requests only refreshes happen, and sleep. A period of them is gone through, and as many more as
// fit are added if it repeats itself.
void Channel::skip_idle(Cycle end) {
  const Cycle period = upkeep_.period();
  if (period == never) return;
  const auto show = [this](IdlePattern::Visitor& to) {
    upkeep_.show(to);
    timing_.show(to);
    bus_.show(to);
    counters_.loss().show(to);
  };
  while (end > now_ && end - now_ >= 3 * period) {
    idle_.begin(now_, show);
    const bool still = next_request() == never;  // no row waits for its time to be closed
    run_to(now_ + period);
    const Cycle until = std::min(end, upkeep_.deeper_sleep(now_ - period));
    if (!still || until < now_ + period || !idle_.repeats(period, show)) continue;
    const std::uint64_t periods = (until - now_) / period;
    idle_.skip(periods, show);
    now_ += periods * period;
    candidates_.limits_changed();
  }
}

void Channel::run_to(Cycle end) {
  for (Cycle at = next_action(); at < end; at = next_action()) {
    now_ = std::max(now_, at);
    step(now_);
  }
  now_ = std::max(now_, end);
}

// The next cycle at which something happens in the channel.
Cycle Channel::next_action() {
  const Cycle request = next_request();
  upkeep_.plan(queues_, floors().row);
  return std::min(request, std::min(upkeep_.planned().at, upkeep_.timer()));
}

// The next at which a command goes that is not of upkeep, or a request moves.
Cycle Channel::next_request() {
  candidates_.refresh(floors());
  if (drain_.turning() && (drain_.spent() || candidates_.next_column() == never)) finish_turn();
  return std::min(std::min(candidates_.next_column(), candidates_.next_row()), transfer_.next());
}

// The accesses before the turn have gone, or there are none of open rows.
void Channel::finish_turn() {
  drain_.turn();
  tell_turned(now_);
  choose_loaded();
  candidates_.refresh(floors());
}

// One command, or one request that moves.
void Channel::step(Cycle now) {
  if (upkeep_.timer() <= now) return start_upkeep(now);
  const Candidates::First first = candidates_.first(now);
  if (upkeep_.planned().at <= now && (scheduler_.rotates || first.key >= key_upkeep))
    return issue_upkeep(upkeep_.planned(), now);
  if (first.kind == Candidates::Kind::row) return issue_row(first.bank, now);
  if (first.kind == Candidates::Kind::column) return issue_column(first.bank, now);
  // What moves now may be scheduled from the next cycle on.
  now_ = now + 1;
  const Slot slot = transfer_.select(queues_, now);
  if (slot != no_slot) move_to_bank(slot);
}

// Seen from outside are answers and room in the queues. A row command makes room for none: the column command
// that does comes tRCD later at the earliest.
void Channel::update_next_event() {
  if (admission_.idle()) {
    next_event_ = answers_.next();
    return;
  }
  const Cycle action = next_action(), rows = candidates_.next_row();
  // Whoever waits for answers alone need not look at the commands before: they go, each in its cycle, when he
  // does.
  if (!waited_.for_room) {
    next_event_ = std::min(action == never ? never : action + waited_.answer, answers_.next());
    return;
  }
  Cycle seen = action;
  if (action == rows && !row_frees()) {
    const Cycle others = std::min(std::min(candidates_.next_column(), transfer_.next()),
                                  std::min(upkeep_.planned().at, upkeep_.timer()));
    seen = std::min(others, rows + std::min(t_.trcd_read, t_.trcd_write));
  }
  next_event_ = std::min(seen, answers_.next());
}

// An active request goes on; else the scheduler chooses among what waits, else the page policy may close the
// row.
void Channel::choose(BankIndex bank) {
  const BankQueue& q = queues_.bank(bank);
  Choice choice;
  Cycle not_before = 0;
  if (q.active != no_slot) {
    choice.column = q.active;
    choice.column_key = queues_[q.active].order;
  } else if (!upkeep_.held(bank)) {
    if (queues_.loaded().test(bank)) {
      scheduler_.policy->choose(BankView(queues_, bank, drain_.lists()), choice);
      if (drain_.turning()) choose_ahead(bank, choice);
    } else if (q.open) {
      not_before = pages_.close_at(queues_, bank);
      if (not_before != never) choice.row_key = key_page;
    }
  }
  if (candidates_.has_other_column(bank, choice.column, choice.column_key)) {
    const bool write = choice.column != no_slot && queues_.is_write(choice.column);
    if (choice.column != no_slot) queues_.expect(choice.column);
    candidates_.set_column(bank, {choice.column, write, choice.column_key}, floors());
  }
  candidates_.set_row(bank, {choice.row, q.open, not_before, choice.row_key}, floors());
}

// The bus turns round soon: a bank whose open row is of no more use opens the row of what goes then.
void Channel::choose_ahead(BankIndex bank, Choice& choice) const {
  choice.row = no_slot;
  choice.row_key = key_none;
  if (choice.column != no_slot) return;
  Choice next;
  scheduler_.policy->choose(BankView(queues_, bank, drain_.other_lists()), next);
  if (next.column != no_slot) return;  // it is open
  choice.row = next.row;
  choice.row_key = next.row_key;
}

void Channel::choose_loaded() {
  queues_.loaded().each([&](BankIndex bank) { choose(bank); });
}

void Channel::choose_rank(std::uint32_t rank) {
  const BankIndex first = rank * shape().rank_banks();
  for (BankIndex b = first; b < first + shape().rank_banks(); ++b) choose(b);
}

void Channel::add(const Access& access, Cycle at) {
  if (at > now_) run(at);
  const Place place = mapping_.decode_local(access.address);
  const Shape& s = shape();
  const auto bank = static_cast<std::uint16_t>(
      ((place.pseudo * s.ranks + place.rank) * s.groups + place.group) * s.banks + place.bank);
  ++(access.write ? counters_.requests().writes : counters_.requests().reads);
  transfer_.arrived(at);
  if (answered_by_queue(access, bank, place, at)) {
    next_event_ = std::min(next_event_, answers_.next());
    return;
  }
  const Slot slot = queues_.take();
  Request& r = queues_[slot];
  r.tag = access.tag;
  r.order = queues_.next_order();
  r.arrived = at;
  r.row = place.row;
  r.column = place.column;
  r.source = access.source;
  r.write = access.write;
  r.bank = bank;
  enqueue(slot, at);
}

// A queued write answers reads of its address and absorbs writes of it; a queued read answers equal reads.
bool Channel::answered_by_queue(const Access& access, BankIndex bank, const Place& place, Cycle at) {
  const auto find = [&](bool write) { return queues_.find(bank, write, place.row, place.column); };
  const auto& settings = controller_.queues;
  if (!access.write) {
    if (find(true) != no_slot) {
      answers_.forward(at + controller_.latency.forward, access.tag);
      ++counters_.requests().forwarded;
      return true;
    }
    if (!settings.merge_reads) return false;
  } else if (!settings.merge_writes) {
    return false;
  }
  const Slot same = find(access.write);
  if (same == no_slot) return false;
  ++(access.write ? counters_.requests().merged_writes : counters_.requests().merged_reads);
  if (access.write && controller_.latency.write_done == WriteDone::accepted) {
    answers_.finish(at + 1, access.tag, true);
    return true;
  }
  queues_.merge(access.tag, same);  // done together with the other
  return true;
}

// The common case of a request that queues up behind others: what its bank would do next stays what it is.
bool Channel::changes_no_choice(const Request& r) const {
  if (!steady_ || drain_.turning() || !queues_.loaded().test(r.bank)) return false;
  if (r.write != drain_.writing()) return true;
  if (candidates_.has_column(r.bank)) return true;
  const BankQueue& q = queues_.bank(r.bank);
  return candidates_.row(r.bank).slot != no_slot && !(q.open && q.row == r.row);
}

void Channel::enqueue(Slot slot, Cycle at) {
  Request& r = queues_[slot];
  const BankIndex bank = r.bank;
  if (r.write) {
    r.after_read = queues_.find(bank, false, r.row, r.column) != no_slot;
    if (controller_.latency.write_done == WriteDone::accepted) answers_.finish(at + 1, r.tag, true);
  }
  const bool quiet = changes_no_choice(r);
  queues_.append(slot);
  admission_.enter(r.write);
  upkeep_.arrived(timing_.rank_of(bank));
  if (transfer_.active()) {
    queues_.wait(slot);
    if (!r.write) counters_.waits(bank, at);
    transfer_.try_at(std::max(at, now_));
    return update_next_event();
  }
  counters_.waits(bank, at);
  if (pages_.listens(page_on_arrival)) pages_.policy->arrived(queues_, slot, at);
  const bool all = scheduler_.listens(on_arrival) && scheduler_.policy->arrived(queues_, slot, at);
  if (update_direction(at) || all)
    choose_loaded();
  else if (!quiet)
    choose(bank);
  else if (controller_.latency.write_done != WriteDone::accepted && !upkeep_.stale())
    return;
  update_next_event();
}

void Channel::move_to_bank(Slot slot) {
  Request& r = queues_[slot];
  if (r.write) counters_.waits(r.bank, now_);
  queues_.stop_waiting(slot);
  admission_.give_place(r.write);
  transfer_.moved(queues_.bank(r.bank), r.write);
  if (pages_.listens(page_on_arrival)) pages_.policy->arrived(queues_, slot, now_);
  if (scheduler_.listens(on_move) && scheduler_.policy->moved(queues_, slot, now_)) choose_loaded();
  choose(r.bank);
}

// When the answers to the request, and to those that it stands for, come.
void Channel::answer(const Request& request, Cycle issued) {
  const WriteDone when = controller_.latency.write_done;
  const bool write = request.write;
  Cycle at = issued + t_.cl + t_.burst + controller_.latency.read;
  if (write) at = when == WriteDone::issued ? issued : issued + t_.cwl + t_.burst;
  if (!write || when != WriteDone::accepted) answers_.finish(at, request.tag, write);
  for (Slot s = request.merged; s != no_slot;) {
    const Slot next = queues_[s].merged;
    answers_.finish(at, queues_[s].tag, write);
    queues_.give_back(s);
    s = next;
  }
}

// Its column command was issued.
void Channel::retire(Slot slot, Cycle now) {
  const Request& r = queues_[slot];
  const BankIndex bank = r.bank;
  BankQueue& q = queues_.bank(bank);
  if (q.active == slot) {
    q.active = no_slot;
  } else {
    queues_.remove(slot);
    if (!transfer_.active()) admission_.give_place(r.write);
  }
  queues_.update_loaded(bank);
  admission_.sent();
  drain_.sent();
  upkeep_.finished(timing_.rank_of(bank), now);
  if (transfer_.active()) transfer_.served(q, now);
  if (pages_.listens(page_on_service)) pages_.policy->served(queues_, slot, now);
  const bool all = scheduler_.listens(on_service) && scheduler_.policy->served(queues_, slot, now);
  queues_.give_back(slot);
  if (update_direction(now) || all) choose_loaded();
}

void Channel::issue_column(BankIndex bank, Cycle now) {
  const Slot slot = candidates_.column(bank).slot;
  const Request& r = queues_[slot];
  const bool write = r.write;
  const std::uint32_t row = r.row, column = r.column;
  BankQueue& q = queues_.bank(bank);
  counters_.column_issued(r, now, timing_.column_bank(bank, write));
  answer(r, now);
  ++q.hits;
  q.used = now;
  candidates_.column_issued(bank);
  retire(slot, now);  // r is gone
  const bool close = pages_.closes_with(queues_, bank);
  const Command command = write ? (close ? Command::wra : Command::wr) : (close ? Command::rda : Command::rd);
  timing_.column_issued(bank, write, now, close);
  recorder_.sent(command, bank, now, row, column);
  if (close) {
    upkeep_.closed(bank, now);
    q.open = false;
    if (tell_closed(bank, Closing::with_access, now)) choose_loaded();
  }
  bus_.send_column(now);
  after_command();
  choose(bank);
  candidates_.precharge_delayed(bank);
}

void Channel::issue_row(BankIndex bank, Cycle now) {
  const Slot slot = candidates_.row(bank).slot;
  const BankQueue& q = queues_.bank(bank);
  if (slot != no_slot) queues_[slot].begun = std::min(queues_[slot].begun, now);
  candidates_.row_issued(bank);
  bool all = false;
  if (!q.open) {
    all = activate(bank, slot, now);
    bus_.send_activation(now);
  } else {
    if (slot != no_slot) queues_[slot].result = RowResult::conflict;
    timing_.precharged(bank, now);
    upkeep_.closed(bank, now);
    recorder_.sent(Command::pre, bank, now);
    all = close_bank(bank, slot != no_slot ? Closing::conflict : Closing::unused, now);
    bus_.send_row(now);
  }
  after_command();
  if (all) choose_loaded();
  if (!steady_ || slot == no_slot || drain_.turning())
    choose(bank);
  else if (q.open)
    candidates_.activated(bank, queues_[slot].write, floors());
  else
    candidates_.closed(bank, floors());
}

bool Channel::activate(BankIndex bank, Slot slot, Cycle now) {
  BankQueue& q = queues_.bank(bank);
  Request& r = queues_[slot];
  counters_.activated(bank, now, timing_);
  pages_.opened(bank, r.row, now);
  timing_.activated(bank, now);
  upkeep_.opened(bank, now);
  recorder_.sent(Command::act, bank, now, r.row);
  candidates_.activation_issued();
  q.open = true;
  q.row = r.row;
  q.hits = 0;
  q.used = now;
  if (r.result == RowResult::hit) r.result = RowResult::miss;
  const bool all = scheduler_.listens(on_opening) && scheduler_.policy->opened(queues_, bank, now);
  if (!row_frees()) return all;
  queues_.remove(slot);
  q.active = slot;
  admission_.give_place(r.write);
  if (update_direction(now)) choose_loaded();
  return all;
}

bool Channel::close_bank(BankIndex bank, Closing why, Cycle now) {
  BankQueue& q = queues_.bank(bank);
  const bool was_open = q.open;
  q.open = false;
  q.hits = 0;
  q.used = now;
  return was_open && tell_closed(bank, why, now);
}

bool Channel::tell_closed(BankIndex bank, Closing why, Cycle now) {
  pages_.closed(bank, queues_.bank(bank).row, why, now);
  return scheduler_.listens(on_closing) && scheduler_.policy->closed(queues_, bank, now);
}

// Refreshes and sleep that are due: banks of their ranks are held back from now on.
void Channel::start_upkeep(Cycle now) {
  LossMeter& loss = counters_.loss();
  for (const std::uint32_t rank : upkeep_.tick(now)) {
    const Upkeep::Banks banks = upkeep_.ticked(rank);
    for (BankIndex b = banks.first; b < banks.end; ++b)
      if (upkeep_.held(b)) loss.held_for_refresh(b, now);
    if (!steady_) choose_rank(rank);
    for (BankIndex b = banks.first; steady_ && b < banks.end; ++b) choose(b);
  }
  if (controller_.upkeep.blocks_channel && upkeep_.busy()) {
    for (BankIndex b = 0; b < shape().all_banks(); ++b) loss.held_for_refresh(b, now);
    choose_loaded();
  }
}

void Channel::issue_upkeep(const Upkeep::Next& next, Cycle now) {
  const Command command = next.command;
  const BankIndex bank = next.bank;
  const std::uint32_t rank = timing_.rank_of(bank);
  const BankIndex first = rank * shape().rank_banks(), last = first + shape().rank_banks();
  LossMeter& loss = counters_.loss();
  timing_.issue(command, bank, now);
  const bool changes = upkeep_.issued(command, bank, now);
  recorder_.sent(command, bank, now);
  bool all = false;
  if (command == Command::pre) all = close_bank(bank, Closing::bank_upkeep, now);
  if (command == Command::prea)
    for (BankIndex b = first; b < last; ++b) all = close_bank(b, Closing::rank_upkeep, now) || all;
  if (command == Command::refpb) loss.refreshed(bank, now + t_.trfc_pb);
  if (command == Command::ref)
    for (BankIndex b = first; b < last; ++b) loss.refreshed(b, now + t_.trfc);
  if (command == Command::pdx || command == Command::srx)
    for (BankIndex b = first; b < last; ++b) loss.woken(b, now + (command == Command::pdx ? t_.txp : t_.txs));
  bus_.send_row(now);
  after_command();
  candidates_.limits_changed();
  upkeep_.invalidate();
  const bool one = command == Command::pre || (command == Command::refpb && upkeep_.refreshes_one());
  if (one && steady_)
    choose(bank);
  else
    choose_rank(rank);
  if (all) choose_loaded();
  if (!changes || !controller_.upkeep.blocks_channel || upkeep_.busy()) return;
  // The channel is free again; for other ranks the refresh ends here.
  for (BankIndex b = 0; b < shape().all_banks(); ++b)
    if (timing_.rank_of(b) != rank) loss.refreshed(b, now);
  choose_loaded();
}

}  // namespace simtlab::memory::dram
