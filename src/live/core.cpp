#include "live/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace simtlab::live {
namespace {

// Names go into logs and onto terminals.
std::string printable(std::string text) {
  for (char& c : text)
    if (c <= ' ' || c > '~') c = '?';
  return text.empty() ? "?" : text;
}

}  // namespace

Core::Core(const corun::Policy& policy, const corun::Settings& settings, const Caps& caps, FindProfile find_profile)
    : caps_(caps), find_profile_(std::move(find_profile)), scheduler_(policy, settings, [this](std::string_view line) { keep_line(line); }) {}

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
  if (at == clients_.end()) return;   // it has been refused; what it sent before it knew is of no interest
  if (!at->second.greeted && !std::holds_alternative<Hello>(message)) return refuse(id, Refusal::out_of_order, "a message before Hello", now_ns);
  std::visit([&](const auto& m) { on(id, at->second, m, now_ns); }, message);
  decide(now_ns);
}

void Core::noted(ClientId id, const Message& message, std::uint64_t now_ns) {
  receive(id, message, now_ns);
  const auto* request = std::get_if<Request>(&message);
  if (request == nullptr || !clients_.contains(id)) return;
  const Grant* grant = out_.empty() || out_.back().client != id ? nullptr : std::get_if<Grant>(&out_.back().message);
  if (grant == nullptr || grant->sequence != request->sequence) return refuse(id, Refusal::out_of_order, "a launch that was not let go", now_ns);
  out_.pop_back();   // it knows
}

std::vector<ClientId> Core::may_go() const {
  std::vector<ClientId> out;
  if (scheduler_.waiting() != 0) return out;
  std::uint32_t used = scheduler_.used_slots();
  // One that runs something goes again only after its end, so that needs no further slot.
  for (const ClientId id : recent_) {
    const std::uint32_t more = clients_.at(id).running == 0;
    if (used + more > scheduler_.all_go()) continue;
    used += more;
    out.push_back(id);
  }
  return out;
}

void Core::launches_now(ClientId id, const Client& client) {
  if (!client.shares || (!recent_.empty() && recent_.front() == id)) return;
  const auto at = std::ranges::find(recent_, id);
  if (at != recent_.end()) recent_.erase(at);
  else if (recent_.size() == most_recent) recent_.pop_back();
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
    ++(pending.granted ? totals_.lost : totals_.cancelled);
    --(pending.granted ? totals_.running : totals_.waiting);
    if (!pending.granted) waits(client, -1);
    launches_.erase(pending.launch);
    if (pending.granted) tell(id, client, pending, now_ns, 0, true, false);
  }
  if (client.joined) scheduler_.leave(now_ns, id);
  std::erase(recent_, id);
  clients_.erase(id);
  decide(now_ns);
}

void Core::on(ClientId id, Client& client, const Hello& m, std::uint64_t now_ns) {
  if (client.greeted) return refuse(id, Refusal::out_of_order, "a second Hello", now_ns);
  if (m.first_version > protocol_version || m.last_version < protocol_version)
    return refuse(id, Refusal::version, fmt::format("the daemon speaks version {}", protocol_version), now_ns);
  client.greeted = true;
  client.shares = m.shares;
  client.program = printable(m.program);
  out_.push_back({id, Welcome{protocol_version, id, caps_.waiting}});
}

void Core::on(ClientId id, Client& client, const Register& m, std::uint64_t now_ns) {
  if (m.kernel != client.kernels.size()) return refuse(id, Refusal::out_of_order, "kernels are numbered from 0 in steps of 1", now_ns);
  if (client.kernels.size() >= caps_.kernels) return refuse(id, Refusal::no_memory, fmt::format("more than {} kernels", caps_.kernels), now_ns);
  if (!client.joined) scheduler_.join(now_ns, id);   // one that only asks for statistics is no application
  client.joined = true;
  std::string name = printable(m.name);
  const auto known = names_.find(name);
  if (known != names_.end()) return client.kernels.push_back({known->second, std::move(name), m.registers, m.shared_bytes});
  if (names_.size() >= caps_.names) name = "(other kernels)";
  const std::optional<corun::Profile> profile = find_profile_ ? find_profile_(client.program, name) : std::nullopt;
  const corun::KernelId kernel = scheduler_.kernel(now_ns, name, profile ? &*profile : nullptr);
  names_.emplace(name, kernel);
  client.kernels.push_back({kernel, std::move(name), m.registers, m.shared_bytes});
}

void Core::on(ClientId id, Client& client, const Request& m, std::uint64_t now_ns) {
  if (m.sequence <= client.last_sequence) return refuse(id, Refusal::out_of_order, "the numbers of requests only grow", now_ns);
  if (m.kernel >= client.kernels.size()) return refuse(id, Refusal::out_of_order, "a request for a kernel that was not registered", now_ns);
  if (client.waiting >= caps_.waiting || client.running >= caps_.waiting)
    return refuse(id, Refusal::too_many, fmt::format("more than {} requests wait or run", caps_.waiting), now_ns);
  ++totals_.requests;
  ++totals_.waiting;
  ++client.waiting;
  waits(client, 1);
  launches_now(id, client);
  client.last_sequence = m.sequence;
  client.last_kernel = m.kernel;
  Pending& pending = client.pending[m.sequence];
  pending.asked_ns = now_ns;
  pending.what = m;
  pending.device = device_number(m.device);
  pending.launch = scheduler_.launch(now_ns, id, m.stream, client.kernels[m.kernel].id, 1, pending.device);
  launches_[pending.launch] = {id, m.sequence};
}

// Devices count in the order of their coming. Beyond what the scheduler can keep apart they share the last number.
std::uint32_t Core::device_number(std::uint32_t id) {
  const auto known = std::ranges::find(device_ids_, id);
  if (known == device_ids_.end() && device_ids_.size() == corun::Scheduler::most_devices) return corun::Scheduler::most_devices - 1;
  const auto number = static_cast<std::uint32_t>(known - device_ids_.begin());
  if (known == device_ids_.end()) device_ids_.push_back(id);
  return number;
}

// A number that is not known is late, not wrong: the request was cancelled.
void Core::on(ClientId id, Client& client, const Done& m, std::uint64_t now_ns) {
  const auto at = client.pending.find(m.sequence);
  if (at == client.pending.end()) return;
  if (!at->second.granted) return refuse(id, Refusal::out_of_order, "the end of a launch that was not granted", now_ns);
  ++totals_.done;
  ++client.done;
  client.gpu_ns += m.gpu_ns;
  const Kernel kernel = client.kernels[at->second.what.kernel];
  const bool alone = !m.failed && m.gpu_ns != 0 && at->second.alone_since != 0 && at->second.alone_since == scheduler_.grants(at->second.device);
  finish(id, client, m.sequence, now_ns, m.gpu_ns, false, alone);
  if (alone) learn(kernel, static_cast<double>(m.gpu_ns), now_ns);
}

void Core::on(ClientId id, Client& client, const Cancel& m, std::uint64_t now_ns) {
  const auto at = client.pending.find(m.sequence);
  if (at == client.pending.end()) return;
  ++totals_.cancelled;
  if (at->second.granted) return finish(id, client, m.sequence, now_ns, 0, true);   // the grant and the cancel met on their way
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

void Core::on(ClientId id, Client&, const StatsRequest& m, std::uint64_t now_ns) { out_.push_back({id, stats(m.first, now_ns)}); }
void Core::on(ClientId id, Client&, const LogRequest& m, std::uint64_t) { out_.push_back({id, log(m.from)}); }

void Core::finish(ClientId id, Client& client, std::uint64_t sequence, std::uint64_t now_ns, std::uint64_t gpu_ns, bool lost, bool alone) {
  const auto at = client.pending.find(sequence);
  const Pending pending = at->second;
  client.pending.erase(at);
  launches_.erase(pending.launch);
  --client.running, --totals_.running;
  scheduler_.end(now_ns, pending.launch, gpu_ns);
  tell(id, client, pending, now_ns, gpu_ns, lost, alone);
}

void Core::tell(ClientId id, const Client& client, const Pending& pending, std::uint64_t now_ns, std::uint64_t gpu_ns, bool lost, bool alone) const {
  if (!on_span) return;
  const Kernel& kernel = client.kernels[pending.what.kernel];
  on_span({id, client.pid, client.program, kernel.name, pending.what.stream, pending.what.sequence, pending.asked_ns, pending.granted_ns, now_ns, gpu_ns, lost, alone, pending.what, kernel.registers, kernel.shared_bytes});
}

// What a kernel takes alone is what policies want to know. Written anew only when it has changed by more than a fifth.
void Core::learn(const Kernel& kernel, double gpu_ns, std::uint64_t now_ns) {
  const corun::Profile* known = scheduler_.profile(kernel.id);
  if (known != nullptr && known->time_ns && std::abs(*known->time_ns - gpu_ns) <= 0.2 * *known->time_ns) return;
  corun::Profile profile = known == nullptr ? corun::Profile{} : *known;
  profile.time_ns = gpu_ns;
  scheduler_.kernel(now_ns, kernel.name, &profile);
}

void Core::decide(std::uint64_t now_ns) {
  for (const corun::Grant& grant : scheduler_.decide()) {
    const Place place = launches_.at(grant.sequence);
    Client& client = clients_.at(place.client);
    Pending& pending = client.pending.at(place.sequence);
    SIMTLAB_ASSERT(!pending.granted, "a launch is granted once");
    pending.granted = true;
    pending.granted_ns = now_ns;
    pending.alone_since = scheduler_.runs_alone(pending.device) ? scheduler_.grants(pending.device) : 0;
    --client.waiting, --totals_.waiting;
    waits(client, -1);
    ++client.running, ++totals_.running;
    ++client.grants, ++totals_.grants;
    client.waited_ns += now_ns - pending.asked_ns;
    out_.push_back({place.client, Grant{place.sequence, 0}});
  }
}

void Core::keep_line(std::string_view line) {
  if (on_decision) on_decision(line);
  ++totals_.decisions;
  lines_.emplace_back(line);
  if (lines_.size() > caps_.log_lines) lines_.pop_front(), ++first_line_;
}

ClientRow Core::row(ClientId id, const Client& c) const {
  return {id, c.pid, c.waiting, c.running, c.grants, c.done, c.waited_ns, c.gpu_ns, c.program, c.last_kernel < c.kernels.size() ? c.kernels[c.last_kernel].name : std::string{}};
}

Stats Core::stats(std::uint32_t first, std::uint64_t now_ns) const {
  Stats out;
  out.totals = totals_;
  out.totals.now_ns = now_ns;
  out.totals.clients = static_cast<std::uint32_t>(clients_.size());
  out.totals.policy = scheduler_.policy().name;
  out.totals.limit = scheduler_.settings().limit;
  out.totals.device = device_;
  out.first = first;
  std::uint32_t at = 0;
  for (const auto& [id, client] : clients_) {
    if (at++ < first) continue;
    if (out.rows.size() == most_rows) break;
    out.rows.push_back(row(id, client));
  }
  return out;
}

Log Core::log(std::uint64_t from) const {
  Log out;
  out.from = std::clamp(from, first_line_, first_line_ + lines_.size());
  out.next = out.from;
  for (; out.next < first_line_ + lines_.size(); ++out.next) {
    const std::string& line = lines_[out.next - first_line_];
    if (out.text.size() + line.size() + 1 > most_text) {
      if (!out.text.empty()) break;
      out.text = line.substr(0, most_text - 1) + "\n";   // so that who asks gets on
      ++out.next;
      break;
    }
    out.text += line + "\n";
  }
  return out;
}

}  // namespace simtlab::live
