// The kernels of a published cache study, run as a user runs them: data/probes/cache.cl through the compiler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "result/metrics.h"
#include "studies/validate/cache_study.h"

namespace simtlab::studies::validate {

// What differs from `simtlab cache cache.cl --gpu gtx480 --kernel ... --global ... --local ... --arg ...`.
struct CacheVariant {
  std::vector<std::pair<std::string, std::string>> settings = {};  // of --set
  std::string study = {};                                          // "order=gto", as cache/options.h
  std::string registers = {};                                      // of --regs
  std::vector<std::string> build = {};                             // of the compiler
  std::string seed = {};                                           // of --seed
};
result::KernelResult run_case(const CacheCase& c, const CacheVariant& variant);
// The same kernel on the cycle-level model: `simtlab run`.
result::KernelResult time_case(const CacheCase& c, const CacheVariant& variant);

}  // namespace simtlab::studies::validate
