// Texts of single accesses: what a warp's threads did together, and in which order.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "stream/access_text/accesses.h"
#include "stream/access_text/import.h"
#include "stream/trace/reader.h"

namespace simtlab::stream::access_text {
namespace {

namespace fs = std::filesystem;

struct Text {
  fs::path from = fs::temp_directory_path() / ("simtlab-access-" + std::to_string(::getpid()) + ".trace"),
           to = fs::path(from).replace_extension(".simt");
  Imported imported;
  std::unique_ptr<trace::Reader> reader;

  explicit Text(const std::string& text) {
    std::ofstream(from) << text;
    trace::Writer writer(to, "test");
    imported = import(from, writer, nullptr);
    writer.close();
    reader = trace::open(to);
  }
  ~Text() {
    fs::remove(from);
    fs::remove(to);
  }
};

std::string id_of(const std::string& text) {
  const fs::path from =
      fs::temp_directory_path() / ("simtlab-access-bad-" + std::to_string(::getpid()) + ".trace");
  std::ofstream(from) << text;
  std::string id = "none";
  try {
    trace::Writer writer(fs::path(from).replace_extension(".simt"), "test");
    import(from, writer, nullptr);
  } catch (const Error& e) {
    id = e.id();
    EXPECT_FALSE(e.diagnostics().front().message.empty());
  }
  fs::remove(from);
  return id;
}

Access at(std::uint32_t instruction, std::vector<std::uint32_t> loops = {}) {
  Access a;
  a.instruction = instruction;
  for (const std::uint32_t loop : loops) a.place.loops[a.place.depth++] = loop;
  return a;
}

TEST(AccessText, OrderOfAccessesIsThatOfLoopsThenText) {
  constexpr std::uint32_t outer = 0, inner = 1u << 16, second = 2u << 16;
  EXPECT_TRUE(before(at(1), at(2)));
  EXPECT_TRUE(before(at(5, {outer | 1}), at(3, {outer | 2})));  // an earlier iteration
  EXPECT_TRUE(before(at(5, {outer | 1, inner | 9}), at(3, {outer | 2, inner | 1})));
  EXPECT_TRUE(before(at(3, {outer | 2, inner | 1}), at(3, {outer | 2, inner | 2})));
  EXPECT_TRUE(before(at(1), at(2, {outer | 1})));                // before the loop
  EXPECT_FALSE(before(at(9), at(2, {outer | 40})));              // behind it
  EXPECT_TRUE(before(at(4, {outer | 7}), at(6, {second | 1})));  // loops one after the other
  EXPECT_FALSE(before(at(4, {outer | 7}), at(4, {outer | 7})));
}

// Lines of one warp instruction: "kind mask addresses".
std::vector<std::string> steps_of(const Launch& launch) {
  const std::string text = warp_text(launch, "k", nullptr);
  std::vector<std::string> out;
  std::istringstream lines(text.substr(text.find("insts")));
  for (std::string line; std::getline(lines, line);) {
    const bool load = line.find(" LDG ") != std::string::npos,
               store = line.find(" STG ") != std::string::npos;
    if (!load && !store && line.find(" BAR") == std::string::npos) continue;
    std::string kept = std::string(load ? "R " : store ? "W " : "B ") + line.substr(line.find(' ') + 1, 8);
    for (std::size_t hex = 0; (hex = line.find("0x", hex)) != std::string::npos; ++hex)
      kept += " " + line.substr(hex, line.find(' ', hex) - hex);
    out.push_back(kept);
  }
  return out;
}

TEST(AccessText, ThreadsOfAWarpMeetAgainBehindABranchAndALoop) {
  Launch launch{{1, 1, 1}, {3, 1, 1}, {Group{{{}, {}, {}}}}};
  const auto read = [](std::uint32_t instruction, std::uint32_t address,
                       std::vector<std::uint32_t> loops = {}) {
    Access a = at(instruction, std::move(loops));
    a.address = address;
    return a;
  };
  Access barrier;
  barrier.kind = Access::Kind::barrier;
  Access write = read(9, 0x900);
  write.kind = Access::Kind::write;
  auto& threads = launch.groups[0].threads;
  // Thread 1 takes a branch (instruction 2), thread 2 leaves the loop after one iteration.
  threads[0] = {read(1, 0x100), read(3, 0x300, {1}), read(3, 0x304, {2}), barrier, write};
  threads[1] = {read(1, 0x104), read(2, 0x200), read(3, 0x308, {1}), read(3, 0x30c, {2}), barrier, write};
  threads[2] = {read(1, 0x108), read(3, 0x310, {1}), barrier, write};
  EXPECT_EQ(steps_of(launch),
            (std::vector<std::string>{"R 00000007 0x100 0x104 0x108", "R 00000002 0x200",
                                      "R 00000007 0x300 0x308 0x310", "R 00000003 0x304 0x30c", "B 00000007",
                                      "W 00000007 0x900 0x900 0x900"}));
}

constexpr const char* recorded =
    "local size:16 16 1\n"
    "0x9CAE000F0000319|0x0|0x10000000000\n0x9CAE000F0000319|0x10|0x10000000000\n"
    "0x9CBB000F000031A|0x0|0x10000000000\n0x9CBB040F000031A|0x10|0x10000000000\n"
    "0x9CAE004F0000319|0x0|0x20000000000\n0x9CAE004F0000319|0x10|0x20000000000\n"
    "0x9CBB1C0F000031A|0x0|0x20000000000\n0x9CBB200A000031A|0x10|0x20000000000\n"
    "0x1|0x10|0x0\n";

TEST(AccessText, ARecordedTextHasItsGroups) {
  const Text text(recorded);
  EXPECT_EQ(text.imported.kernels, 1u);
  EXPECT_EQ(text.imported.accesses, 9u);
  // Threads 0 and 16 of the first dimension are in two groups of 16.
  const Text twice(std::string(recorded) + "----\n" + std::string(recorded).substr(19) + "-----\n");
  EXPECT_EQ(twice.imported.kernels, 2u);
}

TEST(AccessText, AScheduledTextHasItsWarps) {
  const Text text("4 2\n0x83BD000 R 0 0 1\n0x83BD004 R 0 0 1\n0x83BD000 R 1 0 1\n0x83BD080 W 0 1 2\n");
  EXPECT_EQ(text.imported.kernels, 1u);
  EXPECT_EQ(text.imported.accesses, 4u);
  // Single threads, and two launches
  const Text twice("1 1\n0x0 R 0 1023 1\n0x4 W 0 0 2\n1 1\n0x7f0000000000 R 0 0 1\n");
  EXPECT_EQ(twice.imported.kernels, 2u);
  EXPECT_EQ(twice.imported.accesses, 3u);
}

TEST(AccessText, WhatIsNotOfTheFormIsRefused) {
  const std::string head = "local size:16 16 1\n";
  for (const std::string& bad : std::vector<std::string>{"",
                                                         "\n",
                                                         "local size:\n",
                                                         "local size:0 1 1\n",
                                                         "local size:2000 1 1\n",
                                                         "local size:16 16 16\n",
                                                         "local size:1 1 1 1\n",
                                                         head,
                                                         head + "nothing\n",
                                                         head + "-\n",
                                                         head + "0x1|0x0\n",
                                                         head + "0x9CAE000B0000319|0x0|0x0\n",
                                                         head + "0xZZ|0x0|0x0\n",
                                                         head + "0x3|0x0|0x0\n",
                                                         head + "0x123456789ABCDEF01|0x0|0x0\n",
                                                         head + "0x9CAE000F0000319|0xfffffffffffffff|0x0\n",
                                                         "1\n",
                                                         "0 4\n",
                                                         "33 4\n",
                                                         "1 0\n",
                                                         "1 99999999999\n",
                                                         "1 4 5\n",
                                                         "1 4\n",
                                                         "1 4\n0x0 X 0 0 1\n",
                                                         "1 4\n0x0 R 4 0 1\n",
                                                         "1 4\n0x0 R 0 1024 1\n",
                                                         "1 4\n0x0 R 0 0\n",
                                                         "1 4\n0x0 R 0 0 1 9\n",
                                                         "1 4\n0x10000000000000000 R 0 0 1\n",
                                                         "1 4\nR 0 0 1\n"})
    EXPECT_EQ(id_of(bad), "access-text") << bad;
}

}  // namespace
}  // namespace simtlab::stream::access_text
