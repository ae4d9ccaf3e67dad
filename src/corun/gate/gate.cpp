#include "corun/gate/gate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>

namespace simtlab::corun::gate {
namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

corun::live::ClientOptions options() {
  corun::live::ClientOptions out;
  out.directory = corun::live::default_directory();
  out.program = program_invocation_short_name;
  out.priority = static_cast<std::int32_t>(std::strtol(environment("SIMTLAB_CORUN_PRIORITY"), nullptr, 10));
  out.strict = std::strcmp(environment("SIMTLAB_CORUN_STRICT"), "1") == 0;
  out.wait_limit_ns = std::strtoull(environment("SIMTLAB_CORUN_WAIT_LIMIT_MS"), nullptr, 10) * 1'000'000;
  return out;
}

constexpr std::uint64_t per_thread_key = std::uint64_t{1} << 63;

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> next{0};
  thread_local const std::uint64_t mine = next++;
  return mine;
}

void nap(long nanoseconds) {
  const timespec time{0, nanoseconds};
  ::nanosleep(&time, nullptr);
}

// As long as it lives, calls of this thread do no harm to streams that are captured.
class Relaxed {
 public:
  explicit Relaxed(const EventApi& api) : api_(api) {
    if (api_.capture_mode != nullptr) api_.capture_mode(&mode_);
  }
  ~Relaxed() {
    if (api_.capture_mode != nullptr) api_.capture_mode(&mode_);
  }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  const EventApi& api_;
  int mode_ = 2;
};

}  // namespace

// CUDA's handles: 0 the default stream of the kind that the program was compiled for, 1 the legacy one, 2
// that of the calling thread.
Stream stream_of(void* handle, bool per_thread) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 2 || (number == 0 && per_thread))
    return {per_thread_key | thread_number(), reinterpret_cast<void*>(std::uintptr_t{2})};
  if (number <= 1) return {0, handle};
  return {number, handle};
}

void set_device(Stream& stream, std::uint32_t ordinal) {
  constexpr unsigned shift = 48;
  if ((stream.key & per_thread_key) != 0)
    stream.key |= std::uint64_t{ordinal & 0x7fff} << shift;
  else if (stream.key == 0)
    stream.key = ordinal & 0xff;  // no handle is that small
}

Gate& Gate::get() {
  static Gate* gate = new Gate;
  return *gate;
}

Gate::Gate() : enabled_(std::strcmp(environment("SIMTLAB_CORUN"), "off") != 0), client_(options()) {
  made_ = true;
}

void Gate::name(const void* function, const char* kernel) {
  if (!enabled_ || kernel == nullptr) return;
  const std::lock_guard lock(names_mutex_);
  pending_names_[function] = kernel;
  kernels_.erase(function);  // a library that was unloaded may have had the address before
}

void Gate::same(const void* function, const void* as) {
  if (!enabled_) return;
  const std::lock_guard lock(names_mutex_);
  if (const auto named = pending_names_.find(as); named != pending_names_.end()) {
    pending_names_[function] = named->second;
    kernels_.erase(function);
  }
}

std::uint32_t Gate::kernel_of(const void* function, const char* otherwise, const EventApi* api) {
  bool unnamed = false;
  {
    const std::lock_guard lock(names_mutex_);
    if (const auto known = kernels_.find(function); known != kernels_.end()) return known->second;
    unnamed = !pending_names_.contains(function);
  }
  // Without the lock: the runtime may load the code for it, and name functions meanwhile.
  std::uint32_t registers = 0, shared_bytes = 0;
  if (api != nullptr) {
    const Relaxed relaxed(*api);
    if (!api->code(function, registers, shared_bytes)) {
      registers = shared_bytes = 0;
      api->forget_error();
    }
    if (const char* const told = unnamed ? api->name(function) : nullptr; told != nullptr) otherwise = told;
  }
  const std::lock_guard lock(names_mutex_);
  if (const auto known = kernels_.find(function); known != kernels_.end()) return known->second;
  const auto named = pending_names_.find(function);
  const std::uint32_t kernel = client_.kernel(
      named != pending_names_.end() ? named->second.c_str() : otherwise, registers, shared_bytes);
  kernels_.emplace(function, kernel);
  return kernel;
}

bool Gate::enter(const EventApi& api, Stream stream, std::uint32_t kernel, const Shape& shape,
                 Flight& flight) {
  // A launch into a graph runs later, and nothing may wait while a stream is captured. A stream that cannot
  // say so is left alone.
  int status = 0;
  if (api.capturing != nullptr) {
    if (api.capturing(stream.handle, &status) != 0) {
      api.forget_error();
      tally().not_gated(corun::live::Ungated::no_capture_state);
      return false;
    }
    if (status != 0) return false;  // the graph's launch is what counts
  }
  flight.api = &api;
  flight.place = api.place();
  const EventApi::Device device = api.device(flight.place);
  set_device(stream, device.ordinal);
  corun::live::Request request;
  request.stream = stream.key;
  request.kernel = kernel;
  std::copy_n(shape.grid, 3, request.grid);
  std::copy_n(shape.block, 3, request.block);
  request.shared_bytes = shape.shared_bytes;
  request.unit = shape.unit;
  request.device = device.id;
  flight.stream = stream.key;
  look_at_own(flight);
  flight.ticket = client_.gate(request);
  if (!flight.ticket) {
    tally().not_gated(flight.ticket.overdue ? corun::live::Ungated::overdue
                                            : corun::live::Ungated::no_daemon);
    return false;
  }
  tally().gated();
  if (!api.complete() || !take_events(flight)) return true;
  if (api.record(flight.start, stream.handle) != 0) {
    api.forget_error();
    give_events(flight);
    flight.start = flight.end = nullptr;
  }
  return true;
}

void Gate::leave(const Flight& flight, const Stream& stream, int code) {
  if (code != 0 || flight.end == nullptr || flight.api->record(flight.end, stream.handle) != 0) {
    if (code == 0 && flight.end != nullptr) flight.api->forget_error();
    if (flight.end != nullptr) give_events(flight);
    client_.done(flight.ticket, 0, code != 0);
    return;
  }
  const std::lock_guard lock(mutex_);
  flights_.push_back(flight);
  if (!following_) {
    following_ = true;
    // The program's signals are for the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { follow(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (flights_.size() == 1) wake_.notify_all();
}

bool Gate::take_events(Flight& flight) {
  {
    const std::lock_guard lock(mutex_);
    const auto free = std::ranges::find_if(
        pool_, [&](const Pair& p) { return p.api == flight.api && p.place == flight.place; });
    if (free != pool_.end()) {
      flight.start = free->start, flight.end = free->end;
      *free = pool_.back();
      pool_.pop_back();
      return true;
    }
  }
  const Relaxed capture(*flight.api);  // another stream of this thread may be captured
  if (flight.api->create(&flight.start, 0) == 0 && flight.api->create(&flight.end, 0) == 0) return true;
  flight.api->forget_error();
  flight.start = flight.end = nullptr;
  return false;
}

void Gate::give_events(const Flight& flight) {
  const std::lock_guard lock(mutex_);
  keep_events(flight);
}

void Gate::keep_events(const Flight& flight) {
  pool_.push_back({flight.api, flight.place, flight.start, flight.end});
}

// Whether it has ended; then that is told. An event that cannot be asked (the device was reset, the runtime
// is going) is one that no longer runs.
bool Gate::look(const Flight& flight) {
  const int code = flight.api->query(flight.end);
  if (code == not_ready) return false;
  float milliseconds = 0;
  std::uint64_t gpu_ns = 0;
  if (code == 0 && flight.api->elapsed(&milliseconds, flight.start, flight.end) == 0 && milliseconds > 0)
    gpu_ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(milliseconds) * 1e6));
  corun::live::Client::Span span;
  double begin_ns = 0, end_ns = 0;
  if (code == 0 && flight.api->span != nullptr &&
      flight.api->span(flight.start, flight.end, &begin_ns, &end_ns) == 0 && end_ns > begin_ns) {
    span = {static_cast<std::uint64_t>(std::llround(begin_ns)),
            static_cast<std::uint64_t>(std::llround(end_ns))};
    gpu_ns = static_cast<std::uint64_t>(std::llround(end_ns - begin_ns));
  }
  client_.done(flight.ticket, gpu_ns, false, span);
  if (code == 0) keep_events(flight);
  return true;
}

// In the place where this thread is already: a context of the program is not changed under it.
void Gate::look_at_own(const Flight& next) {
  const auto own = [&](const Flight& f) {
    return f.stream == next.stream && f.api == next.api && f.place == next.place;
  };
  const std::lock_guard lock(mutex_);
  if (std::ranges::none_of(flights_, own)) return;
  const Relaxed capture(*next.api);
  std::erase_if(flights_, [&](const Flight& f) { return own(f) && look(f); });
}

void Gate::follow() {
  ::prctl(PR_SET_TIMERSLACK, 1000UL);
  std::vector<const EventApi*> relaxed;
  unsigned idle = 0;
  for (;;) {
    std::unique_lock lock(mutex_);
    if (flights_.empty()) idle = 0;
    wake_.wait(lock, [&] { return !flights_.empty(); });
    std::size_t ended = 0;
    for (std::size_t i = 0; i < flights_.size();) {
      const Flight flight = flights_[i];
      // Queries must not spoil a capture that any thread of the program makes.
      if (std::ranges::find(relaxed, flight.api) == relaxed.end()) {
        relaxed.push_back(flight.api);
        if (int mode = 2; flight.api->capture_mode != nullptr) flight.api->capture_mode(&mode);
      }
      flight.api->go_to(flight.place);
      if (!look(flight)) {
        ++i;
      } else {
        ++ended;
        flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      lock.unlock();  // those who launch come in between
      lock.lock();
    }
    if (ended != 0 && flights_.empty()) wake_.notify_all();
    lock.unlock();
    if (ended != 0) {
      idle = 0;
    } else if (++idle > 200) {
      nap(50'000);  // a long kernel: its end may be seen this late
    } else if (idle > 20) {
      nap(2'000);
    } else {
      std::this_thread::yield();
    }
  }
}

// The last launches have ended, but perhaps nobody has seen it. A program that leaves launches behind does
// not wait for them.
void Gate::at_end() {
  if (!enabled_) return;
  {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(100), [&] { return flights_.empty(); });
  }
  client_.leave();
}

void Gate::before_fork() {
  if (!made_ || !get().enabled_) return;
  get().lock_all();
}

void Gate::after_fork(bool child) {
  if (!made_) return;
  if (get().enabled_) get().unlock_all(child);
}

// In the order in which the others take them: whoever looks at flights tells the client of their ends.
void Gate::lock_all() {
  names_mutex_.lock();
  mutex_.lock();
  client_.before_fork();
}

void Gate::unlock_all(bool child) {
  if (!child) {
    client_.after_fork_in_parent();
    mutex_.unlock();
    names_mutex_.unlock();
    return;
  }
  new (&mutex_) std::mutex;
  new (&wake_) std::condition_variable;
  client_.after_fork_in_child();
  new (&names_mutex_) std::mutex;
  flights_.clear();
  pool_.clear();  // events of a context that the child does not have
  following_ = false;
}

}  // namespace simtlab::corun::gate
