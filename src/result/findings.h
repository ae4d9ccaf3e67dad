// What `simtlab check` found in a program: findings, coverage of device code, and what was not looked at.
// Plain data: detectors (src/check) fill it in, a result file carries it, reports (src/report) read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::result {

// error: the program is wrong; warning: it is wrong by one reading, or on some devices.
enum class Level : std::uint8_t { warning, error };

// A kind of finding. Its id names it in filters, suppressions and SARIF: "race.shared".
struct FindingRule {
  std::string_view id, title;  // "race.shared", "Race in shared memory"
  Level level = Level::error;
  std::string_view check;  // of `--checks`: "memory", "races", "init", "barriers", "leaks", "api", "numbers"
  std::string_view help;   // what it means and what to do; sentences
};
const std::vector<FindingRule>& finding_rules();
const FindingRule* find_finding_rule(std::string_view id);  // null: there is none

// A place in device code.
struct CodePlace {
  std::string kernel;    // the launched one, demangled; empty: none (a call of the host)
  std::string function;  // that holds the instruction, demangled; the kernel itself or a function it calls
  std::string file;      // the source (from .loc), or the PTX module where it names none
  std::uint32_t line = 0, column = 0;
  std::string ptx_file;  // the PTX instruction behind it
  std::uint32_t ptx_line = 0;
  std::string instruction;  // "st.global.u32"
  std::string text;         // of the source line, trimmed; empty: the file cannot be read
  bool operator==(const CodePlace&) const = default;
};

// Who did something there.
struct Access {
  CodePlace place;
  std::string what;          // "write of 4 bytes", "atomic read-modify-write of 4 bytes", "read of 8 bytes"
  std::uint64_t launch = 0;  // number, from 1; 0: the host
  std::uint32_t block[3] = {0, 0, 0}, thread[3] = {0, 0, 0};
  std::string value;  // "7", "0x3f800000"; empty: unknown
  bool operator==(const Access&) const = default;
};

struct Finding {
  std::string rule;  // FindingRule::id
  Level level = Level::error;
  std::string message;           // a sentence: what is wrong
  std::vector<Access> accesses;  // the one that showed it first; then the other one, of a pair
  std::string memory;            // where in memory: "word 12 of shared variable 'tile'"
  std::string missing;           // the edge that is missing: "no barrier since line 87"; may be empty
  std::string mend;              // what was tried and what came of it; empty: nothing was
  std::string hint;
  std::uint64_t count = 1;  // how often
  std::string order;        // the seed of the order of execution that showed it; empty: the usual order
  bool operator==(const Finding&) const = default;
};

struct CoveredBranch {
  std::uint32_t line = 0, number = 0;  // number: of the branches of the line, from 0
  // Warps that took it, that did not, and whose lanes parted.
  std::uint64_t taken = 0, not_taken = 0, parted = 0;
  bool operator==(const CoveredBranch&) const = default;
};
struct CoveredLine {
  std::uint32_t line = 0;
  std::uint64_t warps = 0;  // times that a warp executed it
  std::uint32_t lanes = 0;  // most lanes of a warp at once, 0 to 32
  bool operator==(const CoveredLine&) const = default;
};
struct CoveredFunction {
  std::string name;  // demangled
  std::uint32_t line = 0;
  std::uint64_t warps = 0;
  bool operator==(const CoveredFunction&) const = default;
};
struct CoveredFile {
  std::string file;
  std::vector<CoveredFunction> functions;  // by line
  std::vector<CoveredLine> lines;          // by line; those without code are not here
  std::vector<CoveredBranch> branches;     // by line and number
  bool operator==(const CoveredFile&) const = default;
};

struct CheckResult {
  std::vector<std::string> checks;    // that ran: "memory", "races", ...
  std::vector<Finding> findings;      // each place, or pair of places, once; by rule, file and line
  std::vector<CoveredFile> coverage;  // by name of the file
  // What was not looked at and why, a sentence each: machine code without PTX, memory that did not fit ...
  std::vector<std::string> gaps;
  std::uint64_t launches = 0;  // that were checked
  bool operator==(const CheckResult&) const = default;
};

}  // namespace simtlab::result
