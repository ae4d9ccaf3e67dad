// Which program a process runs: names without folders, contents of files, scripts, and what is replaced or
// renamed.
#include "base/program_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

TEST(ProgramIdentity, NamesHaveNoFoldersAndSourcesNoEnd) {
  EXPECT_EQ(program_name("app"), "app");
  EXPECT_EQ(program_name("./dir/app"), "app");
  EXPECT_EQ(program_name("/usr/bin/app.v2"), "app.v2");
  EXPECT_EQ(program_name("dir/light.nvcc"), "light.nvcc");
  EXPECT_EQ(program_name("dir/light.cu"), "light");
  EXPECT_EQ(program_name("kernel.ptx"), "kernel");
  EXPECT_EQ(program_name("kernel.cl"), "kernel");
  EXPECT_EQ(program_name("run.simt"), "run");
}

TEST(ProgramIdentity, OfThisProcess) {
  const ProgramIdentity self = identity_of_process(::getpid());
  EXPECT_EQ(self.name, fs::read_symlink("/proc/self/exe").filename());
  EXPECT_EQ(self.content, hash_file("/proc/self/exe"));
  EXPECT_EQ(identity_of_process(::getpid()), self);
}

TEST(ProgramIdentity, OfNobody) { EXPECT_EQ(identity_of_process(0x7ffffff0), ProgramIdentity{}); }

struct Programs : testing::Test {
  fs::path folder;
  Programs() {
    char name[] = "/tmp/simtlab-identity-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~Programs() override { fs::remove_all(folder); }
  // The identity while it runs, in the folder.
  ProgramIdentity running(const std::vector<std::string>& words) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      fs::current_path(folder);
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execv(words[0].c_str(), argv.data());
      ::_exit(127);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 0) << "closed by exec";
    ::close(ready[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a script's interpreter follows
    const ProgramIdentity out = identity_of_process(child);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return out;
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    fs::permissions(folder / name, fs::perms::owner_all);
    return (folder / name).string();
  }
};

TEST_F(Programs, CopiesAndOtherNamesHaveTheSameContent) {
  fs::copy_file("/bin/sleep", folder / "sleep.v1");
  const ProgramIdentity one = running({"/bin/sleep", "9"}),
                        copy = running({(folder / "sleep.v1").string(), "9"}),
                        relative = running({"./sleep.v1", "9"});
  EXPECT_EQ(one.name, "sleep");
  EXPECT_EQ(copy.name, "sleep.v1");
  EXPECT_EQ(copy.content, one.content);
  EXPECT_EQ(relative, copy);
  EXPECT_FALSE(one.content.empty());
}

TEST_F(Programs, ScriptsAreProgramsOfTheirOwn) {
  const std::string text = "#!/bin/bash\nread -t 9 <> <(:)\n";
  write("a.sh", text), write("b.sh", text), write("c.sh", text + "# more\n");
  const ProgramIdentity a = running({(folder / "a.sh").string()}), same = running({"/bin/bash", "a.sh"}),
                        b = running({"/bin/bash", "./b.sh", "x"}), c = running({"/bin/bash", "c.sh"});
  EXPECT_EQ(a.name, "a.sh");
  EXPECT_EQ(same, a);
  EXPECT_EQ(b.name, "b.sh");
  EXPECT_EQ(b.content, a.content);
  EXPECT_NE(c.content, a.content);
  EXPECT_FALSE(c.content.empty());
}

TEST_F(Programs, AScriptThatAProgramReadsIsNotTheProgram) {
  write("input.py", "print(1)\n");
  fs::copy_file("/bin/tail", folder / "reader");
  EXPECT_EQ(running({(folder / "reader").string(), "-f", "input.py"}).name, "reader");
}

}  // namespace
}  // namespace simtlab
