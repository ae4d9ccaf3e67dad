#include "base/temporary.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>

#include "base/files.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

// Destroyed after everything that a test made first: programs write their results as late.
struct AtEnd {
  fs::path file;
  ~AtEnd() {
    if (!file.empty()) write_file_atomically(file, "late");
  }
} at_end;

class Temporary : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "simtlab-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  long count() const { return std::distance(fs::directory_iterator(base_), fs::directory_iterator()); }

  // Another process that does this, says so and waits to be killed; returns its number.
  static pid_t process(const std::function<void()>& work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      [[maybe_unused]] const ssize_t n = ::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  // Leaves both kinds behind.
  void litter() const {
    new TemporaryFile(base_ / "result.json", 0666);
    const auto* folder = new TemporaryFolder(base_);
    write_file_atomically(folder->path() / "run.json", "x");
  }

  fs::path base_;
};

TEST_F(Temporary, AFileHasItsNameWhenItIsPublished) {
  {
    TemporaryFile file(base_ / "x", 0600);
    EXPECT_EQ(::write(file.descriptor(), "one", 3), 3);
    EXPECT_FALSE(fs::exists(base_ / "x"));
    EXPECT_EQ(file.publish(), 0);
    EXPECT_TRUE(file.published());
    EXPECT_EQ(::write(file.descriptor(), "two", 3), 3);
  }
  EXPECT_EQ(read_file(base_ / "x", 10), "onetwo");
  EXPECT_EQ(count(), 1);
  { const TemporaryFile dropped(base_ / "x", 0600); }
  EXPECT_EQ(read_file(base_ / "x", 10), "onetwo");
  EXPECT_EQ(count(), 1);
}

TEST_F(Temporary, AFolderIsTheUsersAndGoes) {
  {
    const TemporaryFolder folder(base_);
    EXPECT_EQ(fs::status(folder.path()).permissions(), fs::perms::owner_all);
    write_file_atomically(folder.path() / "x", "1");
  }
  EXPECT_EQ(count(), 0);
}

TEST_F(Temporary, WhatAKilledProcessLeftIsCleared) {
  const pid_t child = process([this] { litter(); });
  EXPECT_EQ(count(), 2);
  clear_leftovers(base_);
  EXPECT_EQ(count(), 2) << "its process lives";
  kill(child);
  EXPECT_EQ(count(), 2);
  clear_leftovers(base_);
  EXPECT_EQ(count(), 0);
}

TEST_F(Temporary, ALaterOneClearsByItself) {
  kill(process([this] { litter(); }));
  EXPECT_EQ(count(), 2);
  { const TemporaryFolder folder(base_); }
  EXPECT_EQ(count(), 0);
}

TEST_F(Temporary, OursAreNotCleared) {
  const TemporaryFile file(base_ / "x", 0600);
  const TemporaryFolder folder(base_);
  clear_leftovers(base_);
  EXPECT_EQ(count(), 2);
}

TEST_F(Temporary, WhatLooksLikeOneAndHasNoLockOrOwnerStays) {
  fs::create_directory(base_ / "simtlab-tmp-abcdef");  // without a lock: nobody knows whose
  write_file_atomically(base_ / "simtlab-tmp-file", "a file of this name is no folder");
  fs::create_directory(base_ / "x.1.0.simtlab-tmp");
  write_file_atomically(base_ / "target", "1");
  fs::create_symlink(base_ / "target", base_ / "y.1.0.simtlab-tmp");
  fs::create_directory(base_ / "real");
  fs::create_directory_symlink(base_ / "real", base_ / "simtlab-tmp-linked");
  long left = count();
  if (::geteuid() == 0) {
    kill(process([this] { litter(); }));
    for (const auto& entry : fs::directory_iterator(base_)) {
      const bool result = entry.path().filename().string().starts_with("result.json.");
      ASSERT_TRUE(!result || ::chown(entry.path().c_str(), 65534, 65534) == 0);
    }
    left = count() - 1;  // the folder is ours and goes
  }
  clear_leftovers(base_);
  EXPECT_EQ(count(), left);
}

TEST_F(Temporary, FilesAreWrittenWhileTheProcessEnds) {
  fs::create_directory(base_ / "folder");
  const pid_t child = ::fork();
  if (child == 0) {
    at_end.file = base_ / "folder" / "x";
    write_file_atomically(base_ / "x", "early");
    std::exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(base_ / "folder" / "x", 10), "late");
}

TEST_F(Temporary, ManyThreadsAndACleanerNeverLoseAFile) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 200; ++i)
        write_file_atomically(base_ / ("f" + std::to_string(t)), std::to_string(i));
    });
  threads.emplace_back([this] {
    for (int i = 0; i < 300; ++i) clear_leftovers(base_);
  });
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(read_file(base_ / ("f" + std::to_string(t)), 10), "199");
  EXPECT_EQ(count(), 4);
}

}  // namespace
}  // namespace simtlab
