// What a probed file takes from other devices, so that it goes together with what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/catalogue.h"
#include "device/consistency.h"
#include "probe/analysis/finding.h"

namespace simtlab::probe {

// A device that may lend values.
struct Lender {
  std::string name;
  device::LoadedDevice device;
};

struct Loan {
  std::string value, source;  // as the lender's file has them
  std::string from;           // the lender
  std::string instead_of;  // what was measured and goes together with no lender's values; empty: nothing was
};

class Loans {
 public:
  // All that was not measured is the base's, which may be null: then nothing is lent. Where that contradicts
  // what was measured (device/consistency.h), the first of `others` lends whose value does not. Where none is
  // left, the measured values give way to the base's.
  Loans(const Findings& findings, const Lender* base, const std::vector<Lender>& others);

  const Loan* find(const std::string& key) const;
  const std::map<std::string, Loan>& all() const { return loans_; }

 private:
  device::Device device() const;
  std::size_t contradictions() const { return device::contradictions(device()).size(); }
  bool lend(const std::string& key, const Lender& lender, std::string instead_of = {});
  bool mend(const std::vector<std::string>& keys, const std::vector<Lender>& others);
  bool try_all(const std::vector<std::string>& keys, const Lender& lender);
  bool give_way(const std::vector<std::string>& keys, const Lender& base);

  std::map<std::string, std::string> measured_;  // by key, as a file has it
  std::map<std::string, Loan> loans_;
};

}  // namespace simtlab::probe
