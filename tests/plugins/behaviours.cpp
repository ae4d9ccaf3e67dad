// A memory plug-in that behaves or misbehaves as its configuration says: "fixed", "polled" (no hint about the
// next event) or what it does wrong. Fixed latency of 20 clocks of 2 ns, 4 accesses of 32 bytes under way.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>

#include "simtlab/memory_plugin.h"

struct simtlab_memory {
  struct Access {
    std::uint64_t id, at;
  };
  std::string does;
  std::deque<Access> under_way;
  std::uint64_t now = 0, adds = 0, last_id = 0;
  bool is(const char* what) const { return does == what; }
};

namespace {

constexpr std::uint64_t latency = 20;

simtlab_memory* create(const char* config, std::uint32_t channel, std::uint32_t channels, char* error,
                       std::size_t bytes) {
  const std::string does = config;
  if (does == "create-throws") throw std::runtime_error("no such chip");
  if (does == "create-fails" || channel >= channels) {
    std::snprintf(error, bytes, "no such chip: '%s'", config);
    return nullptr;
  }
  if (does == "create-fails-silently") return nullptr;
  if (does == "second-channel-fails" && channel == 1) {
    std::snprintf(error, bytes, "one channel is all there is");
    return nullptr;
  }
  auto* memory = new simtlab_memory;
  memory->does = does;
  return memory;
}

void destroy(simtlab_memory* m) { delete m; }

int info(const simtlab_memory* m, simtlab_memory_info* out) {
  if (m->is("info-fails")) return 1;
  *out = {2000, 16e9, 0, 32};
  if (m->is("no-clock")) out->clock_period_ps = 0;
  if (m->is("no-access")) out->access_bytes = 0;
  if (m->is("odd-access")) out->access_bytes = 48;
  if (m->is("wide")) out->access_bytes = 256;
  if (m->is("unknown-peak")) out->peak_bytes_per_second = 0;
  return 0;
}

int will_accept(simtlab_memory* m, std::uint64_t, int) {
  if (m->is("accept-throws")) throw 42;
  return !m->is("refuses") && m->under_way.size() < 4;
}

int add(simtlab_memory* m, std::uint64_t, int, std::uint32_t, std::uint64_t id) {
  if (m->is("add-throws")) throw std::runtime_error("full after all");
  if (m->is("add-fails")) return 1;
  m->under_way.push_back({id, m->now + latency});
  m->last_id = id;
  ++m->adds;
  return 0;
}

int advance(simtlab_memory* m, std::uint64_t cycle, simtlab_memory_done done, void* context) {
  if (m->is("advance-throws")) throw std::runtime_error("out of order");
  if (m->is("advance-fails")) return 1;
  while (!m->is("silent") && !m->under_way.empty() && m->under_way.front().at < cycle) {
    const simtlab_memory::Access a = m->under_way.front();
    m->under_way.pop_front();
    if (m->is("unknown-id"))
      done(context, a.id + 1000, a.at);
    else
      done(context, a.id, m->is("early") ? 0 : m->is("late") ? cycle : a.at);
    if (m->is("twice")) done(context, a.id, a.at);
  }
  m->now = cycle;
  return 0;
}

std::uint64_t next_event(const simtlab_memory* m) {
  if (m->is("hint-in-the-past") && m->now > 0) return m->now - 1;
  if (m->is("hint-never")) return SIMTLAB_MEMORY_NEVER;
  if (m->is("silent") || m->is("polled")) return m->now;
  return m->under_way.empty() ? SIMTLAB_MEMORY_NEVER : m->under_way.front().at;
}

std::uint32_t statistics(simtlab_memory* m, simtlab_memory_statistic* out, std::uint32_t) {
  if (m->is("statistics-throw")) throw std::runtime_error("uncounted");
  if (m->is("statistics-null")) {
    out[0] = {nullptr, nullptr, 1, SIMTLAB_MEMORY_SUM};
    return 1;
  }
  if (m->is("statistics-nan")) {
    out[0] = {"ratio", nullptr, std::nan(""), SIMTLAB_MEMORY_SUM};
    return 1;
  }
  if (m->is("statistics-many")) return 100000;
  out[0] = {"accesses", "1", static_cast<double>(m->adds), SIMTLAB_MEMORY_SUM};
  out[1] = {"energy", "pJ", 2.5 * static_cast<double>(m->adds), SIMTLAB_MEMORY_SUM};
  out[2] = {"load", nullptr, 0.5, SIMTLAB_MEMORY_MEAN};
  out[3] = {"last_clock", "cycles", static_cast<double>(m->now), SIMTLAB_MEMORY_MAX};
  return 4;
}

const char* last_error(const simtlab_memory*) { return "the chip is on fire"; }

int reset(simtlab_memory* m) {
  const std::string does = m->does;
  *m = {};
  m->does = does;
  return does == "reset-fails" ? 1 : 0;
}

const simtlab_memory_plugin plugin = {sizeof plugin, "behaviours", create,     destroy,
                                      info,          will_accept,  add,        advance,
                                      next_event,    statistics,   last_error, reset};

}  // namespace

extern "C" const std::uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI;
extern "C" const simtlab_memory_plugin* simtlab_memory_get_plugin() { return &plugin; }
