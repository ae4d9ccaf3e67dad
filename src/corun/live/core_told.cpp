// What the daemon tells of itself, and clients that make no progress.
#include <algorithm>

#include "corun/live/core.h"

namespace simtlab::corun::live {

ClientRow Core::row(ClientId id, const Client& c) const {
  const std::string kernel = c.last_kernel < c.kernels.size() ? c.kernels[c.last_kernel].name : std::string{};
  return {
      id,        c.pid,  c.waiting, c.running, c.work.grants, c.work.done, c.work.waited_ns, c.work.gpu_ns,
      c.program, kernel, c.passed};
}

Stats Core::stats(std::uint32_t first, std::uint64_t now_ns) const {
  Stats out;
  out.totals = totals_;
  out.totals.now_ns = now_ns;
  out.totals.clients = static_cast<std::uint32_t>(clients_.size());
  out.totals.policy = scheduler_.policy().name;
  out.totals.limit = scheduler_.settings().limit;
  out.totals.device = gpu.name;
  out.totals.learns = gpu.profile != nullptr;
  const Kernels::Lack lack = kernels_.lack();
  out.totals.kernels = lack.kernels;
  out.totals.unknown = lack.unknown;
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
      out.text = line.substr(0, most_text - 1) + "\n";  // so that who asks gets on
      ++out.next;
      break;
    }
    out.text += line + "\n";
  }
  return out;
}

Applications Core::applications(std::uint32_t first) const {
  Results::Rows rows = results_.rows();
  for (const auto& [id, client] : clients_) {
    if (client.work.grants == 0) continue;
    ApplicationRow& row = rows[client.number];
    ++row.connected;
    results_.add(row, client.work);
  }
  results_.complete(rows);
  Applications out;
  out.first = first;
  std::uint32_t at = 0;
  for (auto& [program, row] : rows) {
    if (at++ < first) continue;
    if (out.rows.size() == most_applications) break;
    out.rows.push_back(std::move(row));
  }
  return out;
}

// ---- no progress

std::vector<Core::Holder> Core::holders() const {
  std::vector<Holder> out;
  std::uint32_t waiting = 0;  // of clients that would be granted something
  for (const auto& [id, client] : clients_) waiting += client.passed ? 0 : client.waiting;
  for (const auto& [id, client] : clients_) {
    if (client.running == 0 || client.passed || waiting == client.waiting) continue;
    Holder holder{id, client.pid, ~std::uint64_t{0}};
    for (const auto& [sequence, pending] : client.pending)
      if (pending.granted && !pending.passed) holder.since_ns = std::min(holder.since_ns, pending.granted_ns);
    if (holder.since_ns != ~std::uint64_t{0}) out.push_back(holder);
  }
  return out;
}

std::vector<Core::Holder> Core::passed() const {
  std::vector<Holder> out;
  for (const auto& [id, client] : clients_)
    if (client.passed) out.push_back({id, client.pid, 0, client.running != 0});
  return out;
}

std::vector<Core::Holder> Core::waiters() const {
  std::vector<Holder> out;
  for (const auto& [id, client] : clients_)
    if (client.running == 0 && client.waiting != 0 && !client.passed)
      out.push_back({id, client.pid, 0, false});
  return out;
}

void Core::pass_over(ClientId id, std::uint64_t now_ns) {
  const auto at = clients_.find(id);
  if (at == clients_.end() || !at->second.joined || at->second.passed) return;
  Client& client = at->second;
  client.passed = true;
  ++totals_.passes;
  for (auto& [sequence, pending] : client.pending) {
    if (!pending.granted || pending.passed) continue;
    pending.passed = true;
    ++client.slotless;
    --totals_.running, ++totals_.passed;
  }
  scheduler_.pass_over(now_ns, id);
  if (on_passed) on_passed(row(id, client), true);
  decide(now_ns);
}

void Core::back(ClientId id, std::uint64_t now_ns) {
  const auto at = clients_.find(id);
  if (at == clients_.end() || !at->second.passed) return;
  at->second.passed = false;
  scheduler_.back(now_ns, id);
  if (on_passed) on_passed(row(id, at->second), false);
  decide(now_ns);
}

}  // namespace simtlab::corun::live
