#include "corun/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"

namespace simtlab::corun {

std::span<const ProfileField> profile_fields() {
  static constexpr std::array<ProfileField, 11> fields = {{
      {"registers", "registers", false, false, false, &Profile::registers},
      {"shared", "shared_bytes", false, true, false, &Profile::shared_bytes},
      {"time", "time_ns", true, false, false, &Profile::time_ns},
      {"instructions", "warp_instructions", false, false, false, &Profile::instructions},
      {"ipc", "warp_instructions_per_cycle", false, false, false, &Profile::ipc},
      {"threads", "threads", false, false, false, &Profile::threads},
      {"l2", "l2_bytes_per_second", false, false, true, &Profile::l2_bandwidth},
      {"dram", "dram_bytes_per_second", false, false, true, &Profile::dram_bandwidth},
      {"memory_stall", "memory_stall_share", false, false, false, &Profile::memory_stall},
      {"cold_time", "cold_time_ns", true, false, false, &Profile::cold_time_ns, 2},
      {"footprint", "footprint_bytes", false, true, false, &Profile::footprint, 2},
  }};
  return fields;
}

bool is_more_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, fits);
}

void Profiles::add(KernelProfile kernel) {
  std::pair key(kernel.application, kernel.name);
  if (const auto before = kernels.find(key); before != kernels.end())
    for (const auto& [name, value] : before->second.profile.more)
      if (kernel.profile.more.size() < most_more) kernel.profile.more.try_emplace(name, value);
  kernels.insert_or_assign(std::move(key), std::move(kernel));
}

void Profiles::add(Application application) {
  std::string key = application.name;
  applications.insert_or_assign(std::move(key), std::move(application));
}

const KernelProfile* Profiles::find(const std::string& application, const std::string& kernel) const {
  const auto at = kernels.find({application, kernel});
  return at == kernels.end() ? nullptr : &at->second;
}

Profiles load_profiles(const std::filesystem::path& path) {
  const std::string end = path.extension().string();
  if (end == ".db" || end == ".sqlite") {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ExitCode::bad_input, "file-missing",
                  fmt::format("there is no profile database {}", shown(path.string())),
                  "simtlab corun profile --database FILE -- APPLICATION makes one");
    return profiles_from_database(path);
  }
  if (end == ".toml")
    return profiles_from_toml(read_file(path, max_profile_bytes, "profile file"), path.string());
  if (end == ".csv")
    return profiles_from_csv(read_file(path, max_profile_bytes, "profile file"), path.string());
  throw Error(ExitCode::usage, "corun-profiles",
              fmt::format("{} is no file of profiles by its name", shown(path.string())),
              "profiles are .toml, .csv, .db or .sqlite");
}

void save_profiles(const Profiles& profiles, const std::filesystem::path& path) {
  const std::string end = path.extension().string();
  if (end == ".db" || end == ".sqlite") return add_to_database(profiles, path);
  if (end == ".toml") return write_file_atomically(path, to_toml(profiles));
  if (end == ".csv") return write_file_atomically(path, to_csv(profiles));
  throw Error(ExitCode::usage, "corun-profiles",
              fmt::format("{} is no file of profiles by its name", shown(path.string())),
              "profiles are .toml, .csv, .db or .sqlite");
}

}  // namespace simtlab::corun
