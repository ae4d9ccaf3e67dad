// Errors of the whole library: values that carry what a user needs to mend the input.
//
// The library never prints and never exits. A problem with input, configuration or the simulated
// program is thrown as simtlab::Error; the command line (cli/) prints it like a compiler would and exits
// with its code. Broken invariants of our own are SIMTLAB_ASSERT with a sentence.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace simtlab {

// Documented exit codes of the tool (docs/reference/exit-codes.md). The class of an error decides the code.
enum class ExitCode : int {
  ok = 0,
  failure = 1,         // run-time failure of the tool or the host (I/O, memory)
  usage = 2,           // wrong command line
  bad_input = 3,       // bad input file or configuration
  unsupported = 4,     // valid, but a feature simtlab does not have
  program_failed = 5,  // the simulated program failed: out of bounds, deadlock, wrong result
  check_failed = 6,    // a check asked for did not hold (validate, compare --fail-above)
  unavailable = 7,     // device or permission missing
  findings = 8,        // `check` found errors in the program
  interrupted = 130,   // stopped by the user; a partial result was written and marked
};

// A place in a text. line and column count from 1; 0 means unknown.
struct SourcePos {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// One message about one place. `text` is the offending source line (for the caret), may be empty.
struct Diagnostic {
  std::string message;  // what is wrong, one sentence without a final full stop
  SourcePos pos;
  std::string text;  // the source line at pos
  std::string hint;  // what to do about it; may be empty
};

// The one exception type of the library.
class Error : public std::runtime_error {
 public:
  // id: stable name that `simtlab explain` expands, e.g. "ptx-syntax", "config-unknown-key".
  Error(ExitCode code, std::string id, Diagnostic diagnostic);
  Error(ExitCode code, std::string id, std::string message, std::string hint = {});
  // Several findings in one go (all unsupported instructions of a module). Never empty.
  Error(ExitCode code, std::string id, std::vector<Diagnostic> diagnostics);

  ExitCode code() const { return code_; }
  const std::string& id() const { return id_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  // Compiler-style text: "file:line:col: error: message [id]\n  source line\n      ^\n  hint: ...\n".
  std::string format() const;

 private:
  ExitCode code_;
  std::string id_;
  std::vector<Diagnostic> diagnostics_;
};

// The name nearest to `name` in `known` by edit distance, or empty if none is near enough to suggest.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const char* message);

}  // namespace simtlab

// Broken invariant of ours: never for bad input. Throws std::logic_error with the sentence.
#define SIMTLAB_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0) : ::simtlab::assertion_failed(#condition, __FILE__, __LINE__, message))
