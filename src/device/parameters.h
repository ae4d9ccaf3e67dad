// The parameters of a device, each declared once: key, unit, range, sentence and member of Device.
// Parsing, error messages, `config show` and the reference in the documentation all come from this table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "device/device.h"

namespace simtlab::device {

// Compute capability: two members, one key ("9.0").
struct Capability {
  int* major;
  int* minor;
};

// The member that a parameter fills. Its type decides what a value may look like: double takes fractions, the
// integers whole numbers, bool true or false, an enumeration one of its names.
using Field = std::variant<double*, std::uint32_t*, std::uint64_t*, bool*, std::string*, Capability,
                           WritePolicy*, Replacement*, Scheduler*>;

struct Parameter {
  std::string key;  // "sm.count"
  Unit unit = Unit::none;
  double minimum = 0, maximum = 0;  // of numbers, in the canonical scale of the unit
  std::string doc;                  // one sentence without the final full stop
  std::function<Field(Device&)> field;
  std::string default_value = {};  // not empty: a device file may leave it out
  bool power_of_two = false;       // of whole numbers
};

// In the order in which they are printed.
const std::vector<Parameter>& parameters();
// nullptr if there is none.
const Parameter* find_parameter(std::string_view key);
// The hint for a key or a table that does not exist. `more`: further keys that the file may have.
std::string unknown_key_hint(const std::string& key, std::vector<std::string> more = {});
// What is wrong with an empty table of this name; empty if nothing is: [sm] without entries.
std::string wrong_with_empty_table(const std::string& key);

// Reads `text` and stores it. Throws Error(bad_input) without a position; the caller adds it.
void store(const Parameter& parameter, std::string_view text, Device& device);
// The value as text that `store` reads back exactly.
std::string show(const Parameter& parameter, const Device& device);
// "1 to 1024", "true or false", "lrr or gto": what a value may be.
std::string allowed_values(const Parameter& parameter);

// The reference of all parameters as a Markdown table.
std::string parameter_reference();

}  // namespace simtlab::device
