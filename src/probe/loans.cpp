#include "probe/loans.h"

#include <algorithm>
#include <utility>

#include "device/parameters.h"
#include "probe/device_file.h"

namespace simtlab::probe {
namespace {

constexpr unsigned most_mends = 64;  // more contradictions than there are rules

// What a device has of a key; null: it has nothing of its own, and the key's default holds.
const device::Entry* entry_of(const device::LoadedDevice& device, const std::string& key) {
  const auto at = std::ranges::find(device.entries, key, &device::Entry::key);
  return at != device.entries.end() && at->origin.layer != "default" && at->value != "unknown" ? &*at
                                                                                               : nullptr;
}

}  // namespace

Loans::Loans(const Findings& findings, const Lender* base, const std::vector<Lender>& others) {
  for (const device::Parameter& parameter : device::parameters()) {
    const Finding* f = findings.find(parameter.key);
    if (std::string value = f != nullptr && f->known() ? file_value(parameter, *f) : ""; !value.empty())
      measured_[parameter.key] = std::move(value);
    else if (base != nullptr)
      lend(parameter.key, *base);
  }
  if (base == nullptr) return;
  for (unsigned round = 0; round < most_mends; ++round) {
    const std::vector<device::Contradiction> found = device::contradictions(device());
    if (found.empty() || (!mend(found.front().keys, others) && !give_way(found.front().keys, *base))) return;
  }
}

const Loan* Loans::find(const std::string& key) const {
  const auto at = loans_.find(key);
  return at == loans_.end() ? nullptr : &at->second;
}

// With what the file would say now.
device::Device Loans::device() const {
  device::Device out;
  for (const device::Parameter& parameter : device::parameters()) {
    const auto measured = measured_.find(parameter.key);
    const Loan* loan = find(parameter.key);
    const std::string& value = loan != nullptr               ? loan->value
                               : measured != measured_.end() ? measured->second
                                                             : parameter.default_value;
    if (!value.empty()) device::store(parameter, value, out);
  }
  return out;
}

// False: the lender has nothing else to lend.
bool Loans::lend(const std::string& key, const Lender& lender, std::string instead_of) {
  const device::Entry* entry = entry_of(lender.device, key);
  const Loan* now = find(key);
  if (entry == nullptr || (now != nullptr && now->value == entry->value)) return false;
  loans_[key] = {entry->value, entry->origin.source, lender.name, std::move(instead_of)};
  return true;
}

// Whether fewer contradictions are left when the lender lends these; else nothing has changed.
bool Loans::try_all(const std::vector<std::string>& keys, const Lender& lender) {
  const std::size_t before = contradictions();
  const std::map<std::string, Loan> kept = loans_;
  bool any = false;
  for (const std::string& key : keys) any = lend(key, lender) || any;
  if (any && contradictions() < before) return true;
  loans_ = kept;
  return false;
}

// One value from somebody else, else all of them from one.
bool Loans::mend(const std::vector<std::string>& keys, const std::vector<Lender>& others) {
  std::vector<std::string> lent;
  for (const std::string& key : keys)
    if (find(key) != nullptr) lent.push_back(key);
  for (const Lender& lender : others)
    for (const std::string& key : lent)
      if (try_all({key}, lender)) return true;
  return std::ranges::any_of(others, [&](const Lender& lender) { return try_all(lent, lender); });
}

bool Loans::give_way(const std::vector<std::string>& keys, const Lender& base) {
  bool any = false;
  for (const std::string& key : keys) {
    const auto measured = measured_.find(key);
    any = lend(key, base, measured == measured_.end() ? "" : measured->second) || any;
  }
  return any;
}

}  // namespace simtlab::probe
