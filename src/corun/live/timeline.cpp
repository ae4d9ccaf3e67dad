#include "corun/live/timeline.h"

#include <fmt/format.h>

namespace simtlab::corun::live {
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

Timeline::Timeline(const std::filesystem::path& path) : out_(path) {
  out_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
}

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
  const std::uint32_t row = row_of(s);
  const std::uint64_t asked = s.on_device ? s.device_asked_ns : s.asked_ns,
                      began = s.on_device ? s.device_begin_ns : s.granted_ns;
  const std::uint64_t ended = s.on_device ? s.device_end_ns : s.ended_ns;
  if (began > asked)
    for (const bool begin : {true, false})
      event(fmt::format(
          R"({{"ph": "{}", "name": "wait", "cat": "wait", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "args": {{"kernel": {}}}}})",
          begin ? "b" : "e", launches_, s.client, row, microseconds(begin ? asked : began),
          quoted(s.kernel)));
  event(fmt::format(
      R"({{"ph": "X", "name": {}, "cat": "launch", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{"launch": {}, "gpu_us": {:.3f}, "lost": {}}}}})",
      quoted(s.kernel), s.client, row, microseconds(began), microseconds(ended - began), s.sequence,
      microseconds(s.gpu_ns), s.lost));
}

std::uint32_t Timeline::row_of(const Core::Span& s) {
  const auto [streams, new_client] = rows_.try_emplace(s.client);
  if (new_client)
    event(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})", s.client,
                      quoted(fmt::format("{} (process {})", s.program, s.pid))));
  const auto [row, new_stream] =
      streams->second.try_emplace(s.stream, static_cast<std::uint32_t>(streams->second.size()));
  if (new_stream)
    event(fmt::format(
        R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "stream {:#x}"}}}})",
        s.client, row->second, s.stream));
  return row->second;
}

void Timeline::close() {
  out_.write(fmt::format("\n], \"otherData\": {{\"left_out\": \"{}\"}}}}\n", left_out_));
  out_.close();
}

}  // namespace simtlab::corun::live
