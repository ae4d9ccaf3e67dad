// Options that name what a command writes: all are known as such, and all are tried before anything is done.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "cli/commands/option_tree.h"

namespace simtlab::cli {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::vector<std::string> command;
  TreeOption option;
  std::string name() const {
    std::string out;
    for (const std::string& word : command) out += word + " ";
    return out + option.names.back();
  }
};

void collect(const TreeCommand& at, const std::vector<std::string>& path, std::vector<Place>& out) {
  for (const TreeOption& option : at.options) out.push_back({path, option});
  for (const TreeCommand& below : at.commands) {
    std::vector<std::string> deeper = path;
    deeper.push_back(below.name);
    collect(below, deeper, out);
  }
}

std::vector<Place> all_options() {
  std::vector<Place> out;
  collect(option_tree(*all_commands()), {}, out);
  return out;
}

std::vector<Place> outputs() {
  std::vector<Place> out = all_options();
  std::erase_if(out, [](const Place& p) { return !p.option.output; });
  return out;
}

// The command line with this value, as far as the option decides.
std::vector<std::string> words(const Place& place, const std::string& value) {
  std::vector<std::string> out = place.command;
  out.push_back(place.option.positional ? value : place.option.names.back() + "=" + value);
  return out;
}

// The error of reading the command line; its id, or nothing.
std::string refusal(const std::vector<std::string>& line, std::string& message) {
  try {
    static_cast<void>(parse_and_run(all_commands, line));  // ends before anything is run
  } catch (const Error& e) {
    message = e.format();
    EXPECT_TRUE(e.id() != "file-write" || e.code() == ExitCode::failure) << message;
    return e.id();
  }
  return {};
}

// Counts have no sign: -1 was once the largest number of 64 bits.
TEST(Counts, NoneIsBelowZero) {
  std::size_t seen = 0;
  for (const Place& p : all_options()) {
    if (p.option.value != "N" || p.option.positional) continue;
    ++seen;
    std::string message;
    EXPECT_EQ(refusal(words(p, "-1"), message), "option-value") << p.option.names.back() << message;
    const bool named =
        message.find("-1 is below 0") != message.npos || message.find("-1 not in range") != message.npos;
    EXPECT_TRUE(named) << message;
  }
  EXPECT_GT(seen, 20u);
}

// An option that names a file is an output or stands here: a new one is not forgotten.
TEST(Outputs, EveryOptionThatNamesAFileIsAnInputOrAnOutput) {
  const std::set<std::string> inputs = {
      "--config",   "--gpu",        "--dram",           "--controller", "--trace",   "--launch",  "--resume",
      "--profiles", "--model",      "--applications",   "--directory",  "--counts",  "--loop",    "--base",
      "--list",     "--analyse",    "--compare",        "--program",    "--kernels", "--rows",    "--prose",
      "--examples", "--correction", "--check-commands", "--suite",      "--data",    "--results", "--rodinia",
      "--cubin",    "--link",       "--suppressions",   "--baseline"};
  std::size_t seen = 0;
  for (const Place& p : all_options()) {
    const std::string& value = p.option.value;
    const bool names_a_file = value.find("FILE") != value.npos || value.find("FOLDER") != value.npos ||
                              value.find("DIR") != value.npos;
    if (!names_a_file || p.option.positional) continue;
    ++seen;
    bool input = false;
    for (const std::string& name : p.option.names) input = input || inputs.contains(name);
    EXPECT_NE(input, p.option.output)
        << p.name() << " (" << value
        << "): check it with output_file() of cli/output_option.h, or list it as an input here";
  }
  EXPECT_GT(seen, 100u);
}

TEST(Outputs, NothingBeginsIfOneCannotBeWritten) {
  const fs::path folder = fs::temp_directory_path() / ("simtlab-outputs-" + std::to_string(::getpid()));
  fs::create_directories(folder / "taken");
  std::ofstream(folder / "file") << "x";
  const std::vector<Place> all = outputs();
  EXPECT_GT(all.size(), 60u);
  for (const Place& p : all) {
    const bool is_folder = p.option.value == "FOLDER", either = p.option.value == "FILE|FOLDER";
    // A folder that is missing is made where a folder is wanted, and is the user's slip where a file is.
    for (const fs::path& bad : {is_folder ? fs::path("/proc/simtlab") : folder / "missing" / "x.out",
                                is_folder || either ? folder / "file" / "x.out" : folder / "taken",
                                fs::path("/proc/simtlab.out")}) {
      std::string message;
      EXPECT_EQ(refusal(words(p, bad.string()), message), "file-write") << p.name() << " " << bad;
      EXPECT_NE(message.find(bad.string()), std::string::npos) << message;
      EXPECT_NE(message.find(": "), std::string::npos);
    }
  }
  fs::remove_all(folder);
}

// A command line of a manual names files that need not exist.
TEST(Outputs, LookingAtACommandLineTriesNothing) {
  EXPECT_TRUE(
      understood(all_commands, {"run", "k.ptx", "--json=/nonexistent/x.json", "-o", "/nonexistent/r.txt"}));
}

}  // namespace
}  // namespace simtlab::cli
