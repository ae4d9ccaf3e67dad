// What `simtlab build` embeds into an object file for the runtime to find.
#pragma once

#include <string>
#include <vector>

namespace simtlab::compile {

struct PtxImage {
  std::string architecture;  // "sm_70"
  std::string text;          // PTX
};

// One PTX text with a terminating NUL, or several as uncompressed entries of a fat binary container.
std::string make_image(const std::vector<PtxImage>& images);

// -maxrregcount: adds `.maxnreg n` to every kernel that has no launch bounds and no limit of its own, which
// come before the option. Below 24, 24 is added, as the assembler would.
void limit_registers(std::string& ptx, int n);

}  // namespace simtlab::compile
