// The parameters of a device: the keys of device files and configuration files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/key.h"

namespace simtlab::device {

using Parameter = KeyOf<Device>;

// In the order in which they are printed.
const std::vector<Parameter>& parameters();
// nullptr if there is none.
const Parameter* find_parameter(std::string_view key);
// key.h's, for devices.
std::string unknown_key_hint(const std::string& key, std::vector<std::string> more = {});
std::string wrong_with_empty_table(const std::string& key);

// The reference of all parameters as a Markdown table.
std::string parameter_reference();

}  // namespace simtlab::device
