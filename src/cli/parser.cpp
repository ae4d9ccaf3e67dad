#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/shown.h"
#include "studies/common/manifest.h"

namespace simtlab::cli {
namespace {

using studies::Command;
using studies::Option;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

// The two trees beside each other: ours and CLI11's.
class Mirror {
 public:
  explicit Mirror(Command& tool) : app_(tool.description(), tool.name()) {
    app_.get_formatter()->column_width(34);
    app_.set_version_flag("--version", "simtlab " + std::string(studies::version()));
    fill(tool, app_);
  }

  CLI::App& app() { return app_; }
  // Ours that was asked for.
  const Command& innermost(CLI::App*& theirs) {
    const Command* ours = commands_.at(&app_);
    theirs = &app_;
    while (!theirs->get_subcommands().empty()) {
      theirs = theirs->get_subcommands().front();
      ours = commands_.at(theirs);
    }
    return *ours;
  }
  // What CLI11 has stored is what was given.
  void note_given() {
    for (const auto& [theirs, ours] : options_)
      if (theirs->count() > 0) ours->was_given(theirs->results());
  }
  // Hides what is not frequent. Returns how many options that are.
  std::size_t shorten_help(CLI::App& command);

 private:
  void fill(Command& ours, CLI::App& theirs);
  CLI::Option* add(Option& ours, CLI::App& theirs);

  CLI::App app_;
  std::map<const CLI::App*, const Command*> commands_;
  std::vector<std::pair<CLI::Option*, Option*>> options_;
};

// CLI11 cuts numbers that are too large to the largest one.
CLI::Validator number(const Option& option) {
  return {[&option](std::string& value) {
            return std::string(option.converts(value) ? "" : value + " is no number that fits");
          },
          ""};
}

// CLI11 takes any number for a flag, and one below 0 for its contrary.
CLI::Validator truth(const Option& flag) {
  return {[&flag](std::string& value) {
            return std::string(flag.times(value) ? "" : value + " is neither true nor false");
          },
          ""};
}

std::string names_of(const Option& option) {
  std::string out;
  for (const std::string& name : option.short_) out += (out.empty() ? "-" : ",-") + name;
  for (const std::string& name : option.long_) out += (out.empty() ? "--" : ",--") + name;
  return out.empty() ? option.argument : out;
}

CLI::Option* Mirror::add(Option& ours, CLI::App& theirs) {
  const std::string names = names_of(ours);
  CLI::Option* const made = std::visit(
      [&](auto& to) -> CLI::Option* {
        using T = std::decay_t<decltype(to)>;
        if constexpr (std::is_same_v<T, bool*>)
          return theirs.add_flag(names, *to, ours.text);
        else if constexpr (std::is_same_v<T, studies::Count>)
          return theirs.add_flag(names, *to.variable, ours.text);
        else if constexpr (!std::is_same_v<T, studies::StoreWords>)
          return theirs.add_option(names, *to, ours.text);
        else if (ours.flag())
          return theirs.add_flag_callback(
              names, [&to] { to({}); }, ours.text);
        else if (ours.list)
          return theirs.add_option_function<std::vector<std::string>>(
              names, [&to](const std::vector<std::string>& values) { to(values); }, ours.text);
        else
          return theirs.add_option_function<std::string>(
              names, [&to](const std::string& value) { to({value}); }, ours.text);
      },
      ours.variable);
  if (ours.counts && !ours.flag()) made->expected(ours.counts->first, ours.counts->second);
  if (ours.between != 0) made->delimiter(ours.between);
  if (ours.alone) made->allow_extra_args(false);
  for (const studies::Check& check : ours.checks) made->check(CLI::Validator(check.test, check.says));
  if (ours.value_name) made->type_name(*ours.value_name);
  made->check(ours.flag() ? truth(ours) : number(ours));
  if (ours.heading) made->group(*ours.heading);
  made->required(ours.must_be_given);
  return made;
}

void Mirror::fill(Command& ours, CLI::App& theirs) {
  commands_[&theirs] = &ours;
  theirs.footer(ours.footer());
  theirs.allow_extras(ours.extras());
  if (ours.prefix()) theirs.prefix_command();
  if (const auto [least, most] = ours.required_subcommands(); most > 0)
    theirs.require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
  for (Option& option : ours.options()) options_.emplace_back(add(option, theirs), &option);
  for (const Option& option : ours.options()) {
    CLI::Option* const made = theirs.get_option(option.name());
    for (const std::string& name : option.needed) made->needs(theirs.get_option(name));
    for (const std::string& name : option.excluded) made->excludes(theirs.get_option(name));
  }
  for (Command& below : ours.commands())
    fill(below, *theirs.add_subcommand(below.name(), below.description()));
  // Last: commands below inherit it.
  if (!ours.frequent().empty()) theirs.set_help_all_flag("--help-all", "Every option");
}

std::size_t Mirror::shorten_help(CLI::App& command) {
  const std::vector<std::string>& frequent = commands_.at(&command)->frequent();
  if (frequent.empty()) return 0;
  std::size_t hidden = 0;
  for (CLI::Option* option : command.get_options()) {
    const bool keep =
        option->get_positional() || option->check_lname("help") || option->check_lname("help-all") ||
        std::ranges::any_of(frequent,
                            [&](const std::string& name) { return option->check_lname(name.substr(2)); });
    if (keep || option->get_group().empty()) continue;
    option->group("");
    ++hidden;
  }
  return hidden;
}

// Options before a command that is below theirs would be without effect.
void refuse_options_above(const Command& chosen) {
  for (const Command* above = chosen.parent(); above != nullptr; above = above->parent())
    for (const Option& option : above->options())
      if (option.count() > 0)
        throw Error(ExitCode::usage, "option-conflict",
                    fmt::format("{} stands before '{}'", option.name(), chosen.name()),
                    fmt::format("write it behind: {} {} ...", chosen.path(), option.name()));
}

}  // namespace

Parsed parse(Command& tool, std::vector<std::string> words) {
  Mirror mirror(tool);
  CLI::App& app = mirror.app();
  CLI::App* theirs = &app;
  Parsed out;
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const Command& command = mirror.innermost(theirs);
    const std::size_t more = mirror.shorten_help(*theirs);
    out.text = app.help();
    if (more > 0) out.text += fmt::format("\n{} more options: {} --help-all\n", more, command.path());
    return out;
  } catch (const CLI::CallForAllHelp&) {
    out.text = app.help();
    return out;
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    out.code = app.exit(e, text, text);  // --version
    out.text = text.str();
    return out;
  } catch (const CLI::ParseError& e) {
    const Command& command = mirror.innermost(theirs);
    const std::vector<std::string> rest = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && !rest.empty())
      studies::unexpected_argument(command, rest.front());
    // No sub-command was recognised: either a word is misspelt, or there is none.
    if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !command.acts()) {
      if (!rest.empty()) studies::unexpected_argument(command, rest.front());
      return {nullptr, {}, theirs->help(), static_cast<int>(ExitCode::usage), true};
    }
    throw Error(ExitCode::usage, "option-value", shown_lines(e.what(), 400),
                "simtlab --help, simtlab COMMAND --help");
  }
  mirror.note_given();
  out.command = &mirror.innermost(theirs);
  out.rest = theirs->remaining();
  refuse_options_above(*out.command);
  return out;
}

}  // namespace simtlab::cli
