// Sequential C programs: compiled by clang, taken apart by simtlab-loops, made to kernels, run with their
// nest measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compile/build_cache.h"
#include "compile/limited.h"
#include "compile/toolchain.h"

namespace simtlab::compile {

struct LoopSource {
  std::filesystem::path file;  // the C file
  // That the loop is in, where it is another one (an included file); may be empty
  std::string loop_file;
  unsigned line = 0;               // of the loop; 0: of the first `#pragma simtlab kernel`
  std::vector<std::string> flags;  // for clang
};

// What a run of the program told; docs/concepts/loops.md.
struct LoopRun {
  std::vector<double> times_ns;       // of one call of the nest, that with most to do, one a run
  std::uint64_t calls = 0;            // of the nest in one run
  std::uint64_t call = 0;             // the one that all else is about, from 0
  std::vector<std::uint64_t> blocks;  // executions
  struct Argument {
    std::uint64_t value = 0, low = 0, high = 0;
    bool written = false;
    std::string before, after;  // the bytes from low to high, where they were kept
  };
  std::vector<Argument> arguments;
  bool kept = false;  // before and after are there
};

struct RunWish {
  std::vector<std::string> arguments;
  double seconds = 60;           // of each run
  unsigned runs = 3;             // whose median is taken
  std::uint64_t keep_bytes = 0;  // most data to keep; 0: none
};

class LoopProgram {
 public:
  // Compiles. Throws Error: bad_input "compile-failed" (clang's messages are on stderr).
  explicit LoopProgram(LoopSource source);

  // The description as JSON; also if the nest is refused (models::loops::parse_description throws then).
  // Throws Error(bad_input, "loop-missing") with the lines of the loops if nobody says which one is meant.
  std::string describe() const;
  // levels: of the prefix, x first. Throws Error(failure).
  std::string ptx(const std::vector<unsigned>& levels, const std::string& name,
                  const std::string& architecture) const;
  // Builds the measured program and runs it. Throws Error(program_failed, "loop-run") if it fails, never ends
  // or never reaches the nest.
  LoopRun measure(const RunWish& wish) const;
  unsigned line() const { return source_.line; }

 private:
  std::string run_tool(const std::vector<std::string>& words, int& status) const;
  std::vector<std::string> place() const;
  std::filesystem::path build_measured() const;
  // Times of the calls.
  std::vector<double> one_run(const std::filesystem::path& program, const RunWish& wish, const char* mode,
                              LoopRun& out) const;

  LoopSource source_;
  LoopToolchain tools_;
  ScratchFolder scratch_;
  bool by_pragma_ = false, unmarked_ = false;
};

}  // namespace simtlab::compile
