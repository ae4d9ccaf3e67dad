#include "studies/validate/dram.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "memory/dram/own_channels.h"

namespace simtlab::studies::validate {
namespace {

using device::Refresh;
using device::Technology;
using memory::Cycle;
namespace dram = memory::dram;

constexpr double law_stream = 0.9;     // of what the technology allows less refresh
constexpr double law_conflict = 1.01;  // the first and last accesses
constexpr double peer_target = 0.024;  // docs/lab/dram-accuracy.md
constexpr std::size_t peer_requests = 20000;

struct Driven {
  Cycle end = 0;  // clock of the last answer plus 1
  std::vector<Cycle> latency;
};

// Offers one request a clock, or one every `interval`, and waits for all.
Driven drive_dram(dram::OwnChannels& memory, const std::vector<dram::Access>& accesses,
                  const volatile bool* stop, Cycle interval = 1) {
  Driven out;
  out.latency.resize(accesses.size());
  std::vector<Cycle> sent(accesses.size());
  std::vector<dram::Completion> done;
  std::size_t finished = 0;
  Cycle now = 0;
  const auto advance = [&](Cycle to) {
    now = to;
    memory.advance(now, done);
    for (const dram::Completion& c : done) {
      out.latency[c.tag] = c.at - sent[c.tag];
      out.end = std::max(out.end, c.at + 1);
    }
    finished += done.size();
    done.clear();
  };
  for (const dram::Access& access : accesses) {
    if (stop != nullptr && *stop) throw Error(ExitCode::interrupted, "interrupted", "interrupted");
    while (!memory.accepts(0, access)) advance(std::max(now, memory.next_event() + 1));
    sent[access.tag] = now;
    memory.add(0, access, now);
    advance(now + interval);
  }
  while (finished < accesses.size()) advance(memory.next_event() + 1);
  return out;
}

dram::Access access_at(const dram::OwnChannels& memory, std::uint32_t row, std::uint32_t column,
                       std::size_t tag, bool write = false) {
  dram::Place place;
  place.row = row, place.column = column;
  return {memory.mapping().encode_local(place), write, 0, tag};
}

std::vector<dram::Access> dram_stream(const dram::OwnChannels& memory, std::size_t count, bool write) {
  std::vector<dram::Access> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = {i * memory.access_bytes(), write, 0, i};
  return out;
}

std::vector<dram::Access> row_conflicts(const dram::OwnChannels& memory, std::size_t count,
                                        std::uint32_t rows, bool write) {
  std::vector<dram::Access> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = access_at(memory, static_cast<std::uint32_t>(i % rows), 0, i, write);
  return out;
}

// ---- what a technology's numbers say in closed form

// Share of the time in which refreshes hold a bank back, each longer by `extra`.
double refresh_share(const Technology& t, double extra) {
  if (t.refresh == Refresh::all_bank) return (t.timing.trfc + extra) / t.timing.trefi;
  if (t.refresh == Refresh::per_bank) return (t.timing.trfc_pb + extra) / t.timing.trefi;
  return 0;
}

// Of a bank whose rows are read once each.
double read_row_cycle(const Technology& t) {
  const auto& c = t.timing;
  return std::max(c.trc, std::max(c.tras, c.trcd_read + c.trtp) + c.trp);
}

double stream_distance(const Technology& t, bool write) {
  const auto& c = t.timing;
  const double groups = t.organisation.bank_groups,
               accesses_of_a_row = t.organisation.row_bytes / t.burst_bytes();
  return std::max({double(c.burst), double(c.tccd_s), (write ? c.write_distance() : c.tccd_l) / groups,
                   c.trrd_s / accesses_of_a_row, c.tfaw / 4.0 / accesses_of_a_row,
                   double(t.column_clocks) * t.organisation.pseudo_channels});
}

class Laws {
 public:
  Laws(const std::string& name, const volatile bool* stop, std::vector<Row>& out)
      : t_(device::load_technology(name).technology), stop_(stop), out_(out) {}

  void run() {
    unloaded();
    conflicts();
    for (const bool write : {false, true}) streams(write);
  }

 private:
  Row& add(Row row, Role role, const std::string& note) {
    row.target = 0.0, row.role = role, row.source = "closed form", row.note = note;
    return out_.emplace_back(std::move(row));
  }

  void unloaded() {
    Technology t = t_;
    t.refresh = Refresh::none;
    const auto& c = t.timing;
    dram::OwnChannels memory(t, device::load_memory_controller("default").controller, 1);
    const Driven run = drive_dram(
        memory, {access_at(memory, 0, 0, 0), access_at(memory, 0, 1, 1), access_at(memory, 1, 0, 2)}, stop_,
        100000);
    const double open = c.cl + c.burst, closed = c.trcd_read + open;
    const auto one = [&](const char* what, double law, Cycle ours, const char* note) {
      add(value_row("laws", t_.name, what, "clocks", law, static_cast<double>(ours)), Role::by_construction,
          note);
    };
    one("read, bank closed", closed, run.latency[0], "tRCD + CL + burst");
    one("read, row open", open, run.latency[1], "CL + burst");
    one("read, another row open", c.trp + closed, run.latency[2], "tRP + tRCD + CL + burst");
  }

  void conflicts() {
    constexpr std::size_t count = 2000;
    dram::OwnChannels memory(t_, device::load_memory_controller("default").controller, 1);
    const double each =
        static_cast<double>(drive_dram(memory, row_conflicts(memory, count, count, false), stop_).end) /
        count;
    const double cycle = read_row_cycle(t_), busy = refresh_share(t_, cycle);
    add(bounded_row("laws", t_.name, "reads of other rows of a bank, each", "clocks", cycle * 0.999,
                    cycle / (1 - busy) * law_conflict + 1, each),
        Role::independent, "a row cycle, more by refresh");
  }

  void streams(bool write) {
    dram::OwnChannels memory(t_, device::load_memory_controller("gpu").controller, 1);
    const Driven run = drive_dram(memory, dram_stream(memory, peer_requests, write), stop_);
    const dram::Report report = memory.report(run.end);
    const double reached = static_cast<double>(report.bus.data) / static_cast<double>(report.bus.total());
    const double bound = t_.timing.burst / stream_distance(t_, write),
                 refresh = t_.refresh == Refresh::per_bank ? 0 : refresh_share(t_, 0);
    add(bounded_row("laws", t_.name,
                    write ? "stream of writes, share of the peak" : "stream of reads, share of the peak",
                    "share", law_stream * (bound - refresh), bound, reached),
        Role::independent, fmt::format("{:.0f} % of the peak less refresh", 100 * law_stream));
  }

  const Technology t_;
  const volatile bool* stop_;
  std::vector<Row>& out_;
};

std::vector<device::Setting> settings_of(const std::string& list) {
  std::vector<device::Setting> out;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(';', at), list.size()), equals = list.find('=', at);
    if (equals >= end)
      throw Error(ExitCode::bad_input, "measured-syntax",
                  fmt::format("dram-peers.csv: '{}' is no KEY=VALUE", list.substr(at, end - at)),
                  "settings are separated by ';'");
    out.push_back({list.substr(at, equals - at),
                   list.substr(equals + 1, end - equals - 1),
                   {"command line", "data/measured/dram-peers.csv", "", false}});
    at = end + 1;
  }
  return out;
}

}  // namespace

std::vector<Row> dram_laws(const volatile bool* stop) {
  std::vector<Row> out;
  for (const std::string& name : device::list_technologies()) Laws(name, stop, out).run();
  return out;
}

std::vector<Row> dram_peers(const Table& table, const volatile bool* stop) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string &trace = table.text(i, "trace"), &technology = table.text(i, "technology"),
                      &peer = table.text(i, "simulator");
    dram::OwnChannels memory(
        device::load_technology(technology, settings_of(table.text(i, "set"))).technology,
        device::load_memory_controller(table.text(i, "controller")).controller, 1);
    double ours = 0;
    if (trace == "first read")
      ours = static_cast<double>(drive_dram(memory, {access_at(memory, 0, 0, 0)}, stop).latency[0]);
    else if (trace == "stream")
      ours = static_cast<double>(drive_dram(memory, dram_stream(memory, peer_requests, false), stop).end);
    else if (trace == "conflict")
      ours = static_cast<double>(
          drive_dram(memory, row_conflicts(memory, peer_requests, 1024, false), stop).end);
    else
      throw Error(ExitCode::bad_input, "measured-syntax",
                  fmt::format("dram-peers.csv: there is no trace '{}'", trace),
                  "first read, stream or conflict");
    Row& row =
        out.emplace_back(value_row("beside other simulators", technology, fmt::format("{}, {}", peer, trace),
                                   "clocks", table.number(i, "clocks"), ours));
    row.target = peer_target;
    row.role = Role::independent;
    row.source = "data/measured/dram-peers.csv";
    row.note = "controller " + table.text(i, "controller");
  }
  return out;
}

}  // namespace simtlab::studies::validate
