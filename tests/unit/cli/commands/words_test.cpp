// Command lines that are parsed and not run: those of the documentation come from tests/e2e/test_docs.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands/commands.h"
#include "cli/commands/option_tree.h"

namespace simtlab::cli {
namespace {

using Words = std::vector<std::string>;

// Words that no option of the command explains: run, cache and others hand unknown ones to the compiler.
std::string unknown_option(const Words& words) {
  const TreeCommand tree = option_tree(*all_commands());
  Words path;
  for (const std::string& word : words) {
    path.push_back(word);
    if (find_command(tree, path) == nullptr) {
      path.pop_back();
      break;
    }
  }
  const TreeCommand* const command = find_command(tree, path);
  if (command == nullptr || command->name == "build") return {};
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    bool found = false;
    for (const TreeOption& option : command->options)
      for (const std::string& known : option.names) found = found || known == name;
    if (!found) return name;
  }
  return {};
}

std::string what_is_wrong(const Words& words) {
  try {
    if (!understood(all_commands, words)) return "does nothing";
    const std::string option = unknown_option(words);
    return option.empty() ? "" : "no option " + option;
  } catch (const Error& error) { return error.what(); }
}

TEST(Words, AreUnderstoodOrNot) {
  EXPECT_EQ(what_is_wrong({"run", "app.cu", "-O2", "--gpu", "a100", "--", "--size", "3"}), "");
  EXPECT_EQ(what_is_wrong({"list", "gpus"}), "");
  EXPECT_EQ(what_is_wrong({"corun", "replay", "run.log"}), "");
  EXPECT_EQ(what_is_wrong({"run", "app.cu", "--gpuu", "a100"}), "no option --gpuu");
  EXPECT_NE(what_is_wrong({"config", "show", "--orgin"}), "");
  EXPECT_NE(what_is_wrong({"lists", "gpus"}), "");
  EXPECT_NE(what_is_wrong({"probe", "--retries", "x"}), "");
}

// A command a line, its words separated by tabs.
TEST(Words, OfTheDocumentationAreUnderstood) {
  const char* const file = std::getenv("SIMTLAB_DOCUMENTED_COMMANDS");
  if (file == nullptr) GTEST_SKIP() << "tests/e2e/test_docs.py calls this";
  std::istringstream in(read_file(file, 1 << 20));
  std::size_t seen = 0;
  for (std::string line; std::getline(in, line); ++seen) {
    Words words;
    std::istringstream cells(line);
    for (std::string word; std::getline(cells, word, '\t');) words.push_back(word);
    const std::string place = words.front();
    words.erase(words.begin());
    EXPECT_EQ(what_is_wrong(words), "") << place << ": " << testing::PrintToString(words);
  }
  EXPECT_GT(seen, 100u);
}

}  // namespace
}  // namespace simtlab::cli
