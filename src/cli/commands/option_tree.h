// The commands and options of the tool as plain data: completion and man pages are written from it, so they
// cannot fall behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/study.h"
#include "studies/common/command.h"

namespace simtlab::cli {

struct TreeOption {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument its name alone
  std::string value;               // "FILE"; empty: a flag
  std::string description, group;
  bool positional = false;
  bool value_optional = false;  // "--json[=FILE]"
  bool required = false;
  bool output = false;  // names what the command writes (studies/common/command.h)
  bool shown = false;   // says how something is shown (the same)
  options::Studies read_by = options::Studies::all();
  // At most so many; 0: a flag; -1: any number, or the option may be repeated
  int values = 0;
  std::vector<std::string> choices;  // if it is one of these
};

struct TreeCommand {
  std::string name;  // "run"
  std::string path;  // "simtlab run"
  std::string description, footer;
  std::vector<TreeOption> options;
  std::vector<TreeCommand> commands;
  bool extras = false;   // takes words that are no options: sources, a kernel, flags of a compiler
  bool program = false;  // takes a program, or a program's arguments, behind --
};

TreeCommand option_tree(const studies::Command& tool);
// The command of that path below `tree` ("config show"); null if there is none.
const TreeCommand* find_command(const TreeCommand& tree, const std::vector<std::string>& path);

// Scripts for the shells; each completes commands, options, devices, memories and metrics.
std::string bash_completion(const TreeCommand& tree);
std::string zsh_completion(const TreeCommand& tree);
std::string fish_completion(const TreeCommand& tree);
// A page for man(1), in the man(7) macros.
std::string man_page(const TreeCommand& command, const TreeCommand& root, std::string_view version);

}  // namespace simtlab::cli
