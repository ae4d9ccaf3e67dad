// Which launches are simulated cycle by cycle: `--kernels`. The others are executed functionally and have no
// result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::gpu {

// Parts between commas; those inside parentheses or angle brackets belong to a demangled name.
std::vector<std::string_view> split_names(std::string_view text);
// Whether a pattern (* and ?) names a kernel: mangled, demangled, or demangled without result and parameters.
bool names_kernel(const std::string& pattern, const std::string& name, const std::string& demangled);

// A list separated by commas: numbers of launches (the first is 1), ranges of them (3-7, 5-), patterns of
// kernel names (* and ?, of the mangled name, the demangled one, or the demangled one without result and
// parameters); a pattern may be followed by :N or :M-N, which counts the launches of that kernel.
class KernelChoice {
 public:
  // Empty: all. Throws Error(usage "kernel-choice").
  explicit KernelChoice(std::string_view text = {});
  // launch: number in the program; of_kernel: among the launches of this kernel; both from 1.
  bool selects(const std::string& name, const std::string& demangled, std::uint64_t launch,
               std::uint64_t of_kernel) const;
  bool all() const { return terms_.empty(); }

 private:
  struct Term {
    std::string pattern;  // empty: of any kernel, counted over the program
    std::uint64_t first = 1, last = ~std::uint64_t{0};
  };
  std::vector<Term> terms_;
};

}  // namespace simtlab::gpu
