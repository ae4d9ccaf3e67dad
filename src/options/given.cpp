#include "options/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/shown.h"
#include "device/main_memory.h"
#include "options/rows.h"

namespace simtlab::options {
namespace {

namespace fs = std::filesystem;

bool is_plain_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

std::string value_of(const Row& row, const std::string& text) {
  if (row.form == Form::flag) return "on";
  // A bare number is seconds: such an option measures nothing else.
  if (row.unit == Unit::nanoseconds && is_plain_number(text)) return text + " s";
  if (!row.path || text.empty()) return text;
  if (!row.parameter.empty()) return device::memory_model_in(text, fs::current_path());
  std::error_code ignored;
  return fs::absolute(text, ignored).string();
}

}  // namespace

std::optional<std::string> Given::get(std::string_view key) const {
  for (auto at = values_.rbegin(); at != values_.rend(); ++at)
    if (at->first == key) return at->second;
  return std::nullopt;
}

std::vector<std::string> Given::all(std::string_view key) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : values_)
    if (name == key) out.push_back(value);
  return out;
}

void Given::remove(std::string_view key) {
  std::erase_if(values_, [&](const auto& one) { return one.first == key; });
}

void Given::set(std::string_view key, std::string value) {
  remove(key);
  add(key, std::move(value));
}

std::vector<device::Setting> Given::settings() const {
  std::vector<device::Setting> out;
  for (const auto& [key, value] : values_) {
    const Row* const row = find_row(key);
    SIMTLAB_ASSERT(row != nullptr, "an option of the command line has no row");
    if (key == "config" || key == "set") continue;
    const device::Origin origin{"command line", fmt::format("--{} {}", key, shown(value)), "", false};
    out.push_back(
        {std::string(row->parameter.empty() ? row->key : row->parameter), value_of(*row, value), origin});
  }
  return out;
}

}  // namespace simtlab::options
