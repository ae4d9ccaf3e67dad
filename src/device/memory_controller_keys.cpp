#include "device/memory_controller_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace simtlab::device {
namespace {

using Controller = MemoryController;
using Rows = std::vector<KeyOf<Controller>>;

constexpr double max_clocks = 1e6, max_entries = 4096;

// Plain numbers, names, true or false: what has no unit.
template <class Member>
void add(Rows& rows, std::string key, double minimum, double maximum, Member member, std::string doc) {
  rows.push_back({{std::move(key), Unit::none, minimum, maximum, std::move(doc)},
                  [member](Controller& c) -> Field { return member(c); }});
}
template <class Member>
void add(Rows& rows, std::string key, Member member, std::string doc) {
  add(rows, std::move(key), 0, 0, member, std::move(doc));
}
template <class Member>
void add_clocks(Rows& rows, std::string key, double minimum, Member member, std::string doc) {
  rows.push_back({{std::move(key), Unit::cycles, minimum, max_clocks, std::move(doc)},
                  [member](Controller& c) -> Field { return member(c); }});
}

void add_queues(Rows& rows) {
  add(
      rows, "queues.style", [](Controller& c) { return &c.queues.style; },
      "One queue for reads and one for writes (split), one for both (unified), or split and a short queue of "
      "each bank behind them (per_bank)");
  add(
      rows, "queues.read", 1, max_entries, [](Controller& c) { return &c.queues.read; },
      "Entries of the read queue; unified: read + write are the entries together");
  add(
      rows, "queues.write", 1, max_entries, [](Controller& c) { return &c.queues.write; },
      "Entries of the write queue");
  add(
      rows, "queues.bank", 0, 256, [](Controller& c) { return &c.queues.bank; },
      "Entries of the queue of a bank; style per_bank only");
  add(
      rows, "queues.high", 0, 1, [](Controller& c) { return &c.queues.high; },
      "Writes are drained from above this share of the write queue on; per_bank: when it is reached, those "
      "that wait then");
  add(
      rows, "queues.low", 0, 1, [](Controller& c) { return &c.queues.low; },
      "Draining ends below this share of the write queue; per_bank: above it writes also go while the queues "
      "of the banks are empty");
  add(
      rows, "queues.turn_ahead", 0, max_entries, [](Controller& c) { return &c.queues.turn_ahead; },
      "So many accesses of open rows go between a mark and the turn of the bus, while other banks open rows "
      "for "
      "what goes after it; split, without frees_at_activation and with a scheduler that lets banks pass each "
      "other");
  add(
      rows, "queues.frees_at_activation", [](Controller& c) { return &c.queues.frees_at_activation; },
      "Whether a request leaves its queue when its row is activated, not only with its own command");
  add(
      rows, "queues.merge_reads", [](Controller& c) { return &c.queues.merge_reads; },
      "Whether a read of what a queued read asks for waits for that one");
  add(
      rows, "queues.merge_writes", [](Controller& c) { return &c.queues.merge_writes; },
      "Whether a write of what a queued write holds is absorbed by it");
}

using Policies = std::span<const DeclaredPolicy>;

// "What the key decides: row hits first (fr_fcfs), ...", in the words of the policies.
std::string choice_doc(std::string_view what, Policies policies) {
  std::string out(what);
  for (const DeclaredPolicy& policy : policies)
    out += fmt::format("{}{}: {}", &policy == &policies.front() ? ". " : "; ", policy.name, policy.doc);
  return out;
}

// Of a parameter that several policies have: what each makes of it, unless all say the same.
std::string parameter_doc(Policies policies, const PolicyParameter& parameter) {
  std::string out;
  bool alike = true;
  for (const DeclaredPolicy& policy : policies)
    for (const PolicyParameter& other : policy.parameters)
      if (other.name == parameter.name) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", policy.name, other.doc);
        alike = alike && other.doc == parameter.doc;
      }
  return alike ? fmt::format("{}; {}", parameter.doc, policies_with(policies, parameter.name)) : out;
}

// Rows of all parameters of a kind of policy, each once.
template <class Values>
void add_parameters(Rows& rows, const std::string& section, Policies policies, Values values) {
  const std::size_t first = rows.size();
  std::vector<PolicyParameter> seen;
  for (const DeclaredPolicy& policy : policies)
    for (const PolicyParameter& p : policy.parameters) {
      const std::string key = fmt::format("{}.{}", section, p.name);
      const auto same = std::ranges::find(seen, p.name, &PolicyParameter::name);
      const bool alike =
          same == seen.end() || (same->unit == p.unit && same->minimum == p.minimum &&
                                 same->maximum == p.maximum && same->default_value == p.default_value);
      const bool taken = std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first),
                                     [&](const auto& row) { return row.key == key; });
      if (!alike || taken)
        throw Error(ExitCode::failure, "policy-parameter",
                    fmt::format("{}, parameter of {}: {}", key, policy.name,
                                taken ? "there is a key of this name"
                                      : "another policy declares it with another unit, range or default"),
                    "give it another name in the file of the policy");
      if (same != seen.end()) continue;
      seen.push_back(p);
      rows.push_back({{key, p.unit, static_cast<double>(p.minimum), static_cast<double>(p.maximum),
                       parameter_doc(policies, p), format_quantity(p.default_value, p.unit)},
                      [values, p](Controller& c) -> Field {
                        return &values(c).try_emplace(std::string(p.name), p.default_value).first->second;
                      }});
    }
}

void add_policies(Rows& rows) {
  add(
      rows, "schedule.kind",
      [](Controller& c) {
        return PolicyChoice{&c.schedule.kind, memory_schedulers};
      },
      choice_doc("Which request goes first", memory_schedulers()));
  add_parameters(
      rows, "schedule", memory_schedulers(), [](Controller & c) -> auto& { return c.schedule.parameters; });
  add(
      rows, "page.policy",
      [](Controller& c) {
        return PolicyChoice{&c.page.policy, page_policies};
      },
      choice_doc("What happens to a row that no request waits for", page_policies()));
  add_parameters(
      rows, "page", page_policies(), [](Controller & c) -> auto& { return c.page.parameters; });
  add(
      rows, "mapping.pattern", [](Controller& c) { return &c.mapping.pattern; },
      "Parts of an address, most significant first (address mapping)");
  add(
      rows, "mapping.hash", [](Controller& c) { return &c.mapping.hash; },
      "Parts that are hashed with others (address mapping); none: nothing is");
}

void add_upkeep(Rows& rows) {
  add(
      rows, "upkeep.precharge_all", [](Controller& c) { return &c.upkeep.precharge_all; },
      "Whether one command closes all banks of a rank before a refresh, or one a bank");
  add(
      rows, "upkeep.staggered", [](Controller& c) { return &c.upkeep.staggered; },
      "Whether the refreshes of ranks are spread over tREFI, or all due at once");
  add(
      rows, "upkeep.blocks_channel", [](Controller& c) { return &c.upkeep.blocks_channel; },
      "Whether a refresh that waits holds back the whole channel, not its rank or bank alone");
  add_clocks(
      rows, "upkeep.power_down_after", 0, [](Controller& c) { return &c.upkeep.power_down_after; },
      "Without work, until a rank goes into power-down; 0: never");
  add_clocks(
      rows, "upkeep.self_refresh_after", 0, [](Controller& c) { return &c.upkeep.self_refresh_after; },
      "Without work, until a rank goes into self-refresh; 0: never");
}

void add_latency(Rows& rows) {
  add_clocks(
      rows, "latency.read", 0, [](Controller& c) { return &c.latency.read; },
      "From the last data of a read to its answer: what the controller itself takes");
  add_clocks(
      rows, "latency.forward", 0, [](Controller& c) { return &c.latency.forward; },
      "Of a read that a queued write answers");
  add(
      rows, "latency.write_done", [](Controller& c) { return &c.latency.write_done; },
      "When a write counts as done: taken into the queue (accepted), its command sent (issued), its last "
      "data on the "
      "bus (written)");
}

Rows make_keys() {
  Rows rows;
  add(
      rows, "description", [](Controller& c) { return &c.description; },
      "Which controller this is like, and what is simplified");
  add_queues(rows);
  add_policies(rows);
  add_upkeep(rows);
  add_latency(rows);
  return rows;
}

}  // namespace

const std::vector<KeyOf<MemoryController>>& memory_controller_keys() {
  static const Rows rows = make_keys();
  return rows;
}

}  // namespace simtlab::device
