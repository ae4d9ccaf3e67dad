#include "gpu/schedule.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace simtlab::gpu {
namespace {

constexpr std::size_t index(Engine engine) { return static_cast<std::size_t>(engine); }
constexpr std::array engines = {Engine::none, Engine::copy_in, Engine::copy_out, Engine::within,
                                Engine::kernels};

// Whose turn it is: ready first, then submitted first.
bool sooner(const WorkPtr& a, const WorkPtr& b) {
  return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->number < b->number;
}

bool ended(const WorkPtr& work) { return work == nullptr || work->done; }

}  // namespace

// ---- what the host does

Schedule::Stream Schedule::create_stream(bool non_blocking, int priority) {
  const Stream id = next_stream_++;
  streams_.emplace(id, StreamState{nullptr, non_blocking, priority});
  return id;
}

bool Schedule::destroy_stream(Stream stream) {
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return false;
  std::erase_if(destroyed_, ended);
  if (!ended(it->second.last) && !it->second.non_blocking) destroyed_.push_back(it->second.last);
  streams_.erase(it);
  return true;
}

std::vector<WorkPtr> Schedule::before(Stream stream) const {
  std::vector<WorkPtr> out = {state(stream).last};
  if (stream != 0) {
    if (!state(stream).non_blocking) out.push_back(default_.last);
  } else {
    out.insert(out.end(), destroyed_.begin(), destroyed_.end());
    for (const auto& [id, s] : streams_)
      if (!s.non_blocking) out.push_back(s.last);
  }
  return out;
}

WorkPtr Schedule::add(Stream stream, Work what, const WorkPtr& also) {
  auto work = std::make_shared<Work>(std::move(what));
  work->number = submitted_++;
  work->ready_ns = now_;
  std::vector<WorkPtr> first = before(stream);
  first.push_back(also);
  for (const WorkPtr& other : first) {
    if (other == nullptr) continue;
    if (other->done) {
      work->ready_ns = std::max(work->ready_ns, other->end_ns);
    } else {
      other->followers.push_back(work);
      ++work->waits_for;
    }
  }
  StreamState& s = state(stream);
  s.last = work;
  if (work->engine != Engine::none && s.open != 0) {
    if (const auto open = events_.find(std::exchange(s.open, 0)); open != events_.end())
      open->second.next = work;
  }
  ++pending_;
  if (work->engine == Engine::kernels) ++kernels_pending_;
  if (work->waits_for == 0) ready_[index(work->engine)].push_back(work);
  return work;
}

WorkPtr Schedule::submit(Stream stream, Work what, double host_ns, bool blocking) {
  now_ += host_ns;
  WorkPtr work = add(stream, std::move(what));
  if (blocking) {
    wait_for(work);
  } else if (kernels_pending_ > most_kernels) {
    run_until([&] { return kernels_pending_ <= most_kernels; });
    now_ = std::max(now_, kernel_end_);
  }
  return work;
}

void Schedule::wait_for(const WorkPtr& work) {
  if (work == nullptr) return;
  run_until([&] { return work->done; });
  now_ = std::max(now_, work->end_ns);
}

void Schedule::run() {
  run_until([&] { return pending_ == 0; });
}

void Schedule::run_ready() {
  run_until([&] { return pending_ == 0 || (!kernels_.idle() && next_event() == forever); });
}

void Schedule::synchronize() {
  run();
  now_ = std::max(now_, latest_);
}

void Schedule::synchronize(Stream stream) {
  for (const WorkPtr& work : before(stream)) wait_for(work);
}

bool Schedule::idle(Stream stream) {
  const std::vector<WorkPtr> works = before(stream);
  run_until([&] { return std::ranges::all_of(works, ended); }, now_);
  return std::ranges::all_of(
      works, [&](const WorkPtr& work) { return work == nullptr || (work->done && work->end_ns <= now_); });
}

void Schedule::reset() {
  synchronize();
  streams_.clear();
  events_.clear();
  destroyed_.clear();
  default_ = {};
}

Schedule::Event Schedule::create_event() {
  const Event id = next_event_++;
  events_.emplace(id, EventState{});
  return id;
}

bool Schedule::destroy_event(Event event) { return events_.erase(event) != 0; }

// An event completes when everything before it on its stream has; on an idle stream that is now.
void Schedule::record(Event event, Stream stream) {
  events_.at(event) = {add(stream, {}), nullptr};
  state(stream).open = event;
}

void Schedule::wait(Stream stream, Event event) {
  if (const WorkPtr work = events_.at(event).work) add(stream, {}, work);
}

void Schedule::synchronize_event(Event event) { wait_for(events_.at(event).work); }

std::optional<double> Schedule::event_time(Event event) {
  const auto it = events_.find(event);
  if (it == events_.end() || it->second.work == nullptr) return std::nullopt;
  const WorkPtr work = it->second.work;
  run_until([&] { return work->done; });
  return work->end_ns;
}

std::optional<double> Schedule::next_begin(Event event) {
  const auto it = events_.find(event);
  if (it == events_.end() || it->second.next == nullptr) return std::nullopt;
  const WorkPtr work = it->second.next;
  run_until([&] { return work->done; });
  return work->begin_ns;
}

// ---- what the device does

// When the next ready operation of an engine can begin.
double Schedule::next_start(Engine engine) const {
  const std::vector<WorkPtr>& ready = ready_[index(engine)];
  if (ready.empty() || running_[index(engine)] != nullptr || (engine == Engine::kernels && kernels_.full()))
    return forever;
  return std::max((*std::ranges::min_element(ready, sooner))->ready_ns, free_at_[index(engine)]);
}

double Schedule::next_event() const {
  double next = forever;
  for (const Engine engine : engines) {
    next = std::min(next, next_start(engine));
    if (running_[index(engine)] != nullptr) next = std::min(next, running_[index(engine)]->end_ns);
  }
  return next;
}

void Schedule::run_until(const std::function<bool()>& reached, double until_ns) {
  try {
    while (!reached()) {
      const double next = next_event();
      if (!kernels_.idle()) {
        const bool full = kernels_.full();
        if (Work* work = kernels_.advance(std::min(next, until_ns))) {
          const auto at = kernels_running_.find(work);
          const WorkPtr kept = at->second;
          kernels_running_.erase(at);
          if (full) free_at_[index(Engine::kernels)] = kept->end_ns;  // the next one could not begin before
          end(kept);
          continue;
        }
      }
      if (next > until_ns) return;
      SIMTLAB_ASSERT(next < forever, "operations that wait have something to wait for");
      start_and_end(next);
    }
  } catch (...) {
    abandon();
    throw;
  }
}

// Everything that happens at `now`.
void Schedule::start_and_end(double now) {
  for (const Engine engine : engines) {
    WorkPtr& running = running_[index(engine)];
    if (running != nullptr && running->end_ns <= now) end(std::exchange(running, nullptr));
  }
  for (const Engine engine : engines) {
    while (next_start(engine) <= now) {
      std::vector<WorkPtr>& ready = ready_[index(engine)];
      const auto at = std::ranges::min_element(ready, sooner);
      const WorkPtr work = *at;
      ready.erase(at);
      work->begin_ns = std::max(work->ready_ns, free_at_[index(engine)]);
      work->end_ns = work->begin_ns + work->duration_ns;
      if (engine == Engine::kernels) {
        work->end_ns = work->begin_ns;
        if (kernels_.begin(*work, work->begin_ns)) {
          free_at_[index(engine)] = std::max(free_at_[index(engine)], work->end_ns);
          end(work);
        } else {
          kernels_running_.emplace(work.get(), work);
        }
      } else if (engine == Engine::none) {
        end(work);
      } else {
        free_at_[index(engine)] = work->end_ns;
        running_[index(engine)] = work;
      }
    }
  }
}

void Schedule::end(const WorkPtr& work) {
  if (work->effect) work->effect();
  work->effect = nullptr;
  work->kernel.reset();
  work->done = true;
  --pending_;
  if (work->engine == Engine::kernels) {
    --kernels_pending_;
    kernel_end_ = work->end_ns;
  }
  latest_ = std::max(latest_, work->end_ns);
  if (work->engine != Engine::none) {
    first_begin_ = any_ ? std::min(first_begin_, work->begin_ns) : work->begin_ns;
    last_end_ = std::max(last_end_, work->end_ns);
    any_ = true;
  }
  for (const WorkPtr& follower : std::exchange(work->followers, {})) {
    follower->ready_ns = std::max(follower->ready_ns, work->end_ns);
    if (--follower->waits_for == 0) ready_[index(follower->engine)].push_back(follower);
  }
}

// After a failure: what was submitted is given up. Streams and events keep working, as if all had ended now.
void Schedule::abandon() {
  kernels_.give_up();  // before the operations that it works on go
  const auto drop = [&](WorkPtr& work) {
    if (work == nullptr || work->done) return;
    work = nullptr;
  };
  drop(default_.last);
  for (auto& [id, s] : streams_) drop(s.last);
  for (auto& [id, event] : events_) drop(event.work), drop(event.next);
  destroyed_.clear();
  for (auto& ready : ready_) ready.clear();
  for (WorkPtr& running : running_) running = nullptr;
  kernels_running_.clear();
  pending_ = kernels_pending_ = 0;
  latest_ = std::max(latest_, now_);
}

}  // namespace simtlab::gpu
