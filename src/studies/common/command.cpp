#include "studies/common/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "options/rows.h"

namespace simtlab::studies {
namespace {

template <class T>
constexpr const char* kind_of() {
  if constexpr (std::is_floating_point_v<T>) return "FLOAT";
  return std::is_signed_v<T> ? "INT" : "UINT";
}

// Numbers as command lines have them: 16, 0x10, 1e6.
template <class T>
std::optional<T> number_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  T out{};
  if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(std::strtod(text.c_str(), &end));
  } else if constexpr (std::is_signed_v<T>) {
    const long long wide = std::strtoll(text.c_str(), &end, 0);
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) return std::nullopt;
    out = static_cast<T>(wide);
  } else {
    if (text.find('-') != std::string::npos) return std::nullopt;
    const unsigned long long wide = std::strtoull(text.c_str(), &end, 0);
    if (wide > std::numeric_limits<T>::max()) return std::nullopt;
    out = static_cast<T>(wide);
  }
  if (errno == ERANGE || *end != '\0') return std::nullopt;
  return out;
}

template <class T>
std::string shown_number(T value) {
  if constexpr (std::is_floating_point_v<T>) return fmt::format("{:g}", value);
  return fmt::format("{}", value);
}

thread_local bool trying = true;
thread_local bool asking = false;

[[noreturn]] void refuse_value(const Option& option, const std::string& why) {
  throw Error(ExitCode::usage, "option-value", fmt::format("{}: {}", option.name(), shown(why)),
              "simtlab COMMAND --help says what it takes");
}

template <class T>
T value_of(const Option& option, const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else {
    const std::optional<T> out = number_of<T>(text);
    if (!out)
      refuse_value(option, fmt::format("'{}' is no {}", shown(text, 60),
                                       std::is_floating_point_v<T> ? "number" : "whole number"));
    return *out;
  }
}

unsigned times_of(const Option& option, const std::string& text) {
  if (const std::optional<unsigned> times = option.times(text)) return *times;
  refuse_value(option, fmt::format("'{}' is neither true nor false", shown(text, 60)));
}

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

struct Storing {
  const Option& option;
  const std::vector<std::string>& values;

  void operator()(bool* to) const { *to = times_of(option, values.back()) != 0; }
  void operator()(const Count& to) const { *to.variable = times_of(option, values.back()); }
  void operator()(const StoreWords& store) const { store(values); }
  template <class T>
  void operator()(T* to) const {
    if constexpr (IsVector<T>::value) {
      to->clear();
      for (const std::string& value : values) to->push_back(value_of<typename T::value_type>(option, value));
    } else if constexpr (IsOptional<T>::value) {
      *to = value_of<typename T::value_type>(option, values.back());
    } else {
      *to = value_of<T>(option, values.back());
    }
  }
};

struct Converting {
  const std::string& value;

  bool operator()(bool*) const { return true; }
  bool operator()(const Count&) const { return true; }
  bool operator()(const StoreWords&) const { return true; }
  bool operator()(std::string*) const { return true; }
  template <class T>
  bool operator()(std::optional<T>*) const {
    return (*this)(static_cast<T*>(nullptr));
  }
  template <class T>
  bool operator()(std::vector<T>*) const {
    return (*this)(static_cast<T*>(nullptr));
  }
  template <class T>
  bool operator()(T*) const {
    return number_of<T>(value).has_value();
  }
};

std::vector<std::string> split(const std::vector<std::string>& values, char between) {
  if (between == 0) return values;
  std::vector<std::string> out;
  for (const std::string& value : values)
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(between, begin), value.size());
      out.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  return out;
}

Option of_every_parser(const char* names, const char* text) {
  Option out(names, StoreWords(), text);
  out.expected(0, 0);
  return out;
}

std::string help_of(const options::Row& row) {
  const std::string_view usual = row.default_value.substr(0, row.default_value.find(' '));
  return usual.empty() ? std::string(row.doc) : fmt::format("{} (default {})", row.doc, usual);
}

Option* add_row(Command& command, const options::Row& row, options::Given& given) {
  const std::string key(row.key), name = "--" + key;
  const auto store = [&given, key, form = row.form](const std::vector<std::string>& values) {
    if (form == options::Form::list) {
      given.remove(key);
      for (const std::string& value : values) given.add(key, value);
    } else if (form != options::Form::flag) {
      given.set(key, values.back());
    } else if (values.empty() || values.back() == "true") {
      given.set(key, "on");
    }
  };
  Option* option = command.add_words(name, store, help_of(row));
  option->list = row.form == options::Form::list;
  if (row.form == options::Form::flag) return option->expected(0, 0);
  if (option->list) option->one_at_a_time();
  option->type_name(std::string(row.value));
  if (row.kind == options::Kind::output && !row.path) option->only_shown();
  if (row.path && row.kind == options::Kind::output) return option->check(output_file());
  return option->check(not_empty());
}

}  // namespace

// ---- checks

Check not_empty() {
  return {[](std::string& value) { return std::string(value.empty() ? "is empty" : ""); }};
}

Check one_of(std::vector<std::string> choices) {
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ",") + choice;
  all = "{" + all + "}";
  return {[choices, all](std::string& value) {
            return std::ranges::find(choices, value) != choices.end() ? "" : value + " not in " + all;
          },
          all, choices};
}

Check positive() {
  return {[](std::string& value) {
            const std::optional<double> number = number_of<double>(value);
            return number && *number > 0 && *number <= std::numeric_limits<double>::max()
                       ? ""
                       : fmt::format("Value {} is not above 0", value);
          },
          "POSITIVE"};
}

template <class T>
Check in_range(T least, T most) {
  return {[least, most](std::string& value) {
            const std::optional<T> number = number_of<T>(value);
            return number && *number >= least && *number <= most
                       ? ""
                       : fmt::format("Value {} not in range {} to {}", value, shown_number(least),
                                     shown_number(most));
          },
          fmt::format("{} in [{} - {}]", kind_of<T>(), shown_number(least), shown_number(most))};
}
template Check in_range(int, int);
template Check in_range(unsigned, unsigned);
template Check in_range(std::uint64_t, std::uint64_t);
template Check in_range(double, double);

Check output_file() {
  Check out = not_empty();
  out.output = true;
  out.test = [](std::string& value) {
    if (trying && !value.empty() && value != "-") check_writable(value);
    return std::string(value.empty() ? "is empty" : "");
  };
  return out;
}

Check output_folder() {
  Check out = output_file();
  out.test = [](std::string& value) {
    if (trying && !value.empty()) check_writable_folder(value);
    return std::string(value.empty() ? "is empty" : "");
  };
  return out;
}

Check output_file_or_folder() {
  Check out = output_file();
  out.test = [](std::string& value) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const bool is_folder =
        fs::exists(value, ignored) ? fs::is_directory(value, ignored) : !fs::path(value).has_extension();
    if (trying && !value.empty() && value != "-")
      is_folder ? check_writable_folder(value) : check_writable(value);
    return std::string(value.empty() ? "is empty" : "");
  };
  return out;
}

WithoutTrying::WithoutTrying() : before_(std::exchange(trying, false)) {}
WithoutTrying::~WithoutTrying() { trying = before_; }

// ---- an option

Option::Option(const std::string& names, Variable variable, std::string text)
    : text(std::move(text)), variable(std::move(variable)) {
  for (const std::string& name : split({names}, ','))
    if (name.starts_with("--"))
      long_.push_back(name.substr(2));
    else if (name.starts_with("-"))
      short_.push_back(name.substr(1));
    else
      argument = name;
  list = std::visit(
      [](const auto& to) {
        using T = std::decay_t<decltype(to)>;
        if constexpr (std::is_pointer_v<T>) return IsVector<std::remove_pointer_t<T>>::value;
        return false;
      },
      this->variable);
}

Option* Option::check(Check check) {
  output = output || check.output;
  checks.push_back(std::move(check));
  return this;
}
Option* Option::type_name(std::string name) {
  // Counts are read as numbers without a sign, which would wrap around.
  if (name == "N")
    checks.push_back({[](std::string& value) {
      return value.starts_with("-") && value.find_first_of("0123456789") == 1 ? value + " is below 0" : "";
    }});
  value_name = std::move(name);
  return this;
}
Option* Option::group(std::string name) { return heading = std::move(name), this; }
Option* Option::required() { return must_be_given = true, this; }
Option* Option::needs(std::string other) { return needed.push_back(std::move(other)), this; }
Option* Option::excludes(std::string other) { return excluded.push_back(std::move(other)), this; }
Option* Option::delimiter(char separator) { return between = separator, this; }
Option* Option::expected(int least, int most) { return counts = {least, most}, this; }
Option* Option::one_at_a_time() { return alone = true, this; }
Option* Option::read_by(options::Studies studies) { return readers = studies, this; }
Option* Option::only_shown() { return shown = true, this; }

bool Option::named(std::string_view name) const {
  if (name.starts_with("--")) return std::ranges::find(long_, name.substr(2)) != long_.end();
  if (name.starts_with("-")) return std::ranges::find(short_, name.substr(1)) != short_.end();
  return positional() && name == argument;
}

std::string Option::name() const {
  if (!long_.empty()) return "--" + long_.front();
  return short_.empty() ? argument : "-" + short_.front();
}

std::vector<std::string> Option::names() const {
  if (positional()) return {argument};
  std::vector<std::string> out;
  for (const std::string& name : short_) out.push_back("-" + name);
  for (const std::string& name : long_) out.push_back("--" + name);
  return out;
}

bool Option::value_optional() const { return value_name && value_name->starts_with("[="); }

bool Option::flag() const {
  return std::holds_alternative<bool*>(variable) || std::holds_alternative<Count>(variable) ||
         (counts && counts->second == 0);
}

bool Option::converts(const std::string& value) const { return std::visit(Converting{value}, variable); }

std::optional<unsigned> Option::times(std::string_view value) const {
  if (value == "true" || value == "on") return 1;
  if (value == "false" || value == "off") return 0;
  const unsigned most = std::holds_alternative<Count>(variable) ? 9 : 1;
  if (value.size() != 1 || value[0] < '0' || value[0] > static_cast<char>('0' + most)) return std::nullopt;
  return static_cast<unsigned>(value[0] - '0');
}

int Option::most_values() const {
  if (flag()) return 0;
  if (counts) return counts->second;
  return repeatable() ? -1 : 1;
}

std::string Option::value() const {
  if (flag()) return {};
  if (value_optional()) return value_name->substr(2, value_name->size() - 3);
  if (value_name) return value_name->empty() ? "VALUE" : *value_name;
  return std::visit(
      [](const auto& to) -> std::string {
        using T = std::decay_t<decltype(to)>;
        if constexpr (std::is_pointer_v<T>) {
          using V = std::remove_pointer_t<T>;
          if constexpr (std::is_arithmetic_v<V>) return kind_of<V>();
        }
        return "TEXT";
      },
      variable);
}

void Option::set(const std::vector<std::string>& given) {
  std::vector<std::string> values = split(given, between);
  const int most = most_values();
  if (most > 0 && values.size() > static_cast<std::size_t>(most))
    refuse_value(*this, fmt::format("{} values, and it takes {}", values.size(), most));
  if (counts && values.size() < static_cast<std::size_t>(counts->first))
    refuse_value(*this, fmt::format("{} values, and it takes {}", values.size(), counts->first));
  if (most == 0 && values.size() == 1 && times_of(*this, values.front()) == 0) return;
  for (std::string& value : values) {
    if (most == 0) break;
    for (const Check& check : checks)
      if (const std::string wrong = check.test(value); !wrong.empty()) refuse_value(*this, wrong);
  }
  if (values.empty() && !std::holds_alternative<StoreWords>(variable))
    values.emplace_back(most == 0 ? "true" : "");
  std::visit(Storing{*this, values}, variable);
  was_given(std::move(values));
}

// ---- a command

Command::Command(std::string name, std::string description, Command* parent)
    : name_(std::move(name)), description_(std::move(description)), parent_(parent) {}

Command* Command::add_subcommand(std::string name, std::string description) {
  return &commands_.emplace_back(std::move(name), std::move(description), this);
}

Option* Command::add(const std::string& names, Variable variable, std::string text) {
  return &options_.emplace_back(names, std::move(variable), std::move(text));
}

Outcome Command::act(const Call& call) const {
  try {
    return action_(call);
  } catch (const std::filesystem::filesystem_error& e) {
    throw Error(ExitCode::failure, "file-system",
                fmt::format("{}: {}", shown(e.path1().string()), e.code().message()),
                "is it a folder or file that you may use, and is there room?");
  }
}

std::string Command::path() const { return parent_ == nullptr ? name_ : parent_->path() + " " + name_; }

const Command* Command::find_command(std::string_view name) const {
  const auto found = std::ranges::find(commands_, name, &Command::name_);
  return found == commands_.end() ? nullptr : &*found;
}

const Option* Command::find_option(std::string_view name) const {
  const auto found = std::ranges::find_if(options_, [&](const Option& o) { return o.named(name); });
  return found == options_.end() ? nullptr : &*found;
}

std::vector<std::string> Command::option_names() const {
  std::vector<std::string> out;
  for (const Option& option : documented_options()) {
    for (const std::string& name : option.long_) out.push_back("--" + name);
    for (const std::string& name : option.short_) out.push_back("-" + name);
  }
  return out;
}

void Command::frequent(std::vector<std::string> names) {
  for (const std::string& name : names)
    SIMTLAB_ASSERT(find_option(name) != nullptr, "a frequent option is none of its command");
  frequent_ = std::move(names);
}

std::vector<Option> Command::documented_options() const {
  std::vector<Option> out = {of_every_parser("-h,--help", "Print this help message and exit")};
  out.insert(out.end(), options_.begin(), options_.end());
  if (!frequent_.empty()) out.push_back(of_every_parser("--help-all", "Every option"));
  if (parent_ == nullptr)
    out.push_back(of_every_parser("--version", "Display program version information and exit"));
  return out;
}

void add_options(Command& command, options::Studies studies, options::Given& given) {
  for (const options::Row& row : options::rows())
    if (row.read_by.meets(studies))
      add_row(command, row, given)->group(std::string(row.group))->read_by(row.read_by & studies);
}

ReadBy::ReadBy(Command& command, options::Studies studies)
    : command_(command), studies_(studies), before_(command.options().size()) {}

ReadBy::~ReadBy() {
  std::size_t at = 0;
  for (Option& option : command_.options())
    if (at++ >= before_ && option.readers == options::Studies::all()) option.read_by(studies_);
}

Asking::Asking() { asking = true; }
Asking::~Asking() { asking = false; }

std::string readers(const Command& command, options::Studies studies) {
  options::Studies of_command;
  for (const Option& o : command.options())
    if (o.readers != options::Studies::all()) of_command = of_command | o.readers;
  if (studies == options::Studies::all() || studies == of_command) return {};
  std::string out;
  for (unsigned s = 0; s < static_cast<unsigned>(options::Study::count_); ++s)
    if (const auto study = static_cast<options::Study>(s); studies.contains(study))
      out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(study));
  return out;
}

void refuse_unread(const Command& command, options::Study study) {
  if (asking) throw Asked{study};
  for (const Option& option : command.options())
    if (option.count() > 0 && !option.readers.contains(study))
      throw Error(ExitCode::usage, "option-conflict",
                  fmt::format("{} has no effect on {}", option.name(), name_of(study)),
                  fmt::format("leave it out; what reads it: {}", readers(command, option.readers)));
}

}  // namespace simtlab::studies
