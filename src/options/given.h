// What stands on a command line of the options of rows.h, as typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/catalogue.h"

namespace simtlab::options {

class Given {
 public:
  bool has(std::string_view key) const { return get(key).has_value(); }
  std::optional<std::string> get(std::string_view key) const;  // the last one
  std::vector<std::string> all(std::string_view key) const;    // of a list
  void add(std::string_view key, std::string value) { values_.emplace_back(key, std::move(value)); }
  void set(std::string_view key, std::string value);  // in place of what there is
  void remove(std::string_view key);

  // The uppermost layer, but for --set. Paths are those of this process' working directory.
  std::vector<device::Setting> settings() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace simtlab::options
