// Profiles on disk: each form gives back what it was given, and bad files are named with their place.
#include "corun/profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::corun {
namespace {

namespace fs = std::filesystem;

struct ProfileFiles : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("simtlab-profiles-" + std::to_string(::getpid()));
  ProfileFiles() { fs::create_directories(folder); }
  ~ProfileFiles() override { fs::remove_all(folder); }
};

Profiles some() {
  Profiles out;
  KernelProfile k;
  k.application = "app, \"quoted\"";
  k.name = "kernel<int>(float*)";
  k.profile.grid = {64, 2, 1};
  k.profile.block = {256, 1, 1};
  k.profile.time_ns = 1234.5;
  k.profile.l2_bandwidth = 344.86e9;
  k.profile.memory_stall = 0.6355;
  k.profile.cold_time_ns = 2000;
  k.profile.footprint = 65536;
  k.profile.registers = 32;
  k.profile.more = {{"tensor", 0.5}, {"sm-share", 12}};
  k.source = "measured";
  k.program = "app.bin";
  k.content = "0123456789abcdef";
  out.add(k);
  k.name = "other <<<64, 256, 0>>>";
  k.profile = {};
  k.program.clear(), k.content.clear();
  out.add(k);
  k.name = "other";
  out.add(k);
  Application a;
  a.name = k.application;
  a.iterations = 7;
  a.sequence = {"other", "kernel<int>(float*)", "other"};
  a.gap_ns = 1500;
  out.add(a);
  return out;
}

TEST_F(ProfileFiles, TomlAndDatabaseGiveBackWhatTheyWereGiven) {
  for (const char* name : {"p.toml", "p.db", "p.sqlite"}) {
    save_profiles(some(), folder / name);
    EXPECT_EQ(load_profiles(folder / name), some()) << name;
  }
}

TEST_F(ProfileFiles, BandwidthsOfATextHaveOneUnitAndAllTheirBits) {
  Profiles all;
  std::uint64_t bits = 1;
  for (int i = 0; i < 500; ++i) {
    KernelProfile k{"app", "k" + std::to_string(i), {}, "s"};
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    k.profile.l2_bandwidth = static_cast<double>(bits >> 20);
    k.profile.dram_bandwidth = static_cast<double>(1u << (i % 31)) * 1024;
    all.add(k);
  }
  const std::string text = to_toml(all);
  EXPECT_EQ(profiles_from_toml(text, "p.toml"), all);
  EXPECT_EQ(text.find("iB/s"), std::string::npos);
  EXPECT_EQ(text.find("kB/s"), std::string::npos);
}

// A column that somebody added keeps what it holds.
TEST_F(ProfileFiles, ColumnsOfOthersStay) {
  const fs::path file = folder / "p.db";
  save_profiles(some(), file);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "ALTER TABLE kernel ADD COLUMN note TEXT; UPDATE kernel SET note = 'mine'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  save_profiles(some(), file);
  EXPECT_EQ(load_profiles(file), some());
  int kept = 0;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  sqlite3_exec(
      db, "SELECT count(*) FROM kernel WHERE note = 'mine'",
      [](void* out, int, char** values, char**) { return *static_cast<int*>(out) = std::atoi(values[0]), 0; },
      &kept, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(kept, 3);
}

// A text file of before there were programs and contents: that of the application's name is meant.
TEST_F(ProfileFiles, TextWithoutProgramsIsRead) {
  write_file_atomically(folder / "old.toml",
                        "[[kernel]]\napplication = \"app\"\nname = \"k\"\ntime = \"1 us\"\n");
  write_file_atomically(folder / "old.csv",
                        "application,kernel,grid,block,time_ns,source\napp,k,4x1x1,64x1x1,1000,board\n");
  for (const char* name : {"old.toml", "old.csv"}) {
    const Profiles old = load_profiles(folder / name);
    ASSERT_EQ(old.kernels.size(), 1u) << name;
    EXPECT_EQ(old.kernels.begin()->second.program_name(), "app");
    EXPECT_EQ(old.kernels.begin()->second.content, "");
  }
}

// A database of before there were cold_time and footprint is read, and gets them when something is added.
TEST_F(ProfileFiles, ADatabaseOfTheFirstFormatIsReadAndUpgraded) {
  const fs::path file = folder / "old.db";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  const char* const made =
      "CREATE TABLE kernel (application TEXT NOT NULL, name TEXT NOT NULL, grid_x INTEGER, grid_y INTEGER, "
      "grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER, registers REAL, shared_bytes REAL,"
      " time_ns REAL, warp_instructions REAL, warp_instructions_per_cycle REAL, threads REAL, "
      "l2_bytes_per_second REAL, dram_bytes_per_second REAL, memory_stall_share REAL, source TEXT NOT NULL, "
      "PRIMARY KEY (application, name));"
      "CREATE TABLE application (name TEXT PRIMARY KEY, iterations INTEGER NOT NULL, gap_ns REAL NOT NULL, "
      "source TEXT NOT NULL);"
      "CREATE TABLE sequence (application TEXT NOT NULL, place INTEGER NOT NULL, kernel TEXT NOT NULL, "
      "PRIMARY KEY (application, place));"
      "INSERT INTO kernel VALUES ('old', 'k', 8, 1, 1, 256, 1, 1, 16, 0, 1000, 5, 2, 2048, 1e9, 2e9, 0.25, "
      "'board'); PRAGMA application_id = 1397312835; PRAGMA user_version = 1;";
  ASSERT_EQ(sqlite3_exec(db, made, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  const Profiles old = load_profiles(file);
  ASSERT_EQ(old.kernels.size(), 1u);
  const Profile& p = old.kernels.begin()->second.profile;
  EXPECT_EQ(p.memory_stall, 0.25);
  EXPECT_EQ(p.time_ns, 1000);
  EXPECT_EQ(old.kernels.begin()->second.program_name(), "old");
  EXPECT_FALSE(p.cold_time_ns || p.footprint);
  save_profiles(some(), file);
  Profiles both = some();
  both.add(old.kernels.begin()->second);
  EXPECT_EQ(load_profiles(file), both);
  EXPECT_EQ(load_profiles(file).find("old", "k")->source, "board");
}

TEST_F(ProfileFiles, CsvHasTheKernels) {
  save_profiles(some(), folder / "p.csv");
  EXPECT_EQ(load_profiles(folder / "p.csv").kernels, some().kernels);
}

TEST_F(ProfileFiles, TheDatabaseKeepsWhatWasThereAndReplacesWhatIsNew) {
  save_profiles(some(), folder / "p.db");
  Profiles more;
  KernelProfile k;
  k.application = "third";
  k.name = "k";
  more.add(k);
  k.application = some().kernels.begin()->second.application;
  k.name = "other";
  k.profile.time_ns = 9;
  more.add(k);
  save_profiles(more, folder / "p.db");
  const Profiles now = load_profiles(folder / "p.db");
  EXPECT_EQ(now.kernels.size(), 4u);
  EXPECT_EQ(now.find(k.application, "other")->profile.time_ns, 9);
  EXPECT_EQ(now.applications, some().applications);
}

// A file may not grow beyond a limit: as on a full disk the write fails in the middle.
TEST_F(ProfileFiles, AFullDiskLeavesTheDatabaseAsItWas) {
  save_profiles(some(), folder / "p.db");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{std::filesystem::file_size(folder / "p.db") + 4096, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &most);
    Profiles many;
    for (int i = 0; i < 5000; ++i) {
      KernelProfile k;
      k.application = "many";
      k.name = "kernel " + std::to_string(i);
      many.add(k);
    }
    try {
      save_profiles(many, folder / "p.db");
    } catch (const Error& e) { ::_exit(e.id() == "corun-database" && e.code() == ExitCode::failure ? 0 : 1); }
    ::_exit(2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(load_profiles(folder / "p.db"), some());
  save_profiles(some(), folder / "p.db");  // and it can be written again
}

TEST_F(ProfileFiles, FilesOfOthersAreRefusedAndLeftAlone) {
  write_file_atomically(folder / "text.db", std::string(5000, 'x'));
  EXPECT_THROW(load_profiles(folder / "text.db"), Error);
  EXPECT_THROW(save_profiles(some(), folder / "text.db"), Error);
  EXPECT_EQ(read_file(folder / "text.db", 10000), std::string(5000, 'x'));
  EXPECT_THROW(load_profiles(folder / "missing.db"), Error);
  EXPECT_THROW(load_profiles(folder / "missing.toml"), Error);
  EXPECT_THROW(load_profiles(folder / "profiles.xls"), Error);
  save_profiles(some(), folder / "whole.db");
  const std::string whole = read_file(folder / "whole.db", 1 << 20);
  write_file_atomically(folder / "half.db", whole.substr(0, whole.size() / 2));
  EXPECT_THROW(load_profiles(folder / "half.db"), Error);
}

TEST_F(ProfileFiles, BadTomlIsNamedWithItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[kernel]]\nname = \"k\"\n", "needs application and name"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\ntime = 5\n", "f.toml:4"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\ntime = \"0 ns\"\n", "takes some time"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\nmemory_stall = 1.5\n", "from 0 to 1"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\nipc = nan\n", "no quantity"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\ngrid = [0]\n", "above 0"},
      {"[[kernel]]\napplication = \"a\"\nname = \"k\"\nspeed = 3\n", "has no \"speed\""},
      {"[[application]]\nname = \"a\"\nsequence = [\"k\"]\n", "of which there is no profile"},
      {"[[application]]\nname = \"a\"\nsequence = []\n", "list of kernels"},
      {"[[other]]\n", "neither a [[kernel]]"},
      {"= 3", "f.toml"},
  };
  for (const auto& [text, message] : cases) {
    try {
      profiles_from_toml(text, "f.toml");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "corun-profiles") << text;
      EXPECT_THAT(e.format(), testing::HasSubstr(message)) << text;
    }
  }
}

TEST_F(ProfileFiles, BadCsvIsNamedWithItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"application,kernel,colour\n", "no column \"colour\""},
      {"application,kernel,kernel\n", "there twice"},
      {"application,kernel,time_ns\na,k\n", "2 fields"},
      {"application,kernel,time_ns\na,k,-1\n", "f.csv:2"},
      {"application,kernel,grid\na,k,3x\n", "no shape"},
      {"application,kernel\na,k\na,k\n", "here twice"},
      {"application,kernel\n,k\n", "needs application"},
      {"application,kernel\n\"a,k\n", "not closed"},
  };
  for (const auto& [text, message] : cases) {
    try {
      profiles_from_csv(text, "f.csv");
      ADD_FAILURE() << text;
    } catch (const Error& e) { EXPECT_THAT(e.format(), testing::HasSubstr(message)) << text; }
  }
}

}  // namespace
}  // namespace simtlab::corun
