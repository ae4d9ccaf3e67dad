// A launch that is watched: functional mode, and before each access a look at where it goes.
#pragma once

#include <memory>

#include "check/checker.h"
#include "exec/executor.h"

namespace simtlab::check {

class CheckedRun {
 public:
  // The launch is one of PTX. number: of the launch in the program, from 1.
  CheckedRun(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
             std::uint64_t number, const std::string& kernel);
  ~CheckedRun();
  bool go_on();  // as exec::FunctionalRun
  [[noreturn]] void report() const;
  const exec::FunctionalResult& result() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::check
