#include "gpu/timeline.h"

#include <algorithm>

namespace simtlab::gpu {

Timeline::Stream Timeline::create_stream(bool non_blocking) {
  const Stream id = next_stream_++;
  streams_.emplace(id, StreamState{0, non_blocking});
  return id;
}

bool Timeline::destroy_stream(Stream stream) {
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return false;
  destroyed_end_ = std::max(destroyed_end_, it->second.end_ns);
  if (!it->second.non_blocking)
    destroyed_blocking_end_ = std::max(destroyed_blocking_end_, it->second.end_ns);
  streams_.erase(it);
  return true;
}

double Timeline::ready_time(Stream stream) const {
  if (stream != 0) {
    const StreamState& s = state(stream);
    return s.non_blocking ? s.end_ns : std::max(s.end_ns, default_.end_ns);
  }
  double ready = std::max(default_.end_ns, destroyed_blocking_end_);
  for (const auto& [id, s] : streams_)
    if (!s.non_blocking) ready = std::max(ready, s.end_ns);
  return ready;
}

Timeline::Span Timeline::submit(Stream stream, Engine engine, double duration_ns, double host_ns,
                                bool blocking) {
  double& engine_free = engine_free_[static_cast<std::size_t>(engine)];
  now_ += host_ns;
  Span span;
  span.begin_ns = std::max({now_, ready_time(stream), engine_free});
  span.end_ns = span.begin_ns + duration_ns;
  engine_free = span.end_ns;
  state(stream).end_ns = span.end_ns;
  first_begin_ = any_ ? std::min(first_begin_, span.begin_ns) : span.begin_ns;
  last_end_ = std::max(last_end_, span.end_ns);
  any_ = true;
  if (blocking) now_ = std::max(now_, span.end_ns);
  return span;
}

void Timeline::synchronize() {
  now_ = std::max({now_, default_.end_ns, destroyed_end_});
  for (const auto& [id, s] : streams_) now_ = std::max(now_, s.end_ns);
}

void Timeline::synchronize(Stream stream) {
  now_ = std::max(now_, ready_time(stream));
}

bool Timeline::idle(Stream stream) const {
  return ready_time(stream) <= now_;
}

void Timeline::reset() {
  synchronize();
  streams_.clear();
  events_.clear();
}

Timeline::Event Timeline::create_event() {
  const Event id = next_event_++;
  events_.emplace(id, std::nullopt);
  return id;
}

bool Timeline::destroy_event(Event event) {
  return events_.erase(event) != 0;
}

// An event completes when everything before it on its stream has; on an idle stream that is now.
void Timeline::record(Event event, Stream stream) {
  events_.at(event) = std::max(now_, ready_time(stream));
}

void Timeline::wait(Stream stream, Event event) {
  const std::optional<double>& time = events_.at(event);
  if (time) state(stream).end_ns = std::max(state(stream).end_ns, *time);
}

void Timeline::synchronize_event(Event event) {
  const std::optional<double>& time = events_.at(event);
  if (time) now_ = std::max(now_, *time);
}

std::optional<double> Timeline::event_time(Event event) const {
  const auto it = events_.find(event);
  return it == events_.end() ? std::nullopt : it->second;
}

}  // namespace simtlab::gpu
