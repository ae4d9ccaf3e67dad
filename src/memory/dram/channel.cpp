#include "memory/dram/channel.h"

#include <algorithm>
#include <cmath>

namespace simtlab::memory::dram {

// Times are counted from the floor; no limit lies 2^24 clocks ahead (device::technology_keys bounds each by
// 10^6).
class Channel::Best {
 public:
  explicit Best(Cycle floor) : floor_(floor) {}
  void offer(Cycle ready, std::uint64_t key, BankIndex bank) {
    const std::uint64_t packed = ((later(ready, floor_) - floor_) << key_bits) | key;
    bank_ = packed < packed_ ? bank : bank_;
    packed_ = packed < packed_ ? packed : packed_;
  }
  void offer_strict(Cycle ready, std::uint64_t key, BankIndex bank) {
    if (key >= strict_key_) return;
    strict_key_ = key;
    packed_ = ((std::max(ready, floor_) - floor_) << key_bits) | key;
    bank_ = bank;
  }
  Pick pick() const {
    if (packed_ == ~std::uint64_t{0}) return {};
    return {floor_ + (packed_ >> key_bits), packed_ & key_none, bank_};
  }

 private:
  Cycle floor_;
  std::uint64_t packed_ = ~std::uint64_t{0};
  std::uint64_t strict_key_ = key_none;
  BankIndex bank_ = 0;
};

Channel::Channel(std::uint32_t number, const device::Technology& technology,
                 const device::MemoryController& controller, const AddressMapping& mapping)
    : number_(number),
      controller_(controller),
      t_(technology.timing),
      mapping_(mapping),
      dual_issue_(technology.dual_issue),
      act_clocks_(technology.act_clocks),
      column_clocks_(technology.column_clocks),
      per_bank_(controller.queues.style == device::QueueStyle::per_bank),
      capacity_{controller.queues.read, controller.queues.write},
      timing_(technology),
      queues_(timing_.shape().all_banks(),
              controller.queues.read + controller.queues.write + timing_.shape().all_banks()),
      upkeep_(technology, controller, timing_),
      loss_(technology),
      scheduler_(controller.schedule, timing_.shape().all_banks()),
      pages_(controller.page, timing_.shape().all_banks()),
      strict_(scheduler_.strict),
      rotates_(scheduler_.rotates),
      steady_(scheduler_.steady && controller.queues.style == device::QueueStyle::split &&
              !controller.queues.frees_at_activation),
      row_frees_(controller.queues.frees_at_activation &&
                 controller.queues.style != device::QueueStyle::per_bank),
      columns_(timing_.shape().all_banks()),
      rows_(timing_.shape().all_banks()),
      column_keys_(timing_.shape().all_banks(), key_none),
      row_keys_(timing_.shape().all_banks(), key_none),
      has_column_(timing_.shape().all_banks()),
      has_act_(timing_.shape().all_banks()),
      has_close_(timing_.shape().all_banks()),
      loaded_(timing_.shape().all_banks()),
      pending_(timing_.shape().pseudo),
      bank_activity_(timing_.shape().all_banks()) {
  high_ = static_cast<std::uint32_t>(std::floor(controller.queues.high * controller.queues.write));
  low_ = static_cast<std::uint32_t>(std::ceil(controller.queues.low * controller.queues.write));
  if (controller.queues.style == device::QueueStyle::split) lists_ = BankView::Lists::reads;
  last_bank_ = timing_.shape().all_banks() - 1;
}

void Channel::restart() {
  timing_.restart();
  queues_.clear();
  upkeep_.restart();
  loss_.restart();
  scheduler_.policy->restart();
  pages_.policy->restart();
  std::fill(columns_.begin(), columns_.end(), Candidate{});
  std::fill(rows_.begin(), rows_.end(), Candidate{});
  for (auto* keys : {&column_keys_, &row_keys_}) std::fill(keys->begin(), keys->end(), key_none);
  has_column_.clear();
  has_act_.clear();
  has_close_.clear();
  loaded_.clear();
  column_pick_ = act_pick_ = close_pick_ = {};
  upkeep_pick_ = {};
  column_dirty_ = act_dirty_ = close_dirty_ = upkeep_dirty_ = false;
  now_ = row_bus_ = column_bus_ = last_arrival_ = 0;
  transfer_at_ = next_event_ = next_done_ = never;
  order_ = 0;
  held_[0] = held_[1] = moved_ = alive_ = draining_ = 0;
  write_mode_ = false;
  if (lists_ != BankView::Lists::both) lists_ = BankView::Lists::reads;
  last_bank_ = timing_.shape().all_banks() - 1;
  std::fill(pending_.begin(), pending_.end(), 0u);
  reads_done_.clear();
  writes_done_.clear();
  forwards_done_.clear();
  statistics_ = {};
  std::fill(bank_activity_.begin(), bank_activity_.end(), BankActivity{});
}

void Channel::advance(Cycle end, std::vector<Completion>& done) {
  run(end);
  report(end, done);
  update_next_event();
}

void Channel::run(Cycle end) {
  for (Cycle at = next_action(); at < end; at = next_action()) {
    now_ = std::max(now_, at);
    step(now_);
  }
  now_ = std::max(now_, end);
}

// The next cycle at which something happens in the channel.
Cycle Channel::next_action() {
  if (column_dirty_) column_pick_ = pick_column(column_floor()), column_dirty_ = false;
  if (act_dirty_) act_pick_ = pick_activation(row_floor()), act_dirty_ = false;
  if (close_dirty_) close_pick_ = pick_precharge(row_floor()), close_dirty_ = false;
  if (upkeep_dirty_) {
    upkeep_pick_ = upkeep_.wants_commands() ? upkeep_.next(queues_) : Upkeep::Next{};
    if (upkeep_pick_.at != never) upkeep_pick_.at = std::max(upkeep_pick_.at, row_floor());
    upkeep_dirty_ = false;
  }
  if (strict_) keep_oldest();
  const Cycle rows = std::min(act_pick_.at, close_pick_.at), rest = std::min(upkeep_pick_.at, transfer_at_);
  return std::min(std::min(column_pick_.at, rows), std::min(rest, upkeep_.timer()));
}

// Strict order: only the oldest request may have a command; the other picks are made anew after it.
void Channel::keep_oldest() {
  std::uint64_t oldest = key_none;
  for (const Pick* p : {&column_pick_, &act_pick_, &close_pick_})
    if (p->at != never) oldest = std::min(oldest, p->key);
  const auto drop = [&](Pick& p, bool& dirty) {
    if (p.at == never || p.key == oldest || p.key == key_page) return;
    p.at = never;
    dirty = true;
  };
  drop(column_pick_, column_dirty_);
  drop(act_pick_, act_dirty_);
  drop(close_pick_, close_dirty_);
}

void Channel::step(Cycle now) {
  if (upkeep_.timer() <= now) return tick_upkeep(now);
  // The smallest key of what is ready; banks that rotate prefer a row command of the same bank.
  const Pick* row = &close_pick_;
  if (act_pick_.at <= now && !(close_pick_.at <= now && close_pick_.key < act_pick_.key)) row = &act_pick_;
  const bool column = column_pick_.at <= now, any_row = row->at <= now;
  const bool row_first = any_row && !(column && column_pick_.key < row->key);
  if (upkeep_pick_.at <= now) {
    const std::uint64_t key = rotates_ ? 0 : key_upkeep;
    const std::uint64_t best = row_first ? row->key : column ? column_pick_.key : key_none;
    if (best >= key) return issue_upkeep(upkeep_pick_, now);
  }
  if (row_first) return issue_row(row->bank, now);
  if (column) return issue_column(column_pick_.bank, now);
  // What moves now may be scheduled from the next cycle on.
  now_ = now + 1;
  transfer(now);
}

void Channel::tick_upkeep(Cycle now) {
  changed_.clear();
  upkeep_.tick(now, changed_);
  upkeep_dirty_ = true;
  const Shape& shape = timing_.shape();
  for (const std::uint32_t rank : changed_) {
    const BankIndex first = rank * shape.rank_banks();
    for (BankIndex b = first; b < first + shape.rank_banks(); ++b)
      if (upkeep_.held(b)) loss_.held_for_refresh(b, now);
    choose_rank(rank);
  }
  if (controller_.upkeep.blocks_channel && upkeep_.busy()) {
    for (BankIndex b = 0; b < shape.all_banks(); ++b) loss_.held_for_refresh(b, now);
    choose_loaded();
  }
}

std::uint64_t Channel::key_of(BankIndex bank, std::uint64_t key) const {
  if (!rotates_ || key == key_page) return key;
  const std::uint32_t count = timing_.shape().all_banks();
  return key_waits | (bank > last_bank_ ? bank - last_bank_ - 1 : bank + count - last_bank_ - 1);
}

template <class Ready>
Channel::Pick Channel::pick(Cycle floor, const BankSet& set, const std::vector<std::uint64_t>& keys,
                            Ready ready) const {
  if (strict_ || rotates_) return pick_in_order(floor, set, keys, ready);
  Best best(floor);
  const std::uint64_t* const key = keys.data();
  set.each([&](BankIndex bank) { best.offer(ready(bank), key[bank], bank); });
  return best.pick();
}

template <class Ready>
[[gnu::noinline]] Channel::Pick Channel::pick_in_order(Cycle floor, const BankSet& set,
                                                       const std::vector<std::uint64_t>& keys,
                                                       Ready ready) const {
  Best best(floor);
  set.each([&](BankIndex bank) {
    const std::uint64_t key = key_of(bank, keys[bank]);
    strict_ ? best.offer_strict(ready(bank), key, bank) : best.offer(ready(bank), key, bank);
  });
  return best.pick();
}

Channel::Pick Channel::pick_column(Cycle floor) const {
  return pick(floor, has_column_, column_keys_, [this](BankIndex bank) { return column_ready(bank); });
}

Channel::Pick Channel::pick_activation(Cycle floor) const {
  return pick(floor, has_act_, row_keys_, [this](BankIndex bank) { return timing_.activate(bank); });
}

Channel::Pick Channel::pick_precharge(Cycle floor) const {
  return pick(floor, has_close_, row_keys_, [this](BankIndex bank) { return precharge_ready(bank); });
}

// A bank's candidate is new: the pick changes if it is better, and has to be made anew if it was this bank's.
inline void Channel::offer(Pick& pick, bool& dirty, BankIndex bank, bool candidate, Cycle ready, Cycle floor,
                           std::uint64_t key) {
  if (dirty) return;
  if (pick.at != never && pick.bank == bank) {
    dirty = true;
  } else if (candidate) {
    const Pick mine{std::max(ready, floor), key_of(bank, key), bank};
    if (before(mine, pick)) pick = mine;
  }
}

void Channel::offer_column(BankIndex bank) {
  offer(column_pick_, column_dirty_, bank, has_column_.test(bank), column_ready(bank), column_floor(),
        column_keys_[bank]);
}

void Channel::offer_activation(BankIndex bank) {
  offer(act_pick_, act_dirty_, bank, has_act_.test(bank), timing_.activate(bank), row_floor(),
        row_keys_[bank]);
}

void Channel::offer_precharge(BankIndex bank) {
  offer(close_pick_, close_dirty_, bank, has_close_.test(bank), precharge_ready(bank), row_floor(),
        row_keys_[bank]);
}

void Channel::choose(BankIndex bank) {
  const BankQueue& q = queues_.bank(bank);
  Choice choice;
  Cycle not_before = 0;
  if (q.active != no_slot) {
    choice.column = q.active;
    choice.column_key = queues_[q.active].order;
  } else if (!upkeep_.held(bank)) {
    if (loaded_.test(bank)) {
      scheduler_.policy->choose(BankView(queues_, bank, lists_), choice);
    } else if (q.open) {
      not_before = pages_.close_at(queues_, bank);
      if (not_before != never) choice.row_key = key_page;
    }
  }
  Candidate& column = columns_[bank];
  if (column.slot != choice.column || column_keys_[bank] != choice.column_key) {
    column_keys_[bank] = choice.column_key;
    column = {choice.column, choice.column != no_slot && queues_[choice.column].write, false, 0};
    has_column_.assign(bank, choice.column != no_slot);
    offer_column(bank);
  }
  Candidate& row = rows_[bank];
  if (row.slot == choice.row && row_keys_[bank] == choice.row_key && row.close == q.open &&
      row.not_before == not_before)
    return;
  const bool any = choice.row_key != key_none, had = row_keys_[bank] != key_none;
  const bool acts = any && !q.open, closes = any && q.open, acted = had && !row.close,
             closed = had && row.close;
  row = {choice.row, false, q.open, not_before};
  row_keys_[bank] = choice.row_key;
  if (acts || acted) {
    has_act_.assign(bank, acts);
    offer_activation(bank);
  }
  if (closes || closed) {
    has_close_.assign(bank, closes);
    offer_precharge(bank);
  }
}

RankActivity Channel::rank_activity(std::uint32_t rank, Cycle end) const {
  RankActivity activity = upkeep_.activity(rank, end);
  const BankIndex first = rank * timing_.shape().rank_banks();
  for (BankIndex b = first; b < first + timing_.shape().rank_banks(); ++b) {
    activity.activations += bank_activity_[b].activations;
    activity.reads += bank_activity_[b].reads;
    activity.writes += bank_activity_[b].writes;
  }
  return activity;
}

void Channel::choose_loaded() {
  loaded_.each([&](BankIndex bank) { choose(bank); });
}

void Channel::choose_rank(std::uint32_t rank) {
  const BankIndex first = rank * timing_.shape().rank_banks();
  for (BankIndex b = first; b < first + timing_.shape().rank_banks(); ++b) choose(b);
}

// Seen from outside are completions and room in the queues. A row command makes room for none: the column
// command that does comes tRCD later at the earliest.
void Channel::update_next_event() {
  if (alive_ == 0) {
    next_event_ = next_done_;
    return;
  }
  const Cycle action = next_action();
  const Cycle rows = std::min(act_pick_.at, close_pick_.at);
  Cycle seen = action;
  if (action == rows && !row_frees_) {
    const Cycle others =
        std::min(std::min(column_pick_.at, transfer_at_), std::min(upkeep_pick_.at, upkeep_.timer()));
    seen = std::min(others, rows + std::min(t_.trcd_read, t_.trcd_write));
  }
  next_event_ = std::min(seen, next_done_);
}

}  // namespace simtlab::memory::dram
