// What a run is asked for, in values: one field an option, each declared once more as a row (rows.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace simtlab::options {

// Defaults are those of the rows.
struct Options {
  std::string gpu;            // catalogue name, or the path of a device file
  std::string mode;           // "timing", "functional"; "cache" and "predict" of these commands
  std::string kernels;        // gpu::KernelChoice
  std::string sharing;        // gpu::Sharing
  std::string what_if;        // device/what_if.h
  std::string memory_errors;  // "stop", "report", "ignore"
  std::string code;           // "auto", "machine", "ptx"
  std::string cubin;          // machine code of a trace of Accel-Sim
  std::string cache_control;  // "none", "all"
  std::string results;        // "early", "late", "checked"
  std::uint64_t stack = 0;    // bytes a thread, of machine code that recurses
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;     // of the host; 0: all that the process may use
  double sample = 0;             // relative error; 0: every block is simulated
  std::uint64_t max_cycles = 0;  // per kernel; 0: no limit
  double max_time_ns = 0;        // wall time; 0: no limit
  std::uint64_t max_memory =
      0;  // bytes of host memory for device allocations; 0: three quarters of what is free
  std::uint64_t registers = 0;  // per thread; 0: the compiler's or the estimate
  std::string lowering;         // "machine", "optimised", "counts", "off"
  // To be observed (timing/timing.h)
  bool lines = false, sm_timeline = false;
  std::uint64_t series = 0;  // cycles; 0: none
  std::string timeline_window, timeline_sm;
  // Files to write or to read, absolute paths once gathered; empty: none
  std::string timeline, record, schedule, checkpoint, resume;
  std::uint64_t checkpoint_every = 0;  // launches; 0: a minute

  // Not of the command line: the command says them.
  std::string cache;    // cache::Options as text, of `simtlab cache`
  std::string predict;  // gpu::PredictOptions as text, of `simtlab predict`
  // Of `simtlab check`, separated by commas: names of checks ("memory,races,init,barriers,leaks,api", also
  // "numbers", "coverage"), "explore=N", "order=SEED"; empty: nothing is checked
  std::string check;
  std::string pulse;  // file where a program tells how far it is (base/pulse.h); empty: nobody looks

  double max_time_s() const { return max_time_ns * 1e-9; }
};

}  // namespace simtlab::options
