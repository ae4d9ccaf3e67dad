#include "report/text_writer.h"

#include <fmt/format.h>

namespace simtlab::report {

using result::Metrics;

void TextWriter::line(std::string_view text) {
  out_ += text.substr(0, text.find_last_not_of(' ') + 1);
  out_ += '\n';
}

void TextWriter::heading(std::string_view text, std::string_view more) {
  line(fmt::format("\n  {}{}", painted(text, Paint::bold, style_), more));
}

void TextWriter::state_line() {
  const result::Manifest& m = result_.manifest;
  const char* const rest = "; the numbers cover what ran until then";
  if (m.interrupted)
    line(painted(fmt::format("INCOMPLETE: the run was interrupted{}", rest), Paint::bad, style_));
  else if (!m.failure.empty())
    line(painted(fmt::format("INCOMPLETE: the run failed ({}){}", printable(m.failure_id), rest), Paint::bad,
                 style_));
}

void TextWriter::every_metric(const Metrics& metrics) {
  heading("Metrics");
  for (const Metrics::Value& v : metrics.values()) {
    const std::string_view unit = result::find_metric(v.name)->unit;
    const std::string value = v.is_integer ? fmt::format("{}", v.integer) : fmt::format("{:.6g}", v.real);
    line(fmt::format("    {:<34} {:>20} {}", printable(v.name), value, unit == "1" ? "" : unit));
  }
}

}  // namespace simtlab::report
