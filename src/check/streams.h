// What of the host's work comes before what: streams, events, calls that wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace simtlab::check {

// A kernel or a copy: the number-th operation of its stream, and of each stream the last one that has ended
// before it begins.
struct Submitted {
  std::uint32_t stream = 0;
  std::uint64_t number = 0;
  std::map<std::uint32_t, std::uint64_t> behind;

  bool comes_after(const Submitted& other) const {
    const auto at = behind.find(other.stream);
    return at != behind.end() && at->second >= other.number;
  }
};

class Streams {
 public:
  using Stream =
      std::uint32_t;  // 0: the default stream, which waits for the blocking ones, as they do for it
  using Event = std::uint32_t;

  bool several() const { return several_; }
  void create(Stream stream, bool non_blocking) {
    several_ = true;
    if (non_blocking) non_blocking_.insert(stream);
  }
  Submitted submit(Stream stream) {
    Clock clock = host_;
    join(clock, streams_[stream]);
    if (stream == 0) {
      for (const auto& [other, last] : streams_)
        if (!non_blocking_.contains(other)) join(clock, last);
    } else if (!non_blocking_.contains(stream)) {
      join(clock, streams_[0]);
    }
    const std::uint64_t number = ++numbers_[stream];
    clock[stream] = number;
    streams_[stream] = clock;
    return {stream, number, std::move(clock)};
  }
  void record(Event event, Stream stream) { events_[event] = submit(stream).behind; }
  void wait(Stream stream, Event event) { join(streams_[stream], events_[event]); }
  void synchronize(Stream stream) { join(host_, streams_[stream]); }
  void synchronize_event(Event event) { join(host_, events_[event]); }
  void synchronize() {
    for (const auto& [stream, last] : streams_) join(host_, last);
  }

 private:
  using Clock = std::map<std::uint32_t, std::uint64_t>;
  static void join(Clock& into, const Clock& from) {
    for (const auto& [stream, number] : from) into[stream] = std::max(into[stream], number);
  }

  Clock host_;
  std::map<Stream, Clock> streams_;
  std::map<Event, Clock> events_;
  std::map<Stream, std::uint64_t> numbers_;
  std::set<Stream> non_blocking_;
  bool several_ = false;
};

}  // namespace simtlab::check
