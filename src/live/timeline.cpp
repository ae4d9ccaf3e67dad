#include "live/timeline.h"

#include <fmt/format.h>

namespace simtlab::live {
namespace {

// Names are printable by now (core.cpp); what JSON minds is left.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

Timeline::Timeline(const std::filesystem::path& path) : out_(path) { out_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["); }

void Timeline::event(const std::string& json) {
  out_.write(first_ ? "\n" : ",\n");
  first_ = false;
  out_.write(json);
}

void Timeline::add(const Core::Span& s) {
  if (launches_ == most_launches) {
    ++left_out_;
    return;
  }
  ++launches_;
  if (named_.insert(s.client).second)
    event(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})", s.client, quoted(fmt::format("{} (process {})", s.program, s.pid))));
  if (s.granted_ns > s.asked_ns)
    event(fmt::format(R"({{"ph": "X", "name": "wait", "cat": "wait", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{"kernel": {}}}}})", s.client, s.stream,
                      microseconds(s.asked_ns), microseconds(s.granted_ns - s.asked_ns), quoted(s.kernel)));
  event(fmt::format(R"({{"ph": "X", "name": {}, "cat": "launch", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{"launch": {}, "gpu_us": {:.3f}, "lost": {}}}}})", quoted(s.kernel),
                    s.client, s.stream, microseconds(s.granted_ns), microseconds(s.ended_ns - s.granted_ns), s.sequence, microseconds(s.gpu_ns), s.lost));
}

void Timeline::close() {
  out_.write(fmt::format("\n], \"otherData\": {{\"left_out\": \"{}\"}}}}\n", left_out_));
  out_.close();
}

}  // namespace simtlab::live
