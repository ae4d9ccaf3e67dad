// Coverage of device code as a tracefile of lcov (geninfo(1)): genhtml, Codecov and GitLab read it.
#include <fmt/format.h>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

std::string record(const result::CoveredFile& file) {
  std::string out = fmt::format("TN:simtlab_check\nSF:{}\n", printable(file.file));
  std::uint64_t hit = 0;
  for (const result::CoveredFunction& f : file.functions)
    out += fmt::format("FN:{},{}\n", f.line, printable(f.name));
  for (const result::CoveredFunction& f : file.functions) {
    out += fmt::format("FNDA:{},{}\n", f.warps, printable(f.name));
    hit += f.warps != 0;
  }
  out += fmt::format("FNF:{}\nFNH:{}\n", file.functions.size(), hit);
  // Three outcomes a branch: the warp took it, did not, its lanes parted. "-": the branch never ran.
  std::uint64_t outcomes = 0;
  for (const result::CoveredBranch& b : file.branches) {
    const bool ran = b.taken + b.not_taken + b.parted != 0;
    const std::uint64_t counts[] = {b.taken, b.not_taken, b.parted};
    for (unsigned i = 0; i < 3; ++i) {
      out += ran ? fmt::format("BRDA:{},{},{},{}\n", b.line, b.number, i, counts[i])
                 : fmt::format("BRDA:{},{},{},-\n", b.line, b.number, i);
      outcomes += counts[i] != 0;
    }
  }
  out += fmt::format("BRF:{}\nBRH:{}\n", 3 * file.branches.size(), outcomes);
  hit = 0;
  for (const result::CoveredLine& l : file.lines) {
    out += fmt::format("DA:{},{}\n", l.line, l.warps);
    hit += l.warps != 0;
  }
  return out + fmt::format("LF:{}\nLH:{}\nend_of_record\n", file.lines.size(), hit);
}

}  // namespace

std::string check_lcov(const CheckReport& report) {
  std::string out;
  for (const result::CoveredFile& file : report.check().coverage) out += record(file);
  return out;
}

}  // namespace simtlab::report
