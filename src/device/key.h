// The keys of data files, each declared once: key, unit, range, sentence and member of what is described.
// Parsing, error messages, `config show` and the references in the documentation all come from such tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "device/device.h"
#include "device/memory_controller.h"
#include "device/policy_parameters.h"
#include "device/technology.h"

namespace simtlab::device {

// Compute capability: two members, one key ("9.0").
struct Capability {
  int* major;
  int* minor;
};

// The member that a key fills. Its type decides what a value may look like: double takes fractions, the
// integers whole numbers, bool true or false, an enumeration one of its names, a choice the name of a policy.
using Field = std::variant<double*, std::uint32_t*, std::uint64_t*, bool*, std::string*, Capability,
                           Picoseconds*, std::optional<double>*, WritePolicy*, Replacement*, SetIndex*,
                           Scheduler*, SliceHash*, Refresh*, QueueStyle*, PolicyChoice, WriteDone*>;

struct Key {
  std::string key;  // "sm.count"
  Unit unit = Unit::none;
  double minimum = 0, maximum = 0;  // of numbers, in the canonical scale of the unit
  std::string doc;                  // one sentence without the final full stop
  std::string default_value = {};   // not empty: a file may leave it out
  bool power_of_two = false;        // of whole numbers
  bool optional = false;            // may be absent, which means unknown
};

template <class Object>
struct KeyOf : Key {
  std::function<Field(Object&)> field;
};

// Keys together with the object that their values go to.
class Record {
 public:
  virtual ~Record() = default;
  virtual std::size_t size() const = 0;
  virtual const Key& key(std::size_t i) const = 0;
  virtual Field field(std::size_t i) = 0;
};

template <class Object>
class RecordOf final : public Record {
 public:
  RecordOf(const std::vector<KeyOf<Object>>& keys, Object& object) : keys_(keys), object_(object) {}
  std::size_t size() const override { return keys_.size(); }
  const Key& key(std::size_t i) const override { return keys_[i]; }
  Field field(std::size_t i) override { return keys_[i].field(object_); }

 private:
  const std::vector<KeyOf<Object>>& keys_;
  Object& object_;
};

// The index of `key`; nullopt if there is none.
std::optional<std::size_t> find_key(const Record& record, std::string_view key);
// The hint for a key or a table that does not exist. `more`: further keys that the file may have; show: the
// command that lists the keys.
std::string unknown_key_hint(Record& record, const std::string& key, std::vector<std::string> more,
                             std::string_view show);
// What is wrong with an empty table of this name; empty if nothing is: [sm] without entries.
std::string wrong_with_empty_table(const Record& record, const std::string& key);
// All keys as a Markdown table.
std::string key_reference(Record& record);

// Reads `text` and stores it. Throws Error(bad_input) without a position; the caller adds it.
void store(const Key& key, std::string_view text, Field field);
// The value as text that `store` reads back exactly; "unknown" for an optional value that is absent.
std::string show(const Key& key, Field field);
// "1 to 1024", "true or false", "lrr or gto": what a value may be.
std::string allowed_values(const Key& key, Field field);

template <class Object>
void store(const KeyOf<Object>& key, std::string_view text, Object& object) {
  store(key, text, key.field(object));
}
template <class Object>
std::string show(const KeyOf<Object>& key, const Object& object) {
  Object copy = object;  // fields are reached through a mutable object; this is not a hot path
  return show(key, key.field(copy));
}
template <class Object>
std::string allowed_values(const KeyOf<Object>& key) {
  Object scratch;
  return allowed_values(key, key.field(scratch));
}

}  // namespace simtlab::device
