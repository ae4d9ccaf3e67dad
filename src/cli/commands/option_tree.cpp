#include "cli/commands/option_tree.h"

#include <algorithm>

namespace simtlab::cli {
namespace {

TreeOption option_of(const studies::Option& option) {
  TreeOption out;
  out.names = option.names();
  out.positional = option.positional();
  out.value = option.value();
  out.value_optional = option.value_optional();
  for (const studies::Check& check : option.checks)
    if (!check.choices.empty()) out.choices = check.choices;
  out.required = option.must_be_given;
  out.output = option.output;
  out.shown = option.shown;
  out.read_by = option.readers;
  out.values = option.most_values();
  out.description = option.text;
  out.group = option.heading.value_or("");
  return out;
}

TreeCommand command_of(const studies::Command& command) {
  TreeCommand out;
  out.name = command.name();
  out.path = command.path();
  out.description = command.description();
  out.footer = command.footer();
  out.extras = command.extras();
  out.program = command.program();
  for (const studies::Option& option : command.documented_options()) out.options.push_back(option_of(option));
  for (const studies::Command& below : command.commands()) out.commands.push_back(command_of(below));
  return out;
}

}  // namespace

TreeCommand option_tree(const studies::Command& tool) { return command_of(tool); }

const TreeCommand* find_command(const TreeCommand& tree, const std::vector<std::string>& path) {
  const TreeCommand* at = &tree;
  for (const std::string& name : path) {
    const auto found = std::ranges::find(at->commands, name, &TreeCommand::name);
    if (found == at->commands.end()) return nullptr;
    at = &*found;
  }
  return at;
}

}  // namespace simtlab::cli
