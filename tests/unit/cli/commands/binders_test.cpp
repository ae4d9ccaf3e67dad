// What a command line says of a value and what a program is told of it (Option::set) agree, for every option.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "cli/commands/commands.h"

namespace simtlab::cli {
namespace {

using Words = std::vector<std::string>;

const Words values = {"0",   "1",    "-1",  "+3",   "7.5", "1e3", "1e400", "0x10", "99999999999999999999",
                      "nan", "true", "off", "auto", "a,b", "x",   "1,2",   " 1",   "gpu=v100"};

// The path of the command below the tool.
Words words_of(const Command& command) {
  if (command.parent() == nullptr) return {};
  Words out = words_of(*command.parent());
  out.push_back(command.name());
  return out;
}

bool command_line_takes(const Words& words) {
  try {
    return understood(all_commands, words);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    return false;
  }
}

bool program_takes(Option& option, const std::string& value) {
  try {
    option.set({value});
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    EXPECT_EQ(e.id(), "option-value") << e.what();
    return false;
  }
}

// seen: options that several commands declare alike.
unsigned compare_options(Command& command, std::set<std::string>& seen) {
  unsigned compared = 0;
  const bool complete = command.acts() && std::ranges::none_of(command.options(), [](const Option& o) {
                          return o.must_be_given;
                        });
  for (Option& option : command.options()) {
    if (!complete || command.prefix() || option.positional() || !option.needed.empty() ||
        option.most_values() > 1 || !seen.insert(option.name() + option.text).second)
      continue;
    for (const std::string& value : values) {
      Words words = words_of(command);
      words.push_back(option.name() + "=" + value);
      EXPECT_EQ(command_line_takes(words), program_takes(option, value))
          << command.path() << " " << words.back();
      ++compared;
    }
  }
  for (Command& below : command.commands()) compared += compare_options(below, seen);
  return compared;
}

TEST(Binders, AgreeAboutEveryValueOfEveryOption) {
  const WithoutTrying looking;
  std::set<std::string> seen;
  EXPECT_GT(compare_options(*all_commands(), seen), 2000u);
}

TEST(Binders, AnOptionBeforeACommandBelowIsRefused) {
  EXPECT_THROW(understood(all_commands, {"corun", "--seed", "3", "replay", "x.log"}), Error);
  EXPECT_TRUE(understood(all_commands, {"corun", "replay", "x.log"}));
}

}  // namespace
}  // namespace simtlab::cli
