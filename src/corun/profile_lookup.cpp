#include "corun/profile_lookup.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/kernel_name.h"

namespace simtlab::corun {
namespace {

// "_Z5scalePfi": itself, "scale(float*, int)" and "scale", in this order, are what a file of profiles may
// call it.
std::vector<std::string> names_of(const std::string& kernel) {
  std::vector<std::string> out = {kernel};
  const std::string demangled = demangle(kernel), plain(parts_of_name(demangled).scoped);
  for (const std::string& name : {demangled, plain})
    if (name != out.back()) out.push_back(name);
  return out;
}

// A file that is known to be another one is another program, whatever its name; one that is known to be the
// same may have another name.
bool is_of(const KernelProfile& k, const ProgramIdentity& program) {
  if (!k.content.empty() && !program.content.empty()) return k.content == program.content;
  return k.program_name() == program.name;
}

double size_of(const std::array<std::uint32_t, 3>& e) { return static_cast<double>(e[0]) * e[1] * e[2]; }

// How far apart two shapes are: doublings of the threads, of a block's threads, of its shared memory.
double distance(const LaunchShape& a, const Profile& of) {
  const double blocks = std::log2(size_of(a.grid) / size_of(of.grid.value_or(a.grid)));
  const double threads = std::log2(size_of(a.block) / size_of(of.block.value_or(a.block)));
  const double shared =
      std::log2((static_cast<double>(a.shared_bytes) + 1024) / (of.shared_bytes.value_or(0) + 1024));
  return std::abs(blocks + threads) + std::abs(threads) / 4 + std::abs(shared) / 16;
}

bool is_shape(const Profile& p, const LaunchShape& shape) {
  return p.grid == shape.grid && (!p.block || p.block == shape.block) &&
         (!p.shared_bytes || *p.shared_bytes == static_cast<double>(shape.shared_bytes));
}

// The best of the profiles of one kernel; the first one of those that are as good.
void choose(const std::vector<const KernelProfile*>& all, const LaunchShape& shape, Found& out) {
  const KernelProfile* best = nullptr;
  double nearest = 0;
  for (const KernelProfile* k : all) {
    const Match match = !k->profile.grid              ? Match::any_shape
                        : is_shape(k->profile, shape) ? Match::exact
                                                      : Match::nearest;
    const double far = match == Match::nearest ? distance(shape, k->profile) : 0;
    if (best != nullptr && (match > out.match || (match == out.match && far >= nearest))) continue;
    best = k;
    out.match = match;
    nearest = far;
  }
  if (best == nullptr) return;
  out.profile = best->profile;
  out.profile->nearest = out.match == Match::nearest;
}

}  // namespace

Found find_profile(const Profiles& profiles, const ProgramIdentity& program, const std::string& kernel,
                   const LaunchShape& shape) {
  Found out;
  for (const std::string& name : names_of(kernel)) {
    std::vector<const KernelProfile*> its;
    for (const auto& [key, k] : profiles.kernels) {
      if (kernel_of(k.name) != name) continue;
      if (is_of(k, program))
        its.push_back(&k);
      else if (k.program_name() == program.name)
        out.other_build = true;
    }
    choose(its, shape, out);
    if (out.profile) break;
  }
  if (out.profile) out.other_build = false;
  return out;
}

}  // namespace simtlab::corun
