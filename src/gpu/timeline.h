// Simulated time of a host and one device: when each operation of a stream starts and ends.
//
// Modelled: a host clock; streams that run their operations in order; the legacy default stream (0), which
// waits for all blocking streams and makes them wait for it; three engines that take one operation at a time
// (kernels, copies to the device, copies from it); events; calls that block the host. Deviates: kernels never
// overlap each other (D-GPU-1); device-to-device copies and fills use the kernel engine (D-GPU-2); the host's
// own work between calls takes no simulated time (D-GPU-3).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace simtlab::gpu {

enum class Engine : std::uint8_t { compute, copy_in, copy_out, count_ };

class Timeline {
 public:
  using Stream = std::uint32_t;  // 0 = the legacy default stream
  using Event = std::uint32_t;

  struct Span {
    double begin_ns = 0, end_ns = 0;
  };

  Stream create_stream(bool non_blocking);
  bool destroy_stream(Stream stream);  // false: unknown, or the default stream
  bool has_stream(Stream stream) const { return stream == 0 || streams_.contains(stream); }

  bool non_blocking(Stream stream) const { return state(stream).non_blocking; }

  // Puts an operation on a stream. The host spends host_ns in the call; the operation cannot begin before
  // that. A blocking call ends on the host when the operation does.
  Span submit(Stream stream, Engine engine, double duration_ns, double host_ns, bool blocking);

  void synchronize();
  void synchronize(Stream stream);
  bool idle(Stream stream) const;  // everything on it has ended by now

  void reset();                    // waits for everything; streams and events are gone

  Event create_event();
  bool destroy_event(Event event);
  bool has_event(Event event) const { return events_.contains(event); }
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);  // an event that was never recorded does not hold anything up
  void synchronize_event(Event event);
  std::optional<double> event_time(Event event) const;  // nullopt: never recorded, or unknown

  double now_ns() const { return now_; }
  // From the beginning of the first operation to the end of the last; 0 if there was none.
  double span_ns() const { return any_ ? last_end_ - first_begin_ : 0.0; }

 private:
  struct StreamState {
    double end_ns = 0;
    bool non_blocking = false;
  };

  double ready_time(Stream stream) const;
  StreamState& state(Stream stream) { return stream == 0 ? default_ : streams_.at(stream); }
  const StreamState& state(Stream stream) const { return stream == 0 ? default_ : streams_.at(stream); }

  double now_ = 0;
  double first_begin_ = 0, last_end_ = 0;
  bool any_ = false;
  StreamState default_;
  std::map<Stream, StreamState> streams_;
  std::map<Event, std::optional<double>> events_;
  std::array<double, static_cast<std::size_t>(Engine::count_)> engine_free_{};
  Stream next_stream_ = 1;
  Event next_event_ = 1;
  double destroyed_blocking_end_ = 0;  // work of streams that were destroyed still runs to its end
  double destroyed_end_ = 0;
};

}  // namespace simtlab::gpu
