#include "corun/live/progress.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::corun::live {

// "PID (NAME) STATE ...": a name may hold blanks and brackets; utime and stime are fields 14 and 15.
std::optional<Activity> activity_of(pid_t pid) {
  std::string text;
  try {
    text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  } catch (const Error&) { return std::nullopt; }
  std::size_t at = text.rfind(") ");
  if (at == std::string::npos) return std::nullopt;
  at += 2;
  Activity out;
  out.stopped = text[at] == 'T' || text[at] == 't';
  for (int field = 3; field < 16; ++field) {
    if (field >= 14) {
      std::uint64_t ticks = 0;
      std::from_chars(text.data() + at, text.data() + text.size(), ticks);
      out.processor_ticks += ticks;
    }
    at = text.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  return out;
}

std::uint64_t Watch::idle_since(const std::optional<Activity>& activity, std::uint32_t heard, bool sleeps,
                                std::uint64_t now_ns) {
  const std::uint64_t ticks = activity ? activity->processor_ticks : ticks_;
  const bool stopped = activity && activity->stopped;
  const bool moved = !watched_ || !activity || heard != heard_ || (!stopped && (sleeps || ticks != ticks_));
  watched_ = true;
  ticks_ = ticks;
  heard_ = heard;
  if (moved) since_ns_ = now_ns;
  return since_ns_;
}

}  // namespace simtlab::corun::live
