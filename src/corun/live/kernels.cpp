#include "corun/live/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simtlab::corun::live {
namespace {

constexpr const char* other_kernels = "(other kernels)";
constexpr const char* other_programs = "(other programs)";

}  // namespace

Kernels::Kernels(corun::Scheduler& scheduler, FindProfile find_profile, std::uint32_t most_names)
    : scheduler_(scheduler), find_profile_(std::move(find_profile)), most_names_(most_names) {}

ProgramNumber Kernels::program(const ProgramIdentity& identity) {
  std::vector<ProgramNumber>& same_name = by_name_[identity.name];
  for (const ProgramNumber known : same_name)
    if (programs_[known].identity == identity) return known;
  if (programs_.size() >= most_names_) {
    if (same_name.empty()) by_name_.erase(identity.name);
    if (programs_.back().label != other_programs)
      programs_.push_back({{other_programs, {}}, other_programs, {}});
    return static_cast<ProgramNumber>(programs_.size() - 1);
  }
  const std::string label =
      same_name.empty() ? identity.name : fmt::format("{}#{}", identity.name, identity.content.substr(0, 8));
  same_name.push_back(static_cast<ProgramNumber>(programs_.size()));
  programs_.push_back({identity, label, {}});
  return same_name.back();
}

corun::KernelId Kernels::of(ProgramNumber number, const std::string& kernel,
                            const std::optional<corun::LaunchShape>& shape, std::uint64_t now_ns) {
  Program& program = programs_[number];
  std::string key = corun::key_of(program.label, kernel, shape);
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  const bool other = by_key_.size() >= most_names_;
  if (other) {
    key = other_kernels;
    if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  }
  const std::optional<corun::Profile> profile =
      find_profile_ && !other ? find_profile_(program.identity, kernel, shape.value_or(corun::LaunchShape{}))
                              : std::nullopt;
  const corun::KernelId id = scheduler_.kernel(now_ns, key, profile ? &*profile : nullptr);
  by_key_.emplace(key, id);
  if (id <= kernels_.size()) return id;  // the log writes both names alike
  const bool own = profile && !profile->nearest;
  kernels_.push_back({key, own && profile->time_ns, own ? *profile : corun::Profile{}});
  program.kernels.push_back(id);
  if (on_unknown && lacks(id)) on_unknown(kernels_.back().key);
  return id;
}

void Kernels::learn(corun::KernelId kernel, const corun::Profile& seen, bool alone, std::uint64_t now_ns) {
  Kernel& k = kernels_[kernel - 1];
  if (k.key == other_kernels) return;
  const auto differs = [](const std::optional<double>& a, double b) {
    return !a || std::abs(*a - b) > 0.2 * *a;
  };
  const corun::Profile* known = scheduler_.profile(kernel);
  corun::Profile profile = known == nullptr ? corun::Profile{} : *known;
  bool changed = false;
  using Value = std::optional<double> corun::Profile::*;
  for (const Value value : {&corun::Profile::ipc, &corun::Profile::l2_bandwidth,
                            &corun::Profile::dram_bandwidth, &corun::Profile::memory_stall}) {
    if (!(seen.*value) || k.given.*value) continue;
    const bool of_another = profile.nearest || !(profile.*value);
    if (!of_another && (!alone || !differs(profile.*value, *(seen.*value)))) continue;
    profile.*value = seen.*value;
    changed = true;
  }
  if (changed) profile.nearest = false;
  if (alone && seen.time_ns && (!k.own_time || differs(profile.time_ns, *seen.time_ns))) {
    profile.time_ns = seen.time_ns;
    k.own_time = changed = true;
  }
  if (changed) scheduler_.kernel(now_ns, k.key, &profile);
}

std::optional<double> Kernels::alone_ns(corun::KernelId kernel) const {
  if (!kernels_[kernel - 1].own_time) return std::nullopt;
  return scheduler_.profile(kernel)->time_ns;
}

bool Kernels::lacks(corun::KernelId kernel) const {
  return (scheduler_.policy().needs & ~corun::known_of(scheduler_.profile(kernel))) != 0;
}

void Kernels::add_to(Lack& out, const Program& program) const {
  for (const corun::KernelId id : program.kernels) {
    ++out.kernels;
    if (!lacks(id)) continue;
    if (out.unknown++ == 0) out.first = kernels_[id - 1].key;
  }
}

Kernels::Lack Kernels::lack(ProgramNumber program) const {
  Lack out;
  add_to(out, programs_[program]);
  return out;
}

Kernels::Lack Kernels::lack() const {
  Lack out;
  for (const Program& program : programs_) add_to(out, program);
  return out;
}

}  // namespace simtlab::corun::live
