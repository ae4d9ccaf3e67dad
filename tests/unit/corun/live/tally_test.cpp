// Counts of a tree of processes: none is lost, whatever becomes of the process, and only the one that exec
// became says them.
#include "corun/live/tally.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::corun::live {
namespace {

namespace fs = std::filesystem;

class LiveTally : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/simtlab-tally-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }

  // What a process that exec became says, with its standard error in a file.
  std::string said(bool simulated, const std::function<void(Tally&)>& program) {
    const fs::path words = folder / "words";
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(words.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      const fs::path file = Tally::make(folder, simulated);
      Tally tally(file.c_str());
      program(tally);
      tally.at_end();
      tally.at_end();
      ::_exit(fs::exists(file) ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "the file is removed";
    return read_file(words, 1 << 20, "words");
  }

  fs::path folder;
};

void in_child(Tally& tally, const std::function<void()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    tally.after_fork_in_child();
    what();
    tally.at_end();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

TEST_F(LiveTally, SaysOneLineIfAllWereGated) {
  EXPECT_EQ(said(false,
                 [](Tally& tally) {
                   for (int i = 0; i < 3; ++i) tally.gated();
                 }),
            "simtlab corun exec: 3 launches gated, 0 not\n");
  EXPECT_EQ(said(false, [](Tally&) {}), "simtlab corun exec: 0 launches gated, 0 not\n");
}

TEST_F(LiveTally, CountsOfChildrenAreInThereEvenOfThoseThatWereKilled) {
  const std::string text = said(false, [](Tally& tally) {
    tally.gated();
    in_child(tally, [&] { tally.gated(), tally.not_gated(Ungated::no_daemon, 5); });
    in_child(tally, [&] { tally.gated(), ::kill(::getpid(), SIGKILL); });
  });
  EXPECT_THAT(text, testing::StartsWith("simtlab corun exec: 3 launches gated, 5 not\n"));
  EXPECT_THAT(text, testing::HasSubstr(": 5 not gated: no daemon answered\n    hint: "));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

TEST_F(LiveTally, EveryReasonHasItsWords) {
  const std::string text = said(false, [](Tally& tally) {
    for (std::size_t i = 0; i < ungated_reasons; ++i) tally.not_gated(static_cast<Ungated>(i), i + 1);
  });
  EXPECT_THAT(text, testing::StartsWith("simtlab corun exec: 0 launches gated, 28 not\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 2 * static_cast<int>(ungated_reasons));
}

TEST_F(LiveTally, AStaticRuntimeIsSaidWhereItsLaunchesWereNotSeen) {
  const auto of_static = [](Tally& tally) { tally.seen(Tally::static_runtime); };
  const auto that_launches = [](Tally& tally) { tally.seen(Tally::static_runtime), tally.gated(); };
  EXPECT_THAT(said(false, of_static), testing::HasSubstr("no launch of it was seen"));
  EXPECT_EQ(said(false, that_launches), "simtlab corun exec: 1 launches gated, 0 not\n");
  EXPECT_THAT(said(true, of_static), testing::HasSubstr("does not use the simulated GPU"));
  EXPECT_THAT(said(true, that_launches), testing::HasSubstr("does not use the simulated GPU"));
}

TEST_F(LiveTally, MoreProcessesThanThereAreRecordsShareTheLast) {
  const std::string text = said(false, [](Tally& tally) {
    for (std::uint32_t i = 0; i < Tally::most_records + 10; ++i) tally.after_fork_in_child(), tally.gated();
  });
  EXPECT_EQ(text, "simtlab corun exec: 522 launches gated, 0 not\n");
}

TEST_F(LiveTally, FilesOfProcessesThatWereKilledAreRemovedAndOthersAreLeftAlone) {
  const pid_t child = ::fork();
  if (child == 0) Tally::make(folder, false), ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const fs::path old = folder / ("tally-" + std::to_string(child));
  ASSERT_TRUE(fs::exists(old));
  for (const char* other : {"tally-", "tally-x", "tally-1x", "socket"})
    write_file_atomically(folder / other, "");
  const fs::path mine = Tally::make(folder, false);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(mine));
  for (const char* other : {"tally-", "tally-x", "tally-1x", "socket"})
    EXPECT_TRUE(fs::exists(folder / other)) << other;
}

TEST_F(LiveTally, AFileThatIsNoneIsNotUsed) {
  const fs::path file = folder / "short";
  write_file_atomically(file, "no counts");
  Tally tally(file.c_str());
  tally.gated();
  tally.at_end();
  EXPECT_EQ(read_file(file, 100, "file"), "no counts");
  EXPECT_THROW(Tally::make(folder / "missing", false), Error);
}

}  // namespace
}  // namespace simtlab::corun::live
