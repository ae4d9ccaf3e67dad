// Policies that a device file chooses by name. Each policy is a source file and has the file's name; the
// build makes the lists (cmake/registry.cmake). The enumerations of device.h name the policies that other
// code mentions; all other policies have values beyond the named ones.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device.h"

namespace simtlab::device {

// In the order of the names.
std::span<const std::string_view> replacement_names();
std::span<const std::string_view> set_index_names();
std::span<const std::string_view> scheduler_names();

// The names with their values, in the order of the names.
template <class Policy>
using PolicyValues = std::vector<std::pair<std::string_view, Policy>>;
PolicyValues<Replacement> names_of(const Replacement*);
PolicyValues<SetIndex> names_of(const SetIndex*);
PolicyValues<Scheduler> names_of(const Scheduler*);

std::string_view name_of(Replacement value);
std::string_view name_of(SetIndex value);
std::string_view name_of(Scheduler value);

}  // namespace simtlab::device
