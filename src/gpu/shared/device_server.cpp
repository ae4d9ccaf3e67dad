#include "gpu/shared/device_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "base/error.h"
#include "gpu/copy_time.h"
#include "result/json.h"

namespace simtlab::gpu::shared {
namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t cycles_at_once = 20000;  // before somebody is listened to
constexpr unsigned address_bits = 42;            // of a process: no device has more than 4 TiB

std::uint64_t real_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

Descriptor file_of(const std::string& text) {
  Descriptor file(::memfd_create("simtlab-result", MFD_CLOEXEC));
  for (std::size_t at = 0; file && at < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + at, text.size() - at);
    if (n <= 0) return {};
    at += static_cast<std::size_t>(n);
  }
  return file;
}

}  // namespace

DeviceServer::DeviceServer(const device::Device& device, DeviceOptions options)
    : device_(device),
      options_(std::move(options)),
      listener_(options_.directory, 512, device_socket),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      gpu_(make_gpu()) {
  if (!wake_)
    throw Error(ExitCode::failure, "corun-socket", fmt::format("eventfd: {}", std::strerror(errno)));
}

DeviceServer::~DeviceServer() {
  if (!under_way_.empty()) gpu_->partial();  // nothing of it may outlive the launches that it runs
}

std::unique_ptr<timing::CycleGpu> DeviceServer::make_gpu() const {
  timing::Options options;
  options.threads = options_.threads;
  options.interrupt = &interrupt_;
  return std::make_unique<timing::CycleGpu>(device_, options);
}

void DeviceServer::nudge() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void DeviceServer::stop() {
  interrupt_ = true;
  nudge();
}

std::uint64_t DeviceServer::cycle_of(double ns) const {
  const double cycles = (ns - period_ns_) * device_.sm_clock_hz / 1e9;
  return cycles <= 0      ? 0
         : cycles >= 1e18 ? ~std::uint64_t{0}
                          : static_cast<std::uint64_t>(std::ceil(cycles - 1e-6));
}

void DeviceServer::run() {
  int wait_ms = 0;
  while (!interrupt_) {
    std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}, {listener_.socket.get(), POLLIN, 0}};
    std::vector<Number> numbers;
    for (auto& [number, client] : clients_)
      fds.push_back({client.socket.get(), POLLIN, 0}), numbers.push_back(number);
    if (::poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR)
      throw Error(ExitCode::failure, "corun-socket", fmt::format("poll: {}", std::strerror(errno)));
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &ignored, sizeof ignored);
    if (fds[1].revents != 0) accept_all();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (fds[i + 2].revents != 0) hear(numbers[i], clients_.at(numbers[i]));
    for (const Number number : std::exchange(gone_, {})) lose(number);
    wait_ms = 1000;
    told_clock_ns_.store(clock_ns_, std::memory_order_relaxed);  // before anybody is answered
    if (deliver() || go_on(horizon(real_ns(), wait_ms))) wait_ms = 0;
  }
  counts_.clock_ns = clock_ns_;
}

void DeviceServer::accept_all() {
  for (;;) {
    Descriptor socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const Peer peer = peer_of(socket.get());
    if (peer.uid != ::geteuid() || clients_.size() >= options_.clients) continue;
    Client& client = clients_[next_client_++];
    client.socket = std::move(socket);
    client.pid = peer.pid;
    client.heard_ns = real_ns();
  }
}

void DeviceServer::hear(Number number, Client& client) {
  Packet packet;
  Descriptor file;
  const std::ptrdiff_t got = receive_packet(client.socket.get(), packet, &file);
  if (got == 0) return;
  const std::optional<Call> call = got > 0 ? record_of<Call>(packet) : std::nullopt;
  // A second call before the answer to the first is as wrong as bytes that are none.
  if (!call || client.in_call || std::isnan(call->ns)) return gone_.push_back(number);
  client.heard_ns = real_ns();
  client.given_up = false;
  on_call(number, client, *call, std::move(file));
}

void DeviceServer::on_call(Number number, Client& client, const Call& call, Descriptor file) {
  if (!client.opened && call.kind != Call::open) return gone_.push_back(number);
  switch (call.kind) {
    case Call::open:
      if (text_of(call.device) != device_.name)
        return refuse(client, fmt::format("it is a {}, and the program was told {}", device_.name,
                                          text_of(call.device)));
      client.opened = true;
      return answer(client, {.kind = Answer::opened});
    case Call::begin: return take_launch(number, client, call, std::move(file));
    case Call::advance:
      client.in_call = true;
      client.until_ns = call.ns;
      return;
    case Call::invalidate:
      gpu::written(*gpu_, device_, call.address + (number << address_bits), call.bytes);
      return answer(client, {.kind = Answer::done});
    case Call::clock: return answer(client, {.kind = Answer::done});
    case Call::give_up: forget_launches(number); return answer(client, {.kind = Answer::done});
    default: return gone_.push_back(number);
  }
}

void DeviceServer::take_launch(Number number, Client& client, const Call& call, Descriptor file) {
  if (!file) return refuse(client, "a launch without its record");
  try {
    Job job;
    job.reader = stream::trace::open(fmt::format("/proc/self/fd/{}", file.get()));
    for (std::optional<stream::trace::Operation> operation = job.reader->next(); operation && !job.recorded;
         operation = job.reader->next())
      if (operation->kind == stream::trace::OpKind::kernel)
        job.recorded = std::make_unique<stream::trace::ReplayedLaunch>(*job.reader, operation->kernel);
    if (!job.recorded) return refuse(client, "a record without a launch");
    job.launch = std::make_unique<stream::MovedLaunch>(*job.recorded, number << address_bits);
    timing::fit(device_, *job.launch, std::max(1u, job.launch->function().registers));
    job.id = next_job_++;
    job.owner = number;
    job.setup.priority = std::clamp(call.priority, 0, 5);
    if (call.sms <= device_.sm.count && call.first_sm <= device_.sm.count - call.sms)
      job.setup.first_sm = call.first_sm, job.setup.sms = call.sms;
    job.at_ns = call.ns;
    if (job.at_ns < clock_ns_) job.at_ns = clock_ns_, ++counts_.late;
    ++counts_.launches;
    Answer began{.kind = Answer::began};
    began.id = job.id;
    waiting_.push_back(std::move(job));
    answer(client, began);
  } catch (const Error& e) { refuse(client, e.what()); }
}

void DeviceServer::answer(Client& client, const Answer& answer, int pass) {
  Answer out = answer;
  out.clock_ns = clock_ns_;
  client.in_call = false;
  client.heard_ns = real_ns();
  // A program that asks one thing at a time has room for the answer; one that does not read is closed with
  // it.
  if (send_packet(client.socket.get(), bytes_of(out), pass) != Sent::yes)
    ::shutdown(client.socket.get(), SHUT_RDWR);
}

void DeviceServer::refuse(Client& client, const std::string& why) {
  Answer failed{.kind = Answer::failed};
  set_text(failed.text, why);
  ++counts_.failed;
  answer(client, failed);
}

void DeviceServer::lose(Number number) {
  forget_launches(number);
  clients_.erase(number);
}

// What runs goes on to its end, as on a real GPU; nobody will hear of it.
void DeviceServer::forget_launches(Number number) {
  counts_.orphaned += static_cast<std::uint64_t>(std::ranges::count(under_way_, number, &Job::owner)) +
                      std::erase_if(waiting_, [&](const Job& job) { return job.owner == number; });
  for (Job& job : under_way_)
    if (job.owner == number) job.owner = 0;
  clients_.at(number).finished.clear();
}

// Answers to programs that wait for what has happened. True: somebody may go on.
bool DeviceServer::deliver() {
  bool any = false;
  for (auto& [number, client] : clients_) {
    if (!client.in_call) continue;
    if (!client.finished.empty()) {
      const Finished finished = std::move(client.finished.front());
      client.finished.pop_front();
      answer(client, finished.answer, finished.result.get());
      any = true;
    } else if (client.until_ns <= clock_ns_) {
      answer(client, {.kind = Answer::reached});
      any = true;
    }
  }
  return any;
}

// How far time may go: nobody can ask for anything before that. wait_ms: until somebody's patience ends.
double DeviceServer::horizon(std::uint64_t real, int& wait_ms) {
  double out = forever;
  bool wanted = false;
  for (auto& [number, client] : clients_) {
    if (client.in_call) {
      wanted = true;
      out = std::min(out, client.until_ns);
      continue;
    }
    if (options_.waits_at_gate && options_.waits_at_gate(client.pid)) continue;
    const std::uint64_t silent = real - client.heard_ns;
    if (silent >= options_.patience_ns) {
      if (!std::exchange(client.given_up, true)) ++counts_.impatient;
      continue;
    }
    out = std::min(out, clock_ns_);
    wait_ms = std::min(wait_ms, static_cast<int>((options_.patience_ns - silent) / 1'000'000 + 1));
  }
  return wanted ? out : clock_ns_;
}

void DeviceServer::begin_those_due() {
  // In the order of their times, then of their coming.
  std::ranges::stable_sort(waiting_, {}, &Job::at_ns);
  while (!waiting_.empty() && waiting_.front().at_ns <= clock_ns_ && !gpu_->full()) {
    if (gpu_->idle()) period_ns_ = clock_ns_;
    under_way_.push_back(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
    Job& job = under_way_.back();
    job.timing_id =
        gpu_->begin(*job.launch, job.setup, std::max(gpu_->idle() ? 0 : gpu_->clock(), cycle_of(clock_ns_)));
  }
}

// False: nothing to do before somebody speaks.
bool DeviceServer::go_on(double horizon_ns) {
  if (!(horizon_ns > clock_ns_)) return false;
  try {
    begin_those_due();
    double next = horizon_ns;
    if (!waiting_.empty() && !gpu_->full())
      next = std::min(next, std::max(clock_ns_, waiting_.front().at_ns));
    if (gpu_->idle()) {
      if (next == forever) return false;
      clock_ns_ = std::max(clock_ns_, next);
      return true;
    }
    const std::uint64_t until =
        std::min(cycle_of(next), std::max(gpu_->clock(), cycle_of(clock_ns_)) + cycles_at_once);
    if (const auto ended = gpu_->advance(until)) end(*ended);
    // The GPU's own clock stays at the last event: nothing happens from there to 'until', whose cycle may
    // begin a rounding error before 'next'.
    else
      clock_ns_ = std::max(clock_ns_, until == cycle_of(next) ? next : std::min(time_of(until), next));
    clock_ns_ = std::max(clock_ns_, std::min(time_of(gpu_->idle() ? 0 : gpu_->clock()), horizon_ns));
  } catch (const std::exception& e) {
    if (!interrupt_) fail_all(e.what());
  }
  return true;
}

void DeviceServer::end(timing::CycleGpu::Id id) {
  timing::CycleGpu::Ended ended = gpu_->finish(id);
  const auto at = std::ranges::find(under_way_, id, &Job::timing_id);
  Finished finished;
  finished.answer.kind = Answer::ended;
  finished.answer.id = at->id;
  finished.answer.begin_ns = time_of(ended.begin);
  finished.answer.end_ns = finished.answer.begin_ns + ended.result.metrics.get("gpu.time").value_or(0);
  clock_ns_ = std::max(clock_ns_, finished.answer.end_ns);
  const auto owner = clients_.find(at->owner);
  under_way_.erase(at);
  ++counts_.ended;
  if (owner == clients_.end()) return;
  if (options_.on_ended)
    options_.on_ended(owner->second.pid, finished.answer.begin_ns, finished.answer.end_ns, ended.result);
  result::Result result;
  result.kernels.push_back(std::move(ended.result));
  finished.result = file_of(result::to_json(result));
  owner->second.finished.push_back(std::move(finished));
}

// A record that turned out to be broken, or a fault of ours: what ran is given up, and the GPU begins anew.
void DeviceServer::fail_all(const std::string& why) {
  gpu_->partial();
  for (const Job& job : under_way_)
    if (const auto owner = clients_.find(job.owner); owner != clients_.end()) {
      Finished failed;
      failed.answer.kind = Answer::failed;
      set_text(failed.answer.text, why);
      owner->second.finished.push_back(std::move(failed));
    }
  counts_.failed += under_way_.size();
  under_way_.clear();
  gpu_ = make_gpu();
}

}  // namespace simtlab::gpu::shared
