// Simulated time of a host and one device: which operation of which stream runs when.
//
// The host submits operations and goes on; nothing happens until it has to wait for one (or asks for one).
// Then time on the device goes on from event to event until that one has ended, so that operations which may
// overlap do.
//
// Modelled: a host clock; streams that run their operations in order; the legacy default stream (0), which
// waits for all blocking streams and makes them wait for it; priorities; engines that take one operation at a
// time in the order in which they become ready (copies to the device, copies from it, copies and fills within
// it); kernels, as many at once as their engine takes; events; calls that block the host; a queue that holds
// most_kernels kernels before a launch waits. Deviates: D-GPU-2, D-GPU-3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace simtlab::gpu {

// None: takes no time
enum class Engine : std::uint8_t { kernels, copy_in, copy_out, within, none, count_ };

inline constexpr double forever = std::numeric_limits<double>::infinity();

// One operation on the device. Shared by streams and events, which know by it when their last one ended.
struct Work {
  std::uint64_t number = 0;
  Engine engine = Engine::none;
  double duration_ns = 0;           // not of kernels
  double ready_ns = 0;              // submitted, and all that it waits for has ended
  double begin_ns = 0, end_ns = 0;  // once it is done
  std::uint32_t waits_for = 0;      // operations before it that have not ended
  bool done = false;
  std::vector<std::shared_ptr<Work>> followers;
  std::function<void()> effect;  // happens at its end
  std::shared_ptr<void> kernel;  // what the kernel engine needs to know
};
using WorkPtr = std::shared_ptr<Work>;

// Runs kernels under the clock.
class KernelEngine {
 public:
  virtual ~KernelEngine() = default;
  virtual bool idle() const = 0;
  virtual bool full() const = 0;
  // The kernel may begin at that time. True: that is all, its end is known (work.end_ns is the beginning, if
  // nothing is said).
  virtual bool begin(Work& work, double at_ns) = 0;
  // Goes on until a kernel ends, which it returns with its times, or until `until_ns` (null).
  virtual Work* advance(double until_ns) = 0;
  // What is under way will not be asked for again.
  virtual void give_up() = 0;
};

class Schedule {
 public:
  using Stream = std::uint32_t;  // 0 = the legacy default stream
  using Event = std::uint32_t;
  static constexpr unsigned most_kernels = 1024;

  explicit Schedule(KernelEngine& kernels) : kernels_(kernels) {}

  Stream create_stream(bool non_blocking, int priority = 0);
  bool destroy_stream(Stream stream);  // false: unknown, or the default stream
  bool has_stream(Stream stream) const { return stream == 0 || streams_.contains(stream); }
  bool non_blocking(Stream stream) const { return state(stream).non_blocking; }
  int priority(Stream stream) const { return state(stream).priority; }  // higher is served first

  // Puts an operation on a stream. The host spends host_ns in the call; the operation cannot begin before
  // that. A blocking call ends on the host when the operation does. What effects and kernels throw comes out
  // of whatever makes time go on; then nothing is under way.
  WorkPtr submit(Stream stream, Work work, double host_ns, bool blocking);

  void synchronize();
  void synchronize(Stream stream);
  bool idle(Stream stream);                    // everything on it has ended by now
  bool idle() const { return pending_ == 0; }  // nothing was submitted that has not been simulated
  // Everything that was submitted takes effect, while the host's clock stands still.
  void run();
  // The same, but for kernels that wait for what somebody else is to write, and for what comes after them.
  void run_ready();
  std::uint64_t pending() const { return pending_; }
  bool only_default_stream() const { return streams_.empty() && destroyed_.empty(); }
  void reset();  // waits for everything; streams and events are gone

  Event create_event();
  bool destroy_event(Event event);
  bool has_event(Event event) const { return events_.contains(event); }
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);  // an event that was never recorded does not hold anything up
  void synchronize_event(Event event);
  std::optional<double> event_time(Event event);  // nullopt: never recorded, or unknown
  // When the first operation behind the event in its stream began; nullopt: there was none.
  std::optional<double> next_begin(Event event);

  double now_ns() const { return now_; }
  void host_has_waited_until(double ns) { now_ = std::max(now_, ns); }
  // From the beginning of the first operation to the end of the last; 0 if there was none.
  double span_ns() const { return any_ ? last_end_ - first_begin_ : 0.0; }

 private:
  struct StreamState {
    WorkPtr last;
    bool non_blocking = false;
    int priority = 0;
    Event open = 0;  // recorded last, and nothing has come behind it; 0: none
  };

  std::vector<WorkPtr> before(Stream stream) const;  // what an operation on the stream waits for
  WorkPtr add(Stream stream, Work work, const WorkPtr& also = nullptr);
  void wait_for(const WorkPtr& work);
  void run_until(const std::function<bool()>& reached, double until_ns = forever);
  double next_start(Engine engine) const;
  double next_event() const;
  void start_and_end(double now);
  void complete(Work& work);
  void end(const WorkPtr& work);
  void abandon();
  StreamState& state(Stream stream) { return stream == 0 ? default_ : streams_.at(stream); }
  const StreamState& state(Stream stream) const { return stream == 0 ? default_ : streams_.at(stream); }

  KernelEngine& kernels_;
  double now_ = 0;
  double first_begin_ = 0, last_end_ = 0, latest_ = 0, kernel_end_ = 0;
  bool any_ = false;
  StreamState default_;
  std::map<Stream, StreamState> streams_;
  struct EventState {
    WorkPtr work;  // null: never recorded
    WorkPtr next;  // the first operation behind it
  };
  std::map<Event, EventState> events_;
  // Last operations of streams that were destroyed: they still run to their end
  std::vector<WorkPtr> destroyed_;
  std::uint64_t submitted_ = 0, pending_ = 0, kernels_pending_ = 0;
  std::array<std::vector<WorkPtr>, static_cast<std::size_t>(Engine::count_)> ready_;
  std::array<WorkPtr, static_cast<std::size_t>(Engine::count_)> running_;  // not of kernels
  std::array<double, static_cast<std::size_t>(Engine::count_)> free_at_{};
  std::map<Work*, WorkPtr> kernels_running_;
  Stream next_stream_ = 1;
  Event next_event_ = 1;
};

}  // namespace simtlab::gpu
