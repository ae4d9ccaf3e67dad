#include <fmt/format.h>

#include "report/csv_cell.h"
#include "report/report.h"

namespace simtlab::report {
namespace {

void append_rows(std::string& out, const std::string& prefix, const result::Metrics& metrics) {
  for (const result::Metrics::Value& v : metrics.values()) {
    const std::string value = v.is_integer ? fmt::format("{}", v.integer) : fmt::format("{}", v.real);
    out += fmt::format("{},{},{},{}\r\n", prefix, csv_cell(v.name), value, result::find_metric(v.name)->unit);
  }
}

}  // namespace

std::string csv(const result::Result& result) {
  std::string out = "launch,name,demangled,grid,block,metric,value,unit\r\n";
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    const result::KernelResult& k = result.kernels[i];
    const std::string prefix =
        fmt::format("{},{},{},{}x{}x{},{}x{}x{}", i, csv_cell(k.name), csv_cell(k.demangled), k.grid[0],
                    k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]);
    append_rows(out, prefix, k.metrics);
  }
  append_rows(out, "total,,,,", result.total);
  return out;
}

}  // namespace simtlab::report
