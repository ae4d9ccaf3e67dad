// What a process leaves that ends without a word.
#include "hosts/kept.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace simtlab::hosts {
namespace {

namespace fs = std::filesystem;

class KeptFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-kept-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path result() const { return folder_ / "result.json"; }
  std::string base() const { return result().string() + ".kept"; }

  static result::KernelResult kernel(const std::string& name, std::uint64_t instructions,
                                     std::uint32_t launches = 1) {
    result::KernelResult k;
    k.name = k.demangled = name;
    k.launches = launches;
    k.metrics.set("gpu.instructions.warp", instructions);
    return k;
  }
  static gpu::Counters counters(std::uint64_t launches, std::uint64_t ended) {
    gpu::Counters c;
    c.launches = launches, c.ended = ended, c.copies = 3, c.copied_bytes[1] = 128;
    return c;
  }

  fs::path folder_;
};

TEST_F(KeptFiles, KernelsComeBackInTheOrderOfTheirLaunches) {
  KeptWriter writer(base());
  const result::KernelResult a = kernel("a", 10), b = kernel("b", 20);
  writer.add({2, b, false}, {});
  writer.add({1, a, false}, {});
  writer.count(counters(3, 2));
  const std::vector<Kept> kept = read_kept(result());
  ASSERT_EQ(kept.size(), 1u);
  const Kept& k = kept.front();
  ASSERT_EQ(k.result.kernels.size(), 2u);
  EXPECT_EQ(k.result.kernels[0].name, "a");
  EXPECT_EQ(k.result.kernels[1].metrics, b.metrics);
  EXPECT_EQ(k.counters.under_way(), 1u);
  EXPECT_EQ(k.missing, 0u);
  EXPECT_EQ(k.result.total.get("gpu.instructions.warp"), 30.0);
  EXPECT_EQ(k.result.total.get("copy.d2h.bytes"), 128.0);
  EXPECT_EQ(k.result.total.get("program.kernels"), 3.0);
  writer.remove();
  EXPECT_TRUE(read_kept(result()).empty());
}

TEST_F(KeptFiles, OfMergedKernelsTheLastStateCounts) {
  KeptWriter writer(base());
  writer.add({4097, kernel("a", 10, 1), true}, {});
  ::usleep(300000);  // merged kernels are kept again once that costs little
  writer.add({4098, kernel("a", 25, 2), true}, {});
  writer.count(counters(5, 5));
  const Kept k = read_kept(result()).at(0);
  ASSERT_EQ(k.result.kernels.size(), 1u);
  EXPECT_EQ(k.result.kernels[0].launches, 2u);
  EXPECT_EQ(k.missing, 3u);
}

TEST_F(KeptFiles, WhatIsHalfWrittenIsNotRead) {
  {
    KeptWriter writer(base());
    writer.add({1, kernel("a", 10), false}, {});
    writer.add({2, kernel("b", 20), false}, {});
    writer.count(counters(2, 2));
  }
  for (const std::uintmax_t size = fs::file_size(base()); const std::uintmax_t less : {1u, 100u, 200u}) {
    fs::resize_file(base(), size - less);
    const Kept k = read_kept(result()).at(0);
    EXPECT_EQ(k.result.kernels.size(), 1u);
    EXPECT_EQ(k.missing, 1u);
    fs::resize_file(base(), size);
  }
  fs::resize_file(base(), 3);
  EXPECT_TRUE(read_kept(result()).empty());
  std::ofstream(base())
      << "something else that is long enough to have a head, and then some more of the same, to be sure that "
         "it is not taken for one of ours, ever, however long it may be";
  EXPECT_TRUE(read_kept(result()).empty());
}

TEST_F(KeptFiles, AForkedChildKeepsWhatItDidItself) {
  KeptWriter writer(base());
  writer.add({1, kernel("a", 10), false}, {});
  writer.count(counters(1, 1));
  const pid_t child = ::fork();
  if (child == 0) {
    writer.add({2, kernel("b", 20), false}, {});
    writer.count(counters(2, 2));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  writer.add({2, kernel("c", 30), false}, {});
  writer.count(counters(2, 2));
  const std::vector<Kept> kept = read_kept(result());
  ASSERT_EQ(kept.size(), 2u);
  ASSERT_EQ(kept[0].result.kernels.size(), 2u);
  EXPECT_EQ(kept[0].result.kernels[1].name, "c");
  ASSERT_EQ(kept[1].result.kernels.size(), 1u);
  EXPECT_EQ(kept[1].result.kernels[0].name, "b");
  EXPECT_EQ(kept[1].counters.launches, 1u);
  EXPECT_EQ(kept[1].missing, 0u);
}

TEST_F(KeptFiles, ALimitOfTheFileSizeEndsNobody) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit tiny{512, 512};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
    KeptWriter writer(base());
    writer.add({1, kernel("a", 10), false}, {});
    writer.count(counters(1, 1));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(read_kept(result()).at(0).missing, 1u);
}

}  // namespace
}  // namespace simtlab::hosts
