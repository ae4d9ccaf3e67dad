#include "cli/output_option.h"

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "cli/options.h"

namespace simtlab::cli {
namespace {

constexpr const char* file_check = "output file";
constexpr const char* folder_check = "output folder";
constexpr const char* shown_check = "only shown";

thread_local bool trying = true;

bool has(CLI::Option& option, const char* check) {
  try {
    return option.get_validator(check) != nullptr;
  } catch (const CLI::OptionNotFound&) { return false; }
}

}  // namespace

CLI::Validator output_file() {
  return {[](std::string& value) {
            if (trying && !value.empty() && value != "-") check_writable(value);
            return refuse_empty(value);
          },
          "", file_check};
}

CLI::Validator output_folder() {
  return {[](std::string& value) {
            if (trying && !value.empty()) check_writable_folder(value);
            return refuse_empty(value);
          },
          "", folder_check};
}

CLI::Validator output_file_or_folder() {
  return {[](std::string& value) {
            namespace fs = std::filesystem;
            std::error_code ignored;
            const bool is_folder = fs::exists(value, ignored) ? fs::is_directory(value, ignored)
                                                              : !fs::path(value).has_extension();
            if (!trying || value.empty() || value == "-") return refuse_empty(value);
            is_folder ? check_writable_folder(value) : check_writable(value);
            return std::string();
          },
          "", file_check};
}

WithoutTrying::WithoutTrying() : before_(std::exchange(trying, false)) {}
WithoutTrying::~WithoutTrying() { trying = before_; }

bool is_output(CLI::Option& option) { return has(option, file_check) || has(option, folder_check); }

CLI::Option* only_shown(CLI::Option* option) {
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, "", shown_check));
}

bool is_shown(CLI::Option& option) { return has(option, shown_check); }

}  // namespace simtlab::cli
