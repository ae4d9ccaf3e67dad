// The controller's knowledge of the rules against the independent checker's: what TimingState calls the first
// cycle of a command is one that the checker accepts, and the cycle before is one that it refuses.
#include <gtest/gtest.h>

#include <random>

#include "memory/dram/checker.h"
#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {
namespace {

using device::Technology;

CommandRecord record_of(const Shape& shape, Command command, BankIndex bank, Cycle at, std::uint32_t row) {
  const std::uint32_t rank = bank / shape.rank_banks();
  const bool of_bank =
      is_column(command) || command == Command::act || command == Command::pre || command == Command::refpb;
  CommandRecord r;
  r.at = at;
  r.command = command;
  r.pseudo = static_cast<std::uint8_t>(rank / shape.ranks);
  r.rank = static_cast<std::uint8_t>(rank % shape.ranks);
  r.group = of_bank ? static_cast<std::uint8_t>(bank / shape.banks % shape.groups) : 0;
  r.bank = of_bank ? static_cast<std::uint8_t>(bank % shape.banks) : 0;
  r.row = is_column(command) || command == Command::act ? row : 0;
  return r;
}

std::optional<Violation> replay(const Technology& t, const std::vector<CommandRecord>& commands) {
  CommandChecker checker(t);
  for (const CommandRecord& c : commands) checker.command(c);
  return checker.violation();
}

// A walk over commands that the banks' states allow, each at its first cycle.
class Walk {
 public:
  Walk(const Technology& t, unsigned seed) : state_(t), open_(state_.shape().all_banks()), random_(seed) {}

  struct Step {
    Command command;
    BankIndex bank;
    Cycle earliest;
  };
  Step next() {
    const Shape& shape = state_.shape();
    // Few banks, so that their commands meet.
    const BankIndex bank =
        static_cast<BankIndex>(random_() % std::min(shape.all_banks(), 6u) * 5 % shape.all_banks());
    Command command = Command::act;
    if (open_[bank]) {
      constexpr Command choices[] = {Command::rd,  Command::wr,  Command::rd, Command::wr,
                                     Command::pre, Command::rda, Command::wra};
      command = choices[random_() % std::size(choices)];
    }
    return {command, bank, state_.earliest(command, bank)};
  }
  void take(const Step& step, Cycle at) {
    state_.issue(step.command, step.bank, at);
    if (step.command == Command::act) open_[step.bank] = true;
    if (closes(step.command) || step.command == Command::pre) open_[step.bank] = false;
    commands.push_back(record_of(state_.shape(), step.command, step.bank, at, 1));
  }
  std::vector<CommandRecord> commands;

 private:
  TimingState state_;
  std::vector<bool> open_;
  std::mt19937 random_;
};

class TightRules : public testing::TestWithParam<std::string> {};

TEST_P(TightRules, FirstCycleIsAcceptedAndTheOneBeforeRefused) {
  Technology t = device::load_technology(GetParam()).technology;
  t.organisation.ranks = 2;
  t.timing.trtrs = std::max(t.timing.trtrs, 1u);
  t.refresh = device::Refresh::none;   // not what is looked at
  t.act_clocks = t.column_clocks = 1;  // nor is the command bus, which the controller knows
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Walk walk(t, seed);
    for (unsigned i = 0; i < 25; ++i) {
      const Walk::Step step = walk.next();
      const Cycle bus = walk.commands.empty() ? 0 : walk.commands.back().at + 1;
      const Cycle at = std::max(step.earliest, bus);
      if (step.earliest > bus) {
        std::vector<CommandRecord> early = walk.commands;
        early.push_back(record_of(Shape(t), step.command, step.bank, at - 1, 1));
        EXPECT_TRUE(replay(t, early)) << name(step.command) << " at " << at - 1 << ", seed " << seed;
        ++refused;
      }
      walk.take(step, at);
      const auto violation = replay(t, walk.commands);
      ASSERT_FALSE(violation) << violation->message << ", seed " << seed;
    }
  }
  EXPECT_GT(refused, 100u);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, TightRules, testing::ValuesIn(device::list_technologies()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace simtlab::memory::dram
