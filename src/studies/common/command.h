// Commands and their options as data: declared once, beside the study that reads them. From this come the
// parser of command lines, its help, completion and man pages (cli/), and what programs set by name (api/,
// Python).
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "options/given.h"
#include "options/study.h"
#include "studies/common/outcome.h"

namespace simtlab::studies {

// What a value must be.
struct Check {
  std::function<std::string(std::string&)> test;  // what is wrong; empty: nothing. May rewrite the value.
  std::string says = {};                          // behind the value's name in the help
  std::vector<std::string> choices = {};          // if it is one of these
  bool output = false;  // it names what the command writes; a file or folder without is an input
};

Check not_empty();  // an empty value is a script's variable that was not set
Check one_of(std::vector<std::string> choices);
Check positive();
template <class T>
Check in_range(T least, T most);
// Where the command writes to: a file, or a folder that is made if it is not there. "-" is stdout. Tried
// while the command line is read, before anything is simulated: a place that can't be written to ends the
// command with Error(failure, "file-write").
Check output_file();
Check output_folder();
Check output_file_or_folder();  // what is there already decides, else whether it has an extension

// While it lives, this thread only looks whether command lines can be understood: nothing is tried.
class WithoutTrying {
 public:
  WithoutTrying();
  ~WithoutTrying();
  WithoutTrying(const WithoutTrying&) = delete;
  WithoutTrying& operator=(const WithoutTrying&) = delete;

 private:
  bool before_;
};

// Where the value goes. bool: a flag. unsigned* of a flag: how often it was given.
struct Count {
  unsigned* variable;
};
using StoreWords = std::function<void(const std::vector<std::string>&)>;
using Variable =
    std::variant<bool*, Count, int*, unsigned*, std::uint64_t*, double*, std::string*, std::optional<int>*,
                 std::optional<unsigned>*, std::optional<std::uint64_t>*, std::optional<double>*,
                 std::optional<std::string>*, std::vector<std::string>*, std::vector<double>*,
                 std::vector<int>*, std::vector<unsigned>*, std::vector<std::uint64_t>*, StoreWords>;

class Option {
 public:
  Option(const std::string& names, Variable variable, std::string text);

  // Each returns the option, so that a declaration is one statement.
  Option* check(Check check);
  Option* type_name(std::string name);  // of the value, in help; "[=FILE]": with a value only behind =
  Option* group(std::string heading);
  Option* required();
  Option* needs(std::string name);
  Option* excludes(std::string name);
  Option* delimiter(char between);        // of several values in one word
  Option* expected(int least, int most);  // number of values
  Option* one_at_a_time();                // may be repeated; a word behind it is not another value
  Option* read_by(options::Studies studies);
  Option* only_shown();  // how something is shown, or what is done with the result: `rerun` leaves it out

  // Stores values as a program gives them. Throws Error(usage, "option-value").
  void set(const std::vector<std::string>& values);
  // A parser has stored them itself.
  void was_given(std::vector<std::string> values) {
    given_ = std::move(values);
    count_ = given_.empty() ? 1 : given_.size();
  }

  bool named(std::string_view name) const;  // "--json", "-o", or of a positional argument its name
  std::string name() const;                 // the first long one, else the first
  std::vector<std::string> names() const;   // "-o", "--output"; of a positional argument its name
  std::string value() const;                // what help calls its value; empty: a flag
  bool value_optional() const;              // "--json[=FILE]": it may follow behind an equals sign
  bool positional() const { return long_.empty() && short_.empty(); }
  bool converts(const std::string& value) const;  // to what it is stored as
  bool flag() const;
  // What a value of a flag means: given so many times. nullopt: nothing.
  std::optional<unsigned> times(std::string_view value) const;
  bool repeatable() const { return list && !counts; }  // any number of values
  int most_values() const;                             // 0: a flag
  std::size_t count() const { return count_; }
  const std::vector<std::string>& results() const { return given_; }

  // As declared.
  std::vector<std::string> short_, long_;  // "o", "output"
  std::string argument, text;
  std::optional<std::string> heading;  // in the help; empty: not shown there
  std::optional<std::string> value_name;
  Variable variable;
  std::vector<Check> checks;
  std::vector<std::string> needed, excluded;
  std::optional<std::pair<int, int>> counts;
  char between = 0;
  bool must_be_given = false, alone = false, output = false, shown = false, list = false;
  options::Studies readers = options::Studies::all();

 private:
  std::vector<std::string> given_;
  std::size_t count_ = 0;
};

class Command;

// What is asked of a command, when its options have their values.
struct Call {
  const Command& command;
  // Words that are no options of its own: sources, a kernel, flags of a compiler.
  std::vector<std::string> rest;
  // A program, or its arguments; nullopt: there was no --.
  std::optional<std::vector<std::string>> after_dashes = {};
  // Whether what the words of a command line ask for reads the option ("seed"); for studies of command lines.
  std::function<bool(const std::vector<std::string>& words, const std::string& option)> reads = {};
};

class Command {
 public:
  using Action = std::function<Outcome(const Call&)>;

  Command(std::string name, std::string description, Command* parent = nullptr);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(std::string name, std::string description);
  template <class T>
  Option* add_option(const std::string& names, T& variable, std::string text = {}) {
    return add(names, Variable(&variable), std::move(text));
  }
  Option* add_flag(const std::string& names, bool& variable, std::string text) {
    return add(names, Variable(&variable), std::move(text));
  }
  Option* add_flag(const std::string& names, unsigned& times, std::string text) {
    return add(names, Variable(Count{&times}), std::move(text));
  }
  Option* add_words(const std::string& names, StoreWords words, std::string text) {
    return add(names, Variable(std::move(words)), std::move(text));
  }
  void footer(std::string text) { footer_ = std::move(text); }
  void allow_extras() { extras_ = true; }
  void prefix_command() { prefix_ = true; }  // everything behind the command's name is for it
  void takes_program() { program_ = true; }  // what follows -- is a program, or its arguments
  void embeds() { embeds_ = true; }          // makes sense in somebody else's program
  // What most people want of it; its help shows the others when all are asked for.
  void frequent(std::vector<std::string> names);
  void require_subcommand(int least, int most) { least_below_ = least, most_below_ = most; }
  void action(Action action) { action_ = std::move(action); }

  const std::string& name() const { return name_; }
  std::string path() const;  // "simtlab config show"
  const std::string& description() const { return description_; }
  const std::string& footer() const { return footer_; }
  bool extras() const { return extras_; }
  bool prefix() const { return prefix_; }
  bool program() const { return program_; }
  bool embedded() const { return embeds_; }
  const std::vector<std::string>& frequent() const { return frequent_; }  // empty: all
  std::pair<int, int> required_subcommands() const { return {least_below_, most_below_}; }
  bool acts() const { return action_ != nullptr; }  // else it only holds others
  // Throws Error; what the standard library says of files is one, too.
  Outcome act(const Call& call) const;
  const Command* parent() const { return parent_; }
  const Command& root() const { return parent_ == nullptr ? *this : parent_->root(); }
  std::list<Option>& options() { return options_; }
  const std::list<Option>& options() const { return options_; }
  std::list<Command>& commands() { return commands_; }
  const std::list<Command>& commands() const { return commands_; }
  const Command* find_command(std::string_view name) const;
  Command* find_command(std::string_view name) {
    return const_cast<Command*>(std::as_const(*this).find_command(name));
  }
  const Option* find_option(std::string_view name) const;  // "--json"; null: none
  Option* find_option(std::string_view name) {
    return const_cast<Option*>(std::as_const(*this).find_option(name));
  }
  std::vector<std::string> option_names() const;  // "--json", "-o"
  // As its help shows them, with those of every parser: --help, --help-all, --version.
  std::vector<Option> documented_options() const;

 private:
  Option* add(const std::string& names, Variable variable, std::string text);

  std::string name_, description_, footer_;
  Command* parent_ = nullptr;
  std::list<Option> options_;
  std::list<Command> commands_;
  Action action_;
  bool extras_ = false, prefix_ = false, program_ = false, embeds_ = false;
  int least_below_ = 0, most_below_ = 0;
  std::vector<std::string> frequent_;
};

inline Option* read_by(Option* option, options::Studies studies) { return option->read_by(studies); }
inline Option* only_shown(Option* option) { return option->only_shown(); }

// The rows of options/rows.h that one of the studies reads.
void add_options(Command& command, options::Studies studies, options::Given& given);

// All options that are declared while it lives and say nothing of their readers.
class ReadBy {
 public:
  ReadBy(Command& command, options::Studies studies);
  ~ReadBy();
  ReadBy(const ReadBy&) = delete;
  ReadBy& operator=(const ReadBy&) = delete;

 private:
  Command& command_;
  options::Studies studies_;
  std::size_t before_;
};

// What is thrown in place of going on while somebody only asks what a command line asks for.
struct Asked {
  options::Study study;
};
class Asking {
 public:
  Asking();
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
};
// Throws Error(usage "option-conflict") for an option that was given and that this study does not read. To be
// called before anything is done.
void refuse_unread(const Command& command, options::Study study);
// Who reads an option, of what the command can be asked for: "a curve, a real board"; empty: all of that.
std::string readers(const Command& command, options::Studies studies);

// Throws the usage error for an argument that the command does not take, naming the nearest option.
[[noreturn]] void unexpected_argument(const Command& command, const std::string& argument);

}  // namespace simtlab::studies
