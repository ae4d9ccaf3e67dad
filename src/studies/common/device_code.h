// The machine code and the PTX that a file holds: a cubin, PTX text, a fat binary, or an executable or
// library with fat binaries in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace simtlab::studies {

// One cubin.
struct DeviceCode {
  std::string name;  // "app:sm_80", "app:.nv_fatbin:2:sm_80"
  unsigned generation = 0;
  std::function<std::string()> contents;  // unpacked
};

// bytes: of the file; they must outlive the result. Empty: PTX alone, or no device code. Throws Error for
// damaged containers.
std::vector<DeviceCode> find_device_code(const std::string& bytes, const std::string& name);

// One module of PTX.
struct DeviceText {
  std::string name;  // "kernel.ptx", "app:1"
  std::string ptx;
};

// The file itself if it is PTX; else of each fat binary in it the text that a GPU of the generation would
// run. Empty: there is none. Throws as find_device_code.
std::vector<DeviceText> find_ptx(const std::string& bytes, const std::string& name, unsigned generation);

}  // namespace simtlab::studies
