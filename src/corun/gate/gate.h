// The gate inside a program that `simtlab corun exec` started: every launch asks the daemon, and its end is
// told.
//
// Loaded by LD_PRELOAD before anything else of the program, so nothing here runs before the first launch,
// except for the registration of what happens at a fork. One thread of ours, with all signals blocked, asks
// events whether launches have ended; a thread that launches asks for those of its stream itself first, which
// is sooner than being woken.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "corun/gate/events.h"
#include "corun/live/client.h"
#include "corun/live/tally.h"

namespace simtlab::corun::gate {

struct Shape {
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  corun::live::Unit unit = corun::live::Unit::kernel;
};

// What a stream handle stands for.
struct Stream {
  std::uint64_t key = 0;   // of the daemon's order
  void* handle = nullptr;  // for calls without _ptsz
};
Stream stream_of(void* handle, bool per_thread);  // of the first device
// Default streams of two devices are two streams.
void set_device(Stream& stream, std::uint32_t ordinal);

class Gate {
 public:
  static Gate& get();  // never destroyed
  bool enabled() const { return enabled_; }

  // Names of kernels, by what the program launches them with.
  void name(const void* function, const char* kernel);
  void same(const void* function, const void* as);  // another handle of a function that has a name
  // api: asks what the kernel's code takes, once; null: it is none.
  std::uint32_t kernel_of(const void* function, const char* otherwise, const EventApi* api);

  struct Flight {
    corun::live::Client::Ticket ticket;
    const EventApi* api = nullptr;
    std::uintptr_t place = 0;
    std::uint64_t stream = 0;               // its key
    void *start = nullptr, *end = nullptr;  // null: cannot be followed
  };
  // Waits for the grant; false: it goes ungated, which is counted, and nothing is to be told.
  bool enter(const EventApi& api, Stream stream, std::uint32_t kernel, const Shape& shape, Flight& flight);
  void leave(const Flight& flight, const Stream& stream, int code);

  void at_end();                        // of the process, by exit
  static bool made() { return made_; }  // a program that launches nothing has nothing to lock and to tell
  static void before_fork();
  static void after_fork(bool child);

 private:
  Gate();
  void lock_all();
  void unlock_all(bool child);
  bool take_events(Flight& flight);
  void give_events(const Flight& flight);
  void keep_events(const Flight& flight);
  void follow();
  void look_at_own(const Flight& next);
  bool look(const Flight& flight);

  static inline bool made_ = false;
  bool enabled_ = true;
  corun::live::Client client_;
  std::mutex names_mutex_;
  std::unordered_map<const void*, std::uint32_t> kernels_;
  std::unordered_map<const void*, std::string> pending_names_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Flight> flights_;
  bool following_ = false;
  struct Pair {
    const EventApi* api;
    std::uintptr_t place;
    void *start, *end;
  };
  std::vector<Pair> pool_;
};

corun::live::Tally& tally();

// Calls within a launch (the runtime calling the driver) pass, and are not counted.
inline bool& inside_a_launch() {
  thread_local bool inside = false;
  return inside;
}
// The code of a call of this thread that led nowhere, until cudaGetLastError has told it; 0: none.
inline int& failed_call() {
  thread_local int code = 0;
  return code;
}
// Notes libraries that find CUDA's functions before ours (symbol_lookup.cpp).
void look_into_own_scopes();

// The launch itself, gated.
template <typename Real>
int gated(const EventApi& api, const Stream& stream, const void* function, const char* otherwise,
          const Shape& shape, Real&& real) {
  bool& inside = inside_a_launch();
  if (inside) return real();
  Gate& gate = Gate::get();
  if (!gate.enabled()) {
    tally().not_gated(corun::live::Ungated::off);
    return real();
  }
  inside = true;
  Gate::Flight flight;
  int code = 0;
  if (gate.enter(api, stream,
                 gate.kernel_of(function, otherwise, shape.unit == corun::live::Unit::graph ? nullptr : &api),
                 shape, flight)) {
    code = real();
    gate.leave(flight, stream, code);
  } else {
    code = real();
  }
  inside = false;
  return code;
}

// A launch that cannot be gated, and is counted.
template <typename Real>
int ungated(corun::live::Ungated why, std::uint64_t launches, Real&& real) {
  bool& inside = inside_a_launch();
  if (inside) return real();
  tally().not_gated(why, launches);
  inside = true;
  const int code = real();
  inside = false;
  return code;
}

}  // namespace simtlab::corun::gate
