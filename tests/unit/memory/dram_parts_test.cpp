// The parts of a channel, each without the whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "memory/dram/admission.h"
#include "memory/dram/answers.h"
#include "memory/dram/bank_transfer.h"
#include "memory/dram/candidates.h"
#include "memory/dram/channel_statistics.h"
#include "memory/dram/command_bus.h"
#include "memory/dram/command_recorder.h"
#include "memory/dram/upkeep.h"
#include "memory/dram/write_drain.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::QueueStyle;
using device::Technology;
using testing::ElementsAre;

Technology ddr4() { return device::load_technology("ddr4-2400").technology; }

TEST(DramAdmission, SplitQueuesFillEachForItselfAndAUnifiedOneForBoth) {
  MemoryController::Queues queues;
  queues.read = 2, queues.write = 1;
  Admission split(queues);
  split.enter(true);
  EXPECT_FALSE(split.accepts(true));
  EXPECT_TRUE(split.accepts(false));
  split.enter(false), split.enter(false);
  EXPECT_FALSE(split.accepts(false));
  split.give_place(false);
  EXPECT_TRUE(split.accepts(false));
  EXPECT_FALSE(split.idle());  // a request that gave its place back has not been sent yet
  for (int i = 0; i < 3; ++i) split.sent();
  EXPECT_TRUE(split.idle());
  queues.style = QueueStyle::unified;
  Admission unified(queues);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(unified.accepts(true));
    unified.enter(true);
  }
  EXPECT_FALSE(unified.accepts(false));
  unified.restart();
  EXPECT_TRUE(unified.accepts(false) && unified.idle());
}

using Change = WriteDrain::Change;

TEST(DramWriteDrain, BeginsAboveTheHighMarkAndEndsBelowTheLowOne) {
  MemoryController::Queues queues;
  queues.write = 10, queues.high = 0.8, queues.low = 0.2;
  WriteDrain drain(queues, 0);
  EXPECT_EQ(drain.lists(), BankView::Lists::reads);
  EXPECT_EQ(drain.update(5, 8), Change::none);
  EXPECT_EQ(drain.update(5, 9), Change::turned);
  EXPECT_TRUE(drain.writing());
  EXPECT_EQ(drain.lists(), BankView::Lists::writes);
  EXPECT_EQ(drain.update(5, 2), Change::none);
  EXPECT_EQ(drain.update(5, 1), Change::turned);
  EXPECT_FALSE(drain.writing());
  EXPECT_EQ(drain.update(0, 1), Change::turned);  // nothing to read
  EXPECT_EQ(drain.update(0, 0), Change::none);    // nothing at all: as it was
  EXPECT_EQ(drain.update(1, 0), Change::turned);
  queues.style = QueueStyle::unified;
  WriteDrain unified(queues, 0);
  EXPECT_EQ(unified.update(0, 10), Change::none);
  EXPECT_EQ(unified.lists(), BankView::Lists::both);
}

TEST(DramWriteDrain, LetsSomeAccessesGoBetweenAMarkAndTheTurn) {
  MemoryController::Queues queues;
  queues.write = 10, queues.high = 0.8, queues.low = 0.2;
  WriteDrain drain(queues, 2);
  EXPECT_EQ(drain.update(5, 9), Change::begins);
  EXPECT_TRUE(drain.turning());
  EXPECT_FALSE(drain.writing());
  EXPECT_EQ(drain.other_lists(), BankView::Lists::writes);
  drain.sent();
  EXPECT_EQ(drain.update(4, 8), Change::none) << "the mark does not matter any more";
  EXPECT_FALSE(drain.spent());
  drain.sent();
  EXPECT_TRUE(drain.spent());
  EXPECT_EQ(drain.turn(), Change::turned);
  EXPECT_TRUE(drain.writing());
  EXPECT_FALSE(drain.turning());
  EXPECT_EQ(drain.update(5, 1), Change::begins);
  EXPECT_EQ(drain.update(5, 0), Change::turned) << "nothing is left to write";
  EXPECT_EQ(drain.update(0, 1), Change::turned) << "nothing to read: at once";
}

TEST(DramCommandBus, RowsAndColumnsShareItUnlessItIsTwo) {
  Technology t = ddr4();
  t.act_clocks = 2, t.column_clocks = 3;
  for (const bool dual : {false, true}) {
    t.dual_issue = dual;
    CommandBus bus(t);
    bus.send_activation(10);
    EXPECT_EQ(bus.row_free(), 12u);
    EXPECT_EQ(bus.column_free(), dual ? 0u : 12u);
    bus.send_column(20);
    EXPECT_EQ(bus.column_free(), 23u);
    EXPECT_EQ(bus.row_free(), dual ? 12u : 23u);
    bus.send_row(30);
    EXPECT_EQ(bus.row_free(), 31u);
    bus.restart();
    EXPECT_EQ(bus.row_free() + bus.column_free(), 0u);
  }
}

TEST(DramAnswers, ComeInTheOrderOfTimeWhateverTheirKind) {
  Answers answers(3);
  EXPECT_EQ(answers.next(), never);
  answers.finish(20, 1, false);
  answers.finish(15, 2, true);
  answers.forward(18, 3);
  answers.finish(30, 4, false);
  EXPECT_EQ(answers.next(), 15u);
  std::vector<Completion> done;
  answers.report(15, done);
  EXPECT_TRUE(done.empty());
  answers.report(30, done);
  std::vector<std::uint64_t> tags;
  for (const Completion& c : done) {
    tags.push_back(c.tag);
    EXPECT_EQ(c.channel, 3u);
    EXPECT_EQ(c.write, c.tag == 2);
  }
  EXPECT_THAT(tags, ElementsAre(2, 3, 1));
  EXPECT_EQ(answers.next(), 30u);
  answers.restart();
  EXPECT_EQ(answers.next(), never);
}

Slot put(Queues& queues, std::uint16_t bank, std::uint32_t row, bool write) {
  const Slot slot = queues.take();
  Request& r = queues[slot];
  r.bank = bank, r.row = row, r.write = write;
  r.order = queues.next_order();
  queues.append(slot);
  return slot;
}

TEST(DramQueues, KnowTheirBanksWithRequestsAndWhoWantsTheOpenRow) {
  Queues queues(4, 8);
  const Slot slot = put(queues, 2, 7, false);
  EXPECT_TRUE(queues.loaded().test(2));
  queues.bank(2).row = 7;
  EXPECT_TRUE(queues.wants_open_row(2));
  queues.bank(2).row = 8;
  EXPECT_FALSE(queues.wants_open_row(2));
  queues.merge(99, slot);
  EXPECT_EQ(queues[queues[slot].merged].tag, 99u);
  queues.remove(slot);
  queues.bank(2).active = slot;  // its row was activated
  queues.update_loaded(2);
  EXPECT_TRUE(queues.loaded().test(2));
  queues.bank(2).row = 7;
  EXPECT_TRUE(queues.wants_open_row(2));
  queues.bank(2).active = no_slot;
  queues.update_loaded(2);
  EXPECT_FALSE(queues.loaded().test(2));
}

struct Transfers : testing::Test {
  MemoryController::Queues settings;
  Transfers() {
    settings.style = QueueStyle::per_bank, settings.write = 4, settings.high = 1, settings.low = 0.5,
    settings.bank = 1;
  }
  static Slot wait(Queues& queues, std::uint16_t bank, std::uint32_t row, bool write) {
    const Slot slot = put(queues, bank, row, write);
    queues.wait(slot);
    return slot;
  }
  static void move(BankTransfer& transfer, Queues& queues, Slot slot) {
    queues.stop_waiting(slot);
    transfer.moved(queues.bank(queues[slot].bank), queues[slot].write);
  }
};

TEST_F(Transfers, ReadsMoveOneAClockWhileTheirBankHasRoom) {
  Queues queues(4, 8);
  BankTransfer transfer(settings);
  const Slot first = wait(queues, 0, 1, false), same_bank = wait(queues, 0, 2, false),
             other = wait(queues, 1, 3, false);
  EXPECT_EQ(transfer.next(), never);
  transfer.try_at(5);
  EXPECT_EQ(transfer.next(), 5u);
  EXPECT_EQ(transfer.select(queues, 5), first);
  EXPECT_EQ(transfer.next(), 6u);
  move(transfer, queues, first);
  EXPECT_EQ(transfer.select(queues, 6), other);  // the queue of bank 0 is full
  move(transfer, queues, other);
  EXPECT_EQ(transfer.select(queues, 7), no_slot);
  EXPECT_EQ(transfer.next(), never);
  transfer.served(queues.bank(0), 9);
  EXPECT_EQ(transfer.next(), 9u);
  EXPECT_EQ(transfer.select(queues, 9), same_bank);
}

TEST_F(Transfers, WritesMoveWhenTheirQueueIsFullOrTheBanksAreIdleOrAfterAWhile) {
  Queues queues(8, 8);
  BankTransfer transfer(settings);
  transfer.arrived(100);
  const Slot write = wait(queues, 0, 1, true);
  EXPECT_EQ(transfer.select(queues, 100), no_slot);
  EXPECT_EQ(transfer.next(), 100u + 512);  // the last ones, unless something comes
  EXPECT_EQ(transfer.select(queues, 612), write);
  move(transfer, queues, write);
  const Slot read = wait(queues, 5, 1, false);
  std::vector<Slot> writes;
  for (std::uint16_t bank = 1; bank < 4; ++bank) writes.push_back(wait(queues, bank, 1, true));
  EXPECT_EQ(transfer.select(queues, 700), read);  // three of four, and a bank has work: reads go
  writes.push_back(wait(queues, 4, 1, true));
  EXPECT_EQ(transfer.select(queues, 701), writes[0]);  // full: all four are drained
}

TEST_F(Transfers, AWriteLetsAnOlderReadOfItsAddressGoFirst) {
  Queues queues(4, 8);
  settings.write = 1;
  BankTransfer transfer(settings);
  const Slot read = wait(queues, 0, 1, false), write = wait(queues, 0, 1, true);
  queues[write].after_read = true;
  EXPECT_EQ(transfer.select(queues, 0), read);
}

// Candidates against a search over all banks, whatever is issued in between.
TEST(DramCandidates, TheFirstIsTheBestOfAllBanks) {
  const Technology t = ddr4();
  for (const char* kind : {"fr_fcfs", "fcfs", "round_robin"}) {
    TimingState timing(t);
    const std::uint32_t banks = timing.shape().all_banks();
    MemoryController::Schedule schedule;
    schedule.kind = kind;
    const ActiveScheduler scheduler(schedule, banks);
    Candidates candidates(timing, scheduler);
    PickOrder order(scheduler.strict, scheduler.rotates, banks);
    std::vector<std::uint64_t> keys(banks, key_none);  // of columns
    std::mt19937 random(5);
    Cycle now = 0;
    for (std::uint32_t turn = 0; turn < 2000; ++turn) {
      const auto bank = static_cast<BankIndex>(random() % banks);
      const Candidates::Floors floors{now, now};
      keys[bank] = random() % 3 == 0 ? key_none : key_waits | turn;
      const Slot slot = keys[bank] == key_none ? no_slot : turn;
      if (candidates.has_other_column(bank, slot, keys[bank]))
        candidates.set_column(bank, {slot, false, keys[bank]}, floors);
      candidates.refresh(floors);
      Pick best;
      for (BankIndex b = 0; b < banks; ++b) {
        const Pick mine{std::max(timing.column(b, false), now), order.key_of(b, keys[b]), b};
        if (keys[b] != key_none && order.before(mine, best)) best = mine;
      }
      ASSERT_EQ(candidates.next_column(), best.at) << kind << ", turn " << turn;
      if (best.at == never) continue;
      now = best.at;
      const Candidates::First first = candidates.first(now);
      ASSERT_EQ(first.bank, best.bank) << kind << ", turn " << turn;
      ASSERT_EQ(first.key, best.key);
      ASSERT_TRUE(first.kind == Candidates::Kind::column);
      if (random() % 2 == 0) continue;
      timing.column_issued(first.bank, false, now, false);
      candidates.column_issued(first.bank);
      order.issued(first.bank);
      candidates.bus_taken({++now, now});
    }
  }
}

TEST(DramCandidates, ARequestGoesFromItsRowToItsColumn) {
  const Technology t = ddr4();
  TimingState timing(t);
  const ActiveScheduler scheduler(MemoryController::Schedule{}, timing.shape().all_banks());
  Candidates candidates(timing, scheduler);
  const std::uint64_t key = key_waits | key_row | 4;
  candidates.set_row(6, {11, true, 0, key}, {0, 0});  // another row is open
  candidates.refresh({0, 0});
  EXPECT_TRUE(candidates.first(0).kind == Candidates::Kind::row);
  timing.precharged(6, 0);
  candidates.closed(6, {1, 1});
  candidates.refresh({1, 1});
  EXPECT_EQ(candidates.next_row(), t.timing.trp);
  EXPECT_FALSE(candidates.row(6).close);
  timing.activated(6, t.timing.trp);
  candidates.activated(6, true, {20, 20});
  candidates.refresh({20, 20});
  EXPECT_EQ(candidates.next_row(), never);
  EXPECT_EQ(candidates.next_column(), std::max<Cycle>(20, t.timing.trp + t.timing.trcd_write));
  EXPECT_EQ(candidates.column(6).slot, 11u);
  EXPECT_EQ(candidates.column(6).key, key_waits | 4);
}

TEST(DramCounters, SplitTheLatencyOfAReadWithoutRest) {
  const Technology t = ddr4();
  const TimingState timing(t);
  ChannelCounters counters(timing.rules(), 21);
  Request r;
  r.bank = 3, r.arrived = 100, r.begun = 130, r.result = RowResult::miss;
  counters.waits(3, 100);
  counters.column_issued(r, 180, 146);
  const ChannelStatistics& s = counters.requests();
  EXPECT_EQ(s.latency_queue, 30u);
  EXPECT_EQ(s.latency_row, 16u);
  EXPECT_EQ(s.latency_bus, 34u);
  EXPECT_EQ(s.latency_transfer, 21u);
  EXPECT_EQ(s.read_bursts, 1u);
  EXPECT_EQ(s.row_misses, 1u);
  r.begun = never;  // its row was open: no command before its own
  counters.waits(3, 180);
  counters.column_issued(r, 200, 150);
  EXPECT_EQ(s.latency_queue, 30u + 100);
  EXPECT_EQ(s.latency_row, 16u);
  RankActivity activity;
  counters.add_commands(0, activity);
  EXPECT_EQ(activity.reads, 2u);
  EXPECT_EQ(counters.bus_time(0, 1000).total(), 1000u);
}

TEST(DramRecorder, NamesTheBankOfACommandAndOnlyTheRankOfACommandOfAll) {
  struct Last final : CommandSink {
    CommandRecord record;
    void command(const CommandRecord& r) override { record = r; }
  } last;
  Technology t = ddr4();
  t.organisation.ranks = 2;
  const Shape shape(t);
  CommandRecorder recorder(5, shape);
  recorder.sent(Command::act, 1, 1, 1);  // nobody listens
  recorder.record_to(&last);
  const BankIndex bank = shape.rank_banks() + shape.banks + 2;  // rank 1, group 1, bank 2
  recorder.sent(Command::rd, bank, 40, 9, 8);
  EXPECT_EQ(last.record.channel, 5u);
  EXPECT_EQ(last.record.rank, 1);
  EXPECT_EQ(last.record.group, 1);
  EXPECT_EQ(last.record.bank, 2);
  EXPECT_EQ(last.record.row, 9u);
  EXPECT_EQ(last.record.column, 8u);
  recorder.sent(Command::ref, bank, 50);
  EXPECT_EQ(last.record.rank, 1);
  EXPECT_EQ(last.record.group + last.record.bank, 0);
}

TEST(DramUpkeep, ARefreshThatIsDueClosesTheRankThenGoes) {
  const Technology t = ddr4();
  TimingState timing(t);
  MemoryController controller;
  Upkeep upkeep(t, controller, timing);
  Queues queues(timing.shape().all_banks(), 8);
  EXPECT_EQ(upkeep.timer(), t.timing.trefi);
  timing.activated(4, 10);
  queues.bank(4).open = true;
  upkeep.opened(4, 10);
  EXPECT_THAT(upkeep.tick(t.timing.trefi), ElementsAre(0));
  EXPECT_TRUE(upkeep.held(4) && upkeep.busy() && upkeep.stale());
  upkeep.plan(queues, 0);
  EXPECT_TRUE(upkeep.planned().command == Command::prea);
  timing.issue(Command::prea, 0, t.timing.trefi);
  upkeep.issued(Command::prea, 0, t.timing.trefi);
  queues.bank(4).open = false;
  upkeep.command_sent();
  upkeep.plan(queues, 0);
  EXPECT_TRUE(upkeep.planned().command == Command::ref);
  EXPECT_EQ(upkeep.planned().at, t.timing.trefi + t.timing.trp);
  upkeep.issued(Command::ref, 0, upkeep.planned().at);
  EXPECT_FALSE(upkeep.held(4));
  EXPECT_EQ(upkeep.timer(), 2u * t.timing.trefi);
}

}  // namespace
}  // namespace simtlab::memory::dram
