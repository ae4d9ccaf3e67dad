#include "base/private_folder.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

namespace simtlab {
namespace {

namespace fs = std::filesystem;

class PrivateFolders : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::canonical(fs::temp_directory_path()) / "simtlab-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  FolderFault fault(const fs::path& path, FolderRule rule = {}) const {
    return open_private_folder(path, rule).fault;
  }
  void make(const char* name, mode_t mode) const {
    fs::create_directory(base_ / name);
    ASSERT_EQ(::chmod((base_ / name).c_str(), mode), 0);
  }

  fs::path base_;
};

TEST_F(PrivateFolders, OneThatIsNotThereIsMadeForTheUserAlone) {
  EXPECT_EQ(fault(base_ / "a/b/c/"), FolderFault::none);
  for (const char* name : {"a", "a/b", "a/b/c"})
    EXPECT_EQ(fs::status(base_ / name).permissions(), fs::perms::owner_all) << name;
  EXPECT_EQ(fault(base_ / "x/y", {FolderRule::Make::last}), FolderFault::missing);
  EXPECT_EQ(fault(base_ / "x", {FolderRule::Make::nothing}), FolderFault::missing);
  EXPECT_EQ(fault(base_ / "x", {FolderRule::Make::last}), FolderFault::none);
  std::string file = base_ / "file";
  ASSERT_EQ(::close(::open(file.c_str(), O_CREAT | O_WRONLY, 0600)), 0);
  EXPECT_EQ(fault(file + "/x"), FolderFault::missing);
  EXPECT_EQ(fault(file), FolderFault::missing);
}

TEST_F(PrivateFolders, OpenToOthers) {
  make("all", 0777);
  make("world", 0702);
  make("readable", 0755);
  EXPECT_EQ(fault(base_ / "all"), FolderFault::open);
  EXPECT_EQ(fault(base_ / "world"), FolderFault::open);
  EXPECT_EQ(fault(base_ / "readable"), FolderFault::none);
  FolderRule closed;
  closed.closed = true;
  EXPECT_EQ(fault(base_ / "readable", closed), FolderFault::open);
}

TEST_F(PrivateFolders, Links) {
  make("real", 0700);
  fs::create_directory_symlink(base_ / "real", base_ / "link");
  EXPECT_EQ(fault(base_ / "link"), FolderFault::link);
  EXPECT_EQ(fault(base_ / "link/below"), FolderFault::none);
  FolderRule strict;
  strict.links_on_the_way = false;
  EXPECT_EQ(fault(base_ / "link/below", strict), FolderFault::link);
  fs::create_directory_symlink(base_ / "nowhere", base_ / "dangling");
  EXPECT_EQ(fault(base_ / "dangling"), FolderFault::link);
}

TEST_F(PrivateFolders, OfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  make("theirs", 0700);
  ASSERT_EQ(::chown((base_ / "theirs").c_str(), 65534, 65534), 0);
  const PrivateFolder found = open_private_folder(base_ / "theirs", {});
  EXPECT_EQ(found.fault, FolderFault::foreign);
  EXPECT_EQ(found.why, "belongs to user 65534");
  EXPECT_FALSE(found.descriptor);
}

TEST_F(PrivateFolders, AGroupOfTheUserAloneIsNobodyElse) {
  const passwd* me = ::getpwuid(::geteuid());
  const group* mine = me == nullptr ? nullptr : ::getgrgid(me->pw_gid);
  if (mine == nullptr || std::string(mine->gr_name) != me->pw_name || mine->gr_mem[0] != nullptr)
    GTEST_SKIP() << "the user has no such group";
  struct stat status {};
  status.st_uid = ::geteuid();
  status.st_gid = mine->gr_gid;
  status.st_mode = S_IFREG | 0664;
  EXPECT_FALSE(others_may_write(status));
  status.st_gid = 100;  // users
  EXPECT_TRUE(others_may_write(status));
  status.st_gid = 4'000'000'000;  // that nobody knows
  EXPECT_TRUE(others_may_write(status));
  status.st_mode = S_IFREG | 0644;
  EXPECT_FALSE(others_may_write(status));
}

TEST_F(PrivateFolders, OwnFiles) {
  const fs::path file = base_ / "file";
  ASSERT_EQ(::close(::open(file.c_str(), O_CREAT | O_WRONLY, 0600)), 0);
  fs::create_symlink(file, base_ / "link");
  EXPECT_TRUE(is_own_file(file));
  EXPECT_FALSE(is_own_file(base_ / "link"));
  EXPECT_FALSE(is_own_file(base_));
  EXPECT_FALSE(is_own_file(base_ / "none"));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(is_own_file(file));
}

}  // namespace
}  // namespace simtlab
