#include "cli/option_tree.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/options.h"
#include "cli/output_option.h"

namespace simtlab::cli {
namespace {

std::vector<std::string> comma_separated(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// "{auto,always,never}", "INT in [1 - 64]", "POSITIVE".
bool is_check(std::string_view text) {
  return text.starts_with('{') || text.find(" in [") != std::string_view::npos || text == "POSITIVE" ||
         text == "NONNEGATIVE";
}

TreeOption option_of(CLI::Option& option) {
  TreeOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.positional = out.names.empty();
  if (out.positional) out.names.push_back(option.get_name());
  if (option.get_expected_max() > 0)
    out.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  // "[=FILE]": a name may follow behind an equals sign.
  if (out.value.starts_with("[=")) {
    out.value_optional = true;
    out.value = out.value.substr(2, out.value.size() - 3);
  }
  // What follows a colon are the values that a check allows, or a part of the name: "FROM:TO".
  if (const std::size_t colon = out.value.find(':');
      colon != std::string::npos && is_check(std::string_view(out.value).substr(colon + 1))) {
    if (out.value.compare(colon, 2, ":{") == 0 && out.value.ends_with('}'))
      out.choices = comma_separated(out.value.substr(colon + 2, out.value.size() - colon - 3));
    out.value.resize(colon);
  }
  out.required = option.get_required();
  out.output = is_output(option);
  out.shown = is_shown(option);
  out.read_by = readers_of(option);
  // CLI11 gives a vector that takes one value at a time the largest number of them, and one value otherwise.
  out.values =
      option.get_expected_max() > 1000 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll
          ? -1
          : option.get_expected_max();
  out.description = option.get_description();
  out.group = option.get_group() == "Options" ? "" : option.get_group();
  return out;
}

TreeCommand command_of(CLI::App& app, const std::string& parent) {
  TreeCommand out;
  out.name = app.get_name();
  out.path = parent.empty() ? out.name : parent + " " + out.name;
  out.description = app.get_description();
  out.footer = app.get_footer();
  out.extras = app.get_allow_extras();
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    out.options.push_back(option_of(*option));
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    out.commands.push_back(command_of(*sub, out.path));
  return out;
}

}  // namespace

TreeCommand option_tree(CLI::App& app) { return command_of(app, ""); }

const TreeCommand* find_command(const TreeCommand& tree, const std::vector<std::string>& path) {
  const TreeCommand* at = &tree;
  for (const std::string& name : path) {
    const auto found = std::ranges::find(at->commands, name, &TreeCommand::name);
    if (found == at->commands.end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string readers(const TreeCommand& command, const TreeOption& option) {
  options::Studies of_command;
  for (const TreeOption& o : command.options)
    if (o.read_by != options::Studies::all()) of_command = of_command | o.read_by;
  if (option.read_by == options::Studies::all() || option.read_by == of_command) return {};
  std::string out;
  for (unsigned s = 0; s < static_cast<unsigned>(options::Study::count_); ++s)
    if (const auto study = static_cast<options::Study>(s); option.read_by.contains(study))
      out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(study));
  return out;
}

}  // namespace simtlab::cli
