#include "corun/live/core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace simtlab::corun::live {
namespace {

// Names go into logs and onto terminals.
std::string printable(std::string text) {
  for (char& c : text)
    if (c <= ' ' || c > '~') c = '?';
  return text.empty() ? "?" : text;
}

corun::LaunchShape shape_of(const Request& m, std::uint32_t code_shared_bytes) {
  return {{m.grid[0], m.grid[1], m.grid[2]},
          {m.block[0], m.block[1], m.block[2]},
          std::uint64_t{m.shared_bytes} + code_shared_bytes};
}

}  // namespace

Core::Core(const corun::Policy& policy, const corun::Settings& settings, const Caps& caps,
           FindProfile find_profile, Identify identify)
    : caps_(caps),
      identify_(std::move(identify)),
      scheduler_(policy, settings, [this](std::string_view line) { keep_line(line); }),
      kernels_(scheduler_, std::move(find_profile), caps.names),
      results_(kernels_) {}

ClientId Core::connect(std::int32_t pid, std::uint64_t) {
  ++totals_.connections;
  if (clients_.size() >= caps_.clients) {
    ++totals_.refused;
    return 0;
  }
  const ClientId id = next_client_++;
  clients_[id].pid = pid;
  return id;
}

bool Core::greeted(ClientId client) const {
  const auto at = clients_.find(client);
  return at != clients_.end() && at->second.greeted;
}

void Core::receive(ClientId id, const Message& message, std::uint64_t now_ns) {
  const auto at = clients_.find(id);
  if (at == clients_.end()) return;  // it has been refused; what it sent before it knew is of no interest
  if (!at->second.greeted && !std::holds_alternative<Hello>(message))
    return refuse(id, Refusal::out_of_order, "a message before Hello", now_ns);
  back(id, now_ns);
  std::visit([&](const auto& m) { on(id, at->second, m, now_ns); }, message);
  decide(now_ns);
}

void Core::noted(ClientId id, const Message& message, std::uint64_t now_ns) {
  receive(id, message, now_ns);
  const auto* request = std::get_if<Request>(&message);
  if (request == nullptr || !clients_.contains(id)) return;
  const Grant* grant =
      out_.empty() || out_.back().client != id ? nullptr : std::get_if<Grant>(&out_.back().message);
  if (grant == nullptr || grant->sequence != request->sequence)
    return refuse(id, Refusal::out_of_order, "a launch that was not let go", now_ns);
  out_.pop_back();  // it knows
}

std::vector<ClientId> Core::may_go() const {
  std::vector<ClientId> out;
  if (scheduler_.waiting() != 0) return out;
  std::uint32_t used = scheduler_.used_slots();
  // One that runs something in a slot goes again only after its end, so that needs no further one.
  for (const ClientId id : recent_) {
    if (clients_.at(id).passed) continue;
    const std::uint32_t more = clients_.at(id).running == clients_.at(id).slotless;
    if (used + more > scheduler_.all_go()) continue;
    used += more;
    out.push_back(id);
  }
  return out;
}

void Core::launches_now(ClientId id, const Client& client) {
  if (!client.shares || (!recent_.empty() && recent_.front() == id)) return;
  const auto at = std::ranges::find(recent_, id);
  if (at != recent_.end())
    recent_.erase(at);
  else if (recent_.size() == most_recent)
    recent_.pop_back();
  recent_.insert(recent_.begin(), id);
}

void Core::refuse(ClientId id, Refusal reason, const std::string& why, std::uint64_t now_ns) {
  if (!clients_.contains(id)) return;
  ++totals_.refused;
  out_.push_back({id, Refused{reason, why}, true});
  drop(id, now_ns);
}

void Core::disconnect(ClientId id, std::uint64_t now_ns) {
  if (clients_.contains(id)) drop(id, now_ns);
}

// Its slots are free at once. What it had launched may still run on the GPU to its end.
void Core::drop(ClientId id, std::uint64_t now_ns) {
  Client& client = clients_.at(id);
  for (const auto& [sequence, pending] : client.pending) {
    launches_.erase(pending.launch);
    if (!pending.granted) {
      ++totals_.cancelled, --totals_.waiting;
      waits(client, -1);
      continue;
    }
    ++totals_.lost, ++client.work.lost;
    count_down(pending);
    tell(id, client, pending, {}, now_ns, true, false);
  }
  if (client.joined) scheduler_.leave(now_ns, id);
  if (client.work.grants != 0) results_.left(client.number, client.work);
  std::erase(recent_, id);
  clients_.erase(id);
  decide(now_ns);
}

void Core::on(ClientId id, Client& client, const Hello& m, std::uint64_t now_ns) {
  if (client.greeted) return refuse(id, Refusal::out_of_order, "a second Hello", now_ns);
  if (m.first_version > protocol_version || m.last_version < protocol_version)
    return refuse(id, Refusal::version, fmt::format("the daemon speaks version {}", protocol_version),
                  now_ns);
  client.greeted = true;
  client.shares = m.shares;
  client.program = printable(m.program);
  client.priority = m.priority;
  out_.push_back({id, Welcome{protocol_version, id, caps_.waiting}});
}

void Core::on(ClientId id, Client& client, const Register& m, std::uint64_t now_ns) {
  if (m.kernel != client.kernels.size())
    return refuse(id, Refusal::out_of_order, "kernels are numbered from 0 in steps of 1", now_ns);
  if (client.kernels.size() >= caps_.kernels)
    return refuse(id, Refusal::no_memory, fmt::format("more than {} kernels", caps_.kernels), now_ns);
  if (!client.joined) join(id, client, now_ns);
  client.kernels.push_back({printable(m.name), m.registers, m.shared_bytes, {}});
}

// One that only asks for statistics is no application.
void Core::join(ClientId id, Client& client, std::uint64_t now_ns) {
  client.joined = true;
  scheduler_.join(now_ns, id, client.priority);
  ProgramIdentity identity{client.program, {}};
  if (identify_)
    if (const ProgramIdentity known = identify_(client.pid, client.program); !known.name.empty())
      identity = {printable(known.name), known.content};
  client.program = identity.name;
  client.number = kernels_.program(identity);
}

corun::KernelId Core::kernel_of(Client& client, const Request& m, std::uint64_t now_ns) {
  Kernel& kernel = client.kernels[m.kernel];
  if (m.unit == Unit::graph) return kernels_.of(client.number, kernel.name, std::nullopt, now_ns);
  const corun::LaunchShape shape = shape_of(m, kernel.shared_bytes);
  if (const auto known = kernel.shapes.find(shape); known != kernel.shapes.end()) return known->second;
  const corun::KernelId id = kernels_.of(client.number, kernel.name, shape, now_ns);
  if (client.shapes < caps_.shapes) kernel.shapes.emplace(shape, id), ++client.shapes;
  return id;
}

void Core::on(ClientId id, Client& client, const Request& m, std::uint64_t now_ns) {
  if (m.sequence <= client.last_sequence)
    return refuse(id, Refusal::out_of_order, "the numbers of requests only grow", now_ns);
  if (m.kernel >= client.kernels.size())
    return refuse(id, Refusal::out_of_order, "a request for a kernel that was not registered", now_ns);
  if (client.waiting >= caps_.waiting || client.running >= caps_.waiting)
    return refuse(id, Refusal::too_many, fmt::format("more than {} requests wait or run", caps_.waiting),
                  now_ns);
  ++totals_.requests;
  ++totals_.waiting;
  ++client.waiting;
  waits(client, 1);
  launches_now(id, client);
  client.last_sequence = m.sequence;
  client.last_kernel = m.kernel;
  Pending& pending = client.pending[m.sequence];
  pending.asked_ns = now_ns;
  if (gpu.clock) pending.device_asked_ns = gpu.clock();
  pending.what = m;
  pending.device = device_number(m.device);
  pending.kernel = kernel_of(client, m, now_ns);
  pending.launch = scheduler_.launch(now_ns, id, m.stream, pending.kernel, 1, pending.device);
  launches_[pending.launch] = {id, m.sequence};
}

// Devices count in the order of their coming. Beyond what the scheduler can keep apart they share the last
// number.
std::uint32_t Core::device_number(std::uint32_t id) {
  const auto known = std::ranges::find(device_ids_, id);
  if (known == device_ids_.end() && device_ids_.size() == corun::Scheduler::most_devices)
    return corun::Scheduler::most_devices - 1;
  const auto number = static_cast<std::uint32_t>(known - device_ids_.begin());
  if (known == device_ids_.end()) device_ids_.push_back(id);
  return number;
}

// A number that is not known is late, not wrong: the request was cancelled.
void Core::on(ClientId id, Client& client, const Done& m, std::uint64_t now_ns) {
  const auto at = client.pending.find(m.sequence);
  if (at == client.pending.end()) return;
  if (!at->second.granted)
    return refuse(id, Refusal::out_of_order, "the end of a launch that was not granted", now_ns);
  ++totals_.done;
  ++client.work.done;
  client.work.gpu_ns += m.gpu_ns;
  const corun::KernelId kernel = at->second.kernel;
  if (m.gpu_ns != 0) {
    Work::Ran& ran = client.work.kernels[kernel];
    ++ran.launches, ran.gpu_ns += m.gpu_ns;
  }
  const bool alone = !m.failed && m.gpu_ns != 0 && totals_.passed == 0 && at->second.alone_since != 0 &&
                     at->second.alone_since == scheduler_.grants(at->second.device);
  const std::int32_t pid = client.pid;
  finish(id, client, m, now_ns, false, alone);
  corun::Profile seen;
  if (gpu.profile && !m.failed && m.end_ns != 0)
    if (const std::optional<corun::Profile> told = gpu.profile(pid, m.begin_ns, m.end_ns)) seen = *told;
  seen.time_ns = static_cast<double>(m.gpu_ns);
  kernels_.learn(kernel, seen, alone, now_ns);
}

void Core::on(ClientId id, Client& client, const Cancel& m, std::uint64_t now_ns) {
  const auto at = client.pending.find(m.sequence);
  if (at == client.pending.end()) return;
  ++totals_.cancelled;
  // The grant and the cancel met on their way
  if (at->second.granted) return finish(id, client, {m.sequence}, now_ns, true);
  scheduler_.cancel(now_ns, at->second.launch);
  launches_.erase(at->second.launch);
  client.pending.erase(at);
  --client.waiting, --totals_.waiting;
  waits(client, -1);
}

void Core::on(ClientId id, Client&, const Bye&, std::uint64_t now_ns) {
  out_.push_back({id, Bye{}, true});
  drop(id, now_ns);
}

void Core::on(ClientId id, Client&, const StatsRequest& m, std::uint64_t now_ns) {
  out_.push_back({id, stats(m.first, now_ns)});
}
void Core::on(ClientId id, Client&, const LogRequest& m, std::uint64_t) { out_.push_back({id, log(m.from)}); }
void Core::on(ClientId id, Client&, const ApplicationsRequest& m, std::uint64_t) {
  out_.push_back({id, applications(m.first)});
}

namespace {

// A value of an Adjust, and what it would be at the daemon's start.
struct Parameter {
  const char* option;
  bool given, possible;
};

bool within(const std::optional<double>& value, double most) {
  return !value || (*value > 0 && *value <= most);  // what is no number is neither
}

// Why the message can't be followed; empty: it can.
std::string problem_of(const Adjust& m, const corun::Policy& policy) {
  constexpr double most_cap = 1e15;                            // bytes/s
  constexpr std::uint64_t most_turn = std::uint64_t{1} << 60;  // ns: 36 years
  const Parameter parameters[] = {
      {"--light", m.light.has_value(), true},
      {"--aging", m.aging.has_value(), true},
      {"--quantum", m.quantum_ns.has_value(), m.quantum_ns.value_or(0) <= most_turn},
      {"--l2-cap", m.l2_cap.has_value(), within(m.l2_cap, most_cap)},
      {"--dram-cap", m.dram_cap.has_value(), within(m.dram_cap, most_cap)},
      {"--memory-class", m.memory_class.has_value(),
       !m.memory_class || (*m.memory_class >= 0 && *m.memory_class <= 1)},
      {"--best-effort", m.best_effort.has_value(), true}};
  for (const Parameter& p : parameters) {
    if (p.given && !corun::looks_at(policy, p.option))
      return fmt::format("{} has no effect on {}", p.option, policy.name);
    if (!p.possible) return fmt::format("the value of {} is impossible", p.option);
  }
  return m.limit && *m.limit == 0 ? "a limit of 0 launches would let nothing run" : "";
}

}  // namespace

void Core::on(ClientId id, Client&, const Adjust& m, std::uint64_t now_ns) {
  const corun::Policy* policy = m.policy.empty() ? &scheduler_.policy() : corun::find_policy(m.policy);
  if (policy == nullptr)
    return refuse(id, Refusal::policy, fmt::format("there is no policy \"{}\"", printable(m.policy)), now_ns);
  if (const std::string problem = problem_of(m, *policy); !problem.empty())
    return refuse(id, Refusal::settings, problem, now_ns);
  corun::Settings s = scheduler_.settings();
  s.limit = m.limit.value_or(s.limit);
  if (m.light) s.light = m.light;
  s.best_effort = m.best_effort.value_or(s.best_effort);
  s.aging = m.aging.value_or(s.aging);
  s.quantum = m.quantum_ns.value_or(s.quantum);
  s.l2_cap = m.l2_cap.value_or(s.l2_cap);
  s.dram_cap = m.dram_cap.value_or(s.dram_cap);
  s.memory_class = m.memory_class.value_or(s.memory_class);
  Adjusted reply;
  reply.before = corun::policy_line(scheduler_.policy(), scheduler_.settings());
  scheduler_.set(now_ns, *policy, s);
  reply.now = corun::policy_line(scheduler_.policy(), scheduler_.settings());
  const bool changed = reply.now != reply.before;
  out_.push_back({id, std::move(reply)});
  if (!changed) return;
  ++totals_.adjusted;
  if (on_adjusted) on_adjusted(*policy, s);
}

void Core::count_down(const Pending& pending) { --(pending.passed ? totals_.passed : totals_.running); }

void Core::finish(ClientId id, Client& client, const Done& m, std::uint64_t now_ns, bool lost, bool alone) {
  const auto at = client.pending.find(m.sequence);
  const Pending pending = at->second;
  client.pending.erase(at);
  launches_.erase(pending.launch);
  --client.running;
  if (pending.passed) --client.slotless;
  count_down(pending);
  scheduler_.end(now_ns, pending.launch, m.gpu_ns);
  tell(id, client, pending, m, now_ns, lost, alone);
}

void Core::tell(ClientId id, const Client& client, const Pending& pending, const Done& m,
                std::uint64_t now_ns, bool lost, bool alone) const {
  if (!on_span) return;
  const Kernel& kernel = client.kernels[pending.what.kernel];
  Span span;
  span.client = id, span.pid = client.pid;
  span.program = client.program, span.kernel = kernel.name;
  span.stream = pending.what.stream, span.sequence = pending.what.sequence;
  span.asked_ns = pending.asked_ns, span.granted_ns = pending.granted_ns, span.ended_ns = now_ns;
  span.gpu_ns = m.gpu_ns, span.lost = lost, span.alone = alone;
  span.identity = kernels_.identity(client.number);
  span.shape = shape_of(pending.what, kernel.shared_bytes);
  span.registers = kernel.registers;
  span.on_device = gpu.clock != nullptr;
  span.device_begin_ns = m.begin_ns, span.device_end_ns = m.end_ns;
  // Lost, or failed
  if (span.on_device && m.end_ns == 0)
    span.device_begin_ns = pending.device_asked_ns, span.device_end_ns = gpu.clock();
  // What is noted without asking is seen later
  span.device_asked_ns = std::min(pending.device_asked_ns, span.device_begin_ns);
  on_span(span);
}

void Core::decide(std::uint64_t now_ns) {
  for (const corun::Grant& grant : scheduler_.decide()) {
    const Place place = launches_.at(grant.sequence);
    Client& client = clients_.at(place.client);
    Pending& pending = client.pending.at(place.sequence);
    SIMTLAB_ASSERT(!pending.granted, "a launch is granted once");
    pending.granted = true;
    pending.granted_ns = now_ns;
    pending.alone_since =
        scheduler_.runs_alone(pending.device) && totals_.passed == 0 ? scheduler_.grants(pending.device) : 0;
    --client.waiting, --totals_.waiting;
    waits(client, -1);
    ++client.running, ++totals_.running;
    ++client.work.grants, ++totals_.grants;
    client.work.waited_ns += gpu.clock ? gpu.clock() - pending.device_asked_ns : now_ns - pending.asked_ns;
    out_.push_back({place.client, Grant{place.sequence, 0}});
  }
}

void Core::keep_line(std::string_view line) {
  if (on_decision) on_decision(line);
  ++totals_.decisions;
  lines_.emplace_back(line);
  if (lines_.size() > caps_.log_lines) lines_.pop_front(), ++first_line_;
}

}  // namespace simtlab::corun::live
