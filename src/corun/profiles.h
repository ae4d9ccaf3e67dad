// What is known of kernels and applications: a database in memory, and its three forms on disk (SQLite, TOML,
// CSV).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corun/profile.h"

namespace simtlab::corun {

struct KernelProfile {
  std::string application, name;
  Profile profile;
  std::string source;  // where the figures are from
  // Whose kernel it is (base/program_identity.h). No program: that of the application's name; no content: not
  // known.
  std::string program = {}, content = {};
  const std::string& program_name() const { return program.empty() ? application : program; }
  bool operator==(const KernelProfile&) const = default;
};

// What one process does: its sequence of kernels, again and again.
struct Application {
  std::string name;
  std::uint64_t iterations = 1;
  std::vector<std::string> sequence;  // names of its kernels
  double gap_ns = 0;                  // of the host, after each kernel
  std::string source;
  bool operator==(const Application&) const = default;
};

struct Profiles {
  std::map<std::pair<std::string, std::string>, KernelProfile> kernels;  // by application and name
  std::map<std::string, Application> applications;

  // Later figures of a kernel replace earlier ones; of Profile::more it keeps what the later one lacks.
  void add(KernelProfile kernel);
  void add(Application application);
  // Null if nothing is known.
  const KernelProfile* find(const std::string& application, const std::string& kernel) const;
  bool operator==(const Profiles&) const = default;
};

// What is read is bounded and checked: Error(bad_input, "corun-profiles") names file and place.
inline constexpr std::uint64_t max_profile_bytes = std::uint64_t{16} << 20;

Profiles profiles_from_toml(std::string_view text, const std::string& file);
std::string to_toml(const Profiles& profiles);
// One line a kernel; applications have none. An empty cell is a value that is not known.
Profiles profiles_from_csv(std::string_view text, const std::string& file);
std::string to_csv(const Profiles& profiles);
// A file of its own for SQLite. Reading one that isn't there gives no profiles; writing changes all in one
// transaction, so that a full disk leaves the old content. Throws Error(failure, "corun-database").
Profiles profiles_from_database(const std::filesystem::path& path);
void add_to_database(const Profiles& profiles, const std::filesystem::path& path);

// By the name's end: .toml, .csv, .db, .sqlite. Error(usage, "corun-profiles") for others.
Profiles load_profiles(const std::filesystem::path& path);
void save_profiles(const Profiles& profiles, const std::filesystem::path& path);

// Names and units of a profile's values: the one list behind all forms.
struct ProfileField {
  std::string_view key;     // of TOML
  std::string_view column;  // of CSV and SQLite, with its unit
  bool is_time, is_bytes, is_bandwidth;
  std::optional<double> Profile::*value;
  int since = 1;  // the database's format that has it
};
std::span<const ProfileField> profile_fields();
// "more.tensor": of Profile::more, in text forms and as a column. Names are of letters, digits, - and _.
inline constexpr std::string_view more_prefix = "more.";
inline constexpr std::size_t most_more = 32;  // of a kernel
bool is_more_name(std::string_view name);

}  // namespace simtlab::corun
