// Machine code as text and as JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/listing.h"
#include "report/format.h"

namespace simtlab::studies {

// One kernel: what its file says of it, and its code.
struct ShownKernel {
  machine::ImageKernel facts;
  std::function<machine::Listing()> list;
};

// The kernels of one cubin, or of one module of PTX that was assembled, that are to be shown.
struct ChosenCode {
  std::string name;
  unsigned generation = 0;
  std::string why_not = {};  // its code is not decoded
  machine::Image image = {};
  machine::SourceLines lines = {};
  machine::PtxLines ptx = {};
  std::vector<ShownKernel> kernels = {};
  struct Refused {
    std::string kernel, why;
  };
  std::vector<Refused> refused = {};  // kernels that could not be assembled
};
// Calls the function for one cubin after another: only one is in memory.
using ForCode = std::function<void(const std::function<void(const ChosenCode&)>&)>;

std::string text_of(const ForCode& code, const report::Style& style);
std::string json_of(const ForCode& code);

}  // namespace simtlab::studies
