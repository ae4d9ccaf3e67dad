// Every option of a run, once: what it is called, what it may be, what it means, who reads it.
//
// From these rows come the command line with its help, completion and man pages (cli/), configuration files
// and the environment (configuration.h), what is handed to the libraries inside a program (run_file.h), what
// a checkpoint compares, and what a repeated run leaves out.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/units.h"
#include "options/options.h"
#include "options/study.h"

namespace simtlab::options {

enum class Kind : std::uint8_t {
  result,    // changes what is computed
  observed,  // adds to the result; changes nothing that is in it without
  limit,     // ends a run early
  host,      // how the host does it; the result is the same
  output,    // a file that is written besides the result
};

enum class Form : std::uint8_t { text, flag, list };  // list: may be repeated

using Field = std::variant<std::monostate, std::string Options::*, std::uint64_t Options::*,
                           double Options::*, bool Options::*>;

struct Row {
  std::string_view key = {};    // of a configuration file; --key on the command line
  std::string_view value = {};  // what help calls its value: "NAME|FILE"; empty: a flag
  std::string_view group = {};  // heading in the help
  Kind kind = Kind::result;
  Studies read_by = {};
  std::string_view doc = {};  // one sentence, without a full stop
  std::string_view default_value = {};
  std::string_view choices = {};  // of texts, separated by '|'; empty: any
  Unit unit = Unit::none;
  std::uint64_t maximum = UINT64_MAX;  // of whole numbers
  std::uint64_t minimum = 0;
  double largest = std::numeric_limits<double>::infinity();  // of other numbers, none of which is below 0
  Form form = Form::text;
  bool layered = false;             // configuration files may say it, too
  bool path = false;                // a file: relative to where it is said
  std::string_view parameter = {};  // the device parameter that it is a short name of
  Field field = {};
};

std::span<const Row> rows();
const Row* find_row(std::string_view key);  // null: no such option

// Stores a value as a user writes it. Throws Error(bad_input, "config-value") that names the key.
void store(const Row& row, const std::string& text, Options& out);
Options defaults();

}  // namespace simtlab::options
