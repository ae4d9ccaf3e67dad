#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/hash.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path directory_;
};

template <class F>
std::string error_id(F&& f, std::string* message = nullptr) {
  try {
    f();
  } catch (const Error& e) {
    if (message != nullptr) *message = e.format();
    return e.id();
  }
  return "";
}

TEST_F(Files, reads_back_what_it_wrote_byte_for_byte) {
  const std::string content("a\0b\r\n\xff", 6);
  write_file_atomically(directory_ / "x", content);
  EXPECT_EQ(read_file(directory_ / "x", 100), content);
  write_file_atomically(directory_ / "x", "");
  EXPECT_EQ(read_file(directory_ / "x", 0), "");
}

TEST_F(Files, trying_to_write_finds_what_writing_would_and_leaves_nothing) {
  write_file_atomically(directory_ / "old", "1");
  const auto entries = [&] {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  };
  for (const char* good : {"new", "old"}) check_writable(directory_ / good);
  check_writable("/dev/null");
  for (const char* good : {".", "made/and/made"}) check_writable_folder(directory_ / good);
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(read_file(directory_ / "old", 10), "1");
  std::string message;
  for (const fs::path& bad :
       {directory_, directory_ / "none" / "x", directory_ / "old" / "x", fs::path("/proc/x")}) {
    std::string written;
    EXPECT_EQ(error_id([&] { check_writable(bad); }, &message), "file-write") << bad;
    EXPECT_EQ(error_id([&] { write_file_atomically(bad, ""); }, &written), "file-write") << bad;
    EXPECT_EQ(message, written);
    EXPECT_THAT(message, HasSubstr(bad.string()));
  }
  for (const fs::path& bad : {directory_ / "old", directory_ / "old" / "x", fs::path("/proc/x")}) {
    EXPECT_EQ(error_id([&] { check_writable_folder(bad); }, &message), "file-write") << bad;
    EXPECT_THAT(message, HasSubstr(bad.string()));
  }
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, leaves_no_temporary_file_behind) {
  write_file_atomically(directory_ / "x", "1");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
  EXPECT_EQ(error_id([&] { write_file_atomically(directory_, "1"); }), "file-write");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

TEST_F(Files, a_file_larger_than_the_limit_is_refused_by_size_and_by_content) {
  write_file_atomically(directory_ / "x", "12345");
  EXPECT_EQ(read_file(directory_ / "x", 5), "12345");
  std::string message;
  EXPECT_EQ(error_id([&] { read_file(directory_ / "x", 4, "device file"); }, &message), "file-too-large");
  EXPECT_THAT(message, HasSubstr("device file"));
  EXPECT_EQ(error_id([&] { read_file("/dev/zero", 1 << 20); }), "file-too-large");
}

TEST_F(Files, a_named_pipe_is_read_once_somebody_writes) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int fd = ::open(pipe.c_str(), O_WRONLY);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // silent, but there
    EXPECT_EQ(::write(fd, "text", 4), 4);
    ::close(fd);
  });
  EXPECT_EQ(read_file(pipe, 100), "text");
  writer.join();
}

TEST_F(Files, a_pipe_without_a_name_is_read_though_its_writer_is_gone) {
  for (const std::string content : {"", "text"}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::close(ends[1]);
    EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 100), content);
    ::close(ends[0]);
  }
}

TEST_F(Files, the_wait_for_a_silent_pipe_can_be_stopped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const volatile bool stop = true;
  try {
    FileReader file("/dev/fd/" + std::to_string(ends[0]), "trace", &stop);
    char byte;
    file.read(&byte, 1);
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.code(), ExitCode::interrupted); }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Files, missing_file_directory_and_permission_have_their_own_messages) {
  std::string message;
  EXPECT_EQ(error_id([&] { read_file(directory_ / "none", 10, "launch file"); }, &message), "file-missing");
  EXPECT_THAT(message, HasSubstr("no such launch file"));
  EXPECT_EQ(error_id([&] { read_file(directory_, 10); }), "file-directory");
  write_file_atomically(directory_ / "x", "1");
  fs::permissions(directory_ / "x", fs::perms::none);
  if (::geteuid() != 0) {  // root reads everything
    EXPECT_EQ(error_id([&] { read_file(directory_ / "x", 10); }), "file-permission");
  }
}

TEST_F(Files, writing_into_a_missing_directory_says_how_to_make_it) {
  std::string message;
  EXPECT_EQ(error_id([&] { write_file_atomically(directory_ / "no" / "x", "1"); }, &message), "file-write");
  EXPECT_THAT(message, HasSubstr("mkdir -p"));
}

TEST_F(Files, writing_keeps_a_link_and_the_permissions_of_its_target) {
  write_file_atomically(directory_ / "target", "old");
  fs::permissions(directory_ / "target", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", directory_ / "link");
  write_file_atomically(directory_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "target", 10), "new");
  EXPECT_EQ(fs::status(directory_ / "target").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, a_file_written_in_pieces_has_its_name_only_when_it_is_whole) {
  const auto path = directory_ / "pieces";
  const std::string piece(100000, 'x');
  {
    FileWriter writer(path);
    for (int i = 0; i < 10; ++i) writer.write(piece);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  FileWriter writer(path);
  for (int i = 0; i < 10; ++i) writer.write(piece);
  writer.close();
  EXPECT_EQ(std::filesystem::file_size(path), 1000000u);
  FileWriter full("/dev/full");
  EXPECT_THROW(
      {
        full.write(piece);
        full.close();
      },
      Error);
}

TEST_F(Files, writes_into_devices_in_place) { EXPECT_NO_THROW(write_file_atomically("/dev/null", "text")); }

TEST_F(Files, a_full_disk_is_an_error) {
  EXPECT_EQ(error_id([&] { write_file_atomically("/dev/full", "text"); }), "file-write");
}

TEST_F(Files, the_hash_of_a_file_is_the_hash_of_its_bytes) {
  EXPECT_EQ(hash_bytes(""), "ef46db3751d8e999");  // XXH64 of nothing with seed 0, as published
  const std::string big(3'000'000, 'a');
  write_file_atomically(directory_ / "x", big);
  EXPECT_EQ(hash_file(directory_ / "x"), hash_bytes(big));
  EXPECT_NE(hash_bytes("a"), hash_bytes("b"));
  EXPECT_EQ(error_id([&] { hash_file(directory_ / "none"); }), "file-missing");
  EXPECT_EQ(error_id([&] { hash_file(directory_); }), "file-directory");
}

}  // namespace
}  // namespace simtlab
