#include "report/probe_text.h"

#include <fmt/format.h>

#include "report/format.h"
#include "report/text_writer.h"

namespace simtlab::report {
namespace {

class ProbeWriter : TextWriter {
 public:
  ProbeWriter(const result::Result& result, const TextOptions& options) : TextWriter(result, options) {}

  std::string run() {
    state_line();
    for (const result::KernelResult& k : result_.kernels) list(printable(k.name), k.metrics);
    list("total", result_.total);
    return out_;
  }

 private:
  void list(const std::string& name, const result::Metrics& metrics) {
    out_ += name + "\n";
    for (const result::Metrics::Value& v : metrics.values()) {
      if (v.name.starts_with("host.")) continue;
      const double value = v.is_integer ? static_cast<double>(v.integer) : v.real;
      const std::string_view unit = result::find_metric(v.name)->unit;
      out_ += fmt::format("  {:<28} {}\n", printable(v.name),
                          unit == "bytes" ? format_bytes(value)
                          : unit == "1"   ? fmt::format("{:.4g}", value)
                                          : fmt::format("{:.5g} {}", value, unit));
    }
    out_ += "\n";
  }
};

}  // namespace

std::string probe_text(const result::Result& result, const TextOptions& options) {
  return ProbeWriter(result, options).run();
}

}  // namespace simtlab::report
