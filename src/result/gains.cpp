#include "result/gains.h"

#include <algorithm>
#include <string>

namespace simtlab::result {
namespace {

// Below it a gain is not worth a word.
constexpr double least_share = 0.005;
// Waits for results of fixed latency are short: more warps fill only a part of them.
constexpr double of_fixed = 0.5;
// In interconnect.write.bytes: address and command of a request, and each sector of its data.
constexpr double header_bytes = 8, sector_bytes = 32;
constexpr double sectors_per_line = 4;

class Facts {
 public:
  explicit Facts(const Metrics& metrics)
      : m_(metrics), waits_(waits_of(metrics)), spare_(spare_sectors(metrics)) {}

  std::vector<LikelyGain> run() {
    add("perfect-l1", perfect_l1());
    add("infinite-dram-bandwidth",
        (waits_.loads + waits_.queue + waits_.stores) * std::max(queueing(), dram_use(m_) - unfelt_dram_use));
    add("no-bank-conflicts", conflicts() * (get("stall.short_scoreboard") + get("stall.mio_throttle") +
                                            get("shared.utilisation") / 2));
    // Fewer sectors empty the queue; other waits they shorten by a part.
    add("perfect-coalescing",
        std::min(spare_ * (of_queue * waits_.queue + of_loads * waits_.loads + of_stores * waits_.stores),
                 1.0));
    const double busiest = std::max(get("dram.utilisation"), get("l2.utilisation"));
    if (get("gpu.waves") > 1 || !m_.get("gpu.waves"))  // several launches: not known
      add("double-occupancy", (waits_.loads + waits_.on_chip) * (1 - waits_.selected) * (1 - busiest));
    // Special functions wait in a queue that they share with shared memory.
    const double special = get("pipe.xu") > get("shared.utilisation") ? get("stall.mio_throttle") : 0;
    add("double-math",
        get("stall.math_pipe_throttle") + special + (get("sol.compute") > 0.6 ? get("sol.compute") / 4 : 0));
    add("alone", get("gpu.overlap"));
    add("perfect-fetch", get("stall.no_instruction"));
    add("wide-writes",
        masks_of(m_).of_flits * (masks_of_queue * waits_.queue + masks_of_stores * waits_.stores));
    add("unlimited-tags", waits_.queue * get("l1.utilisation"));
    if (get("register.bank_conflicts") > 0) add("no-register-conflicts", get("stall.dispatch") / 2);
    const double overhead = get("gpu.launch_overhead"), time = get("gpu.time");
    add("zero-launch-cost", time > 0 ? overhead / (overhead + time) / 4 : 0);
    std::ranges::sort(out_, [](const LikelyGain& a, const LikelyGain& b) {
      return a.share != b.share ? a.share > b.share : a.what_if < b.what_if;
    });
    return std::move(out_);
  }

 private:
  // Fitted to the gains that the model shows for the examples on six GPUs, gtx480 to h100.
  static constexpr double of_queue = 1.2, of_loads = 0.25, of_stores = 0.5;  // that coalescing saves
  static constexpr double congestion =
      1.3;  // of the waits for data: behind sectors that could be spared; L1 does not help
  static constexpr double l1_of_queue = 0.5, unfelt_dram_use = 0.4;
  // Likewise, on v100 and h100, whose networks have flits for masks.
  static constexpr double masks_of_queue = 1.2, masks_of_stores = 0.8;

  double get(const char* name) const { return m_.get(name).value_or(0); }
  void add(std::string_view what_if, double share) {
    if (share > least_share) out_.push_back({what_if, share});
  }

  // The waits for data, and a part of the queue: that of loads which L1 does not answer.
  double perfect_l1() const {
    const double loads = get("global.load.sectors") + get("local.load.sectors") + get("texture.requests");
    if (loads == 0) return 0;
    const double share = loads / (loads + get("global.store.sectors") + get("local.store.sectors"));
    const double misses =
        get("l1.read.accesses") > 0 ? get("l1.read.miss_rate") : 1;  // where L1 caches nothing
    return waits_.loads * std::max(1 - congestion * spare_ * waits_.queue, 0.0) +
           l1_of_queue * waits_.queue * share * misses;
  }
  // Share of a load's time; known where loads were observed.
  double queueing() const {
    const double all = get("load.latency");
    return all > 0 ? (get("load.latency.dram_queue") + get("load.latency.dram_bank") +
                      get("load.latency.dram_bus")) /
                         all
                   : 0;
  }
  double conflicts() const {
    return get("shared.wavefronts") > 0 ? get("shared.bank_conflicts") / get("shared.wavefronts") : 0;
  }

  const Metrics& m_;
  Waits waits_;
  double spare_;
  std::vector<LikelyGain> out_;
};

}  // namespace

std::vector<LikelyGain> likely_gains(const Metrics& metrics) { return Facts(metrics).run(); }

Waits waits_of(const Metrics& metrics) {
  const auto get = [&](const char* name) { return metrics.get(name).value_or(0); };
  const double there = 1 - get("stall.no_warp");
  if (there <= 0) return {};
  return {.loads = (get("stall.long_scoreboard") + get("stall.tex_throttle")) / there,
          .queue = get("stall.lg_throttle") / there,
          .stores = (get("stall.drain") + get("stall.membar")) / there,
          .on_chip =
              (get("stall.short_scoreboard") + of_fixed * get("stall.wait") + get("stall.barrier")) / there,
          .selected = get("stall.selected") / there};
}

double spare_sectors(const Metrics& metrics) {
  double touched = 0, needed = 0;
  for (const char* kind : {"global.load", "global.store"}) {
    const auto get = [&](const char* name) { return metrics.get(std::string(kind) + name).value_or(0); };
    touched += get(".sectors");
    needed += std::min(get(".sectors"),
                       std::max(get(".bytes") / 32, get(".requests")));  // an access touches one at least
  }
  return touched > 0 ? 1 - needed / touched : 0;
}

// A flit is a sector of data, a mask, or a request that has neither. Bytes tell how many requests there are:
// so flits that are missing are writes without a mask, of a line at most each.
Masks masks_of(const Metrics& metrics) {
  const auto get = [&](const char* name) { return metrics.get(name).value_or(0); };
  const double flits = get("interconnect.write.flits");
  const double sectors = get("l2.write.accesses") + get("atomic.sectors");
  const double requests = (get("interconnect.write.bytes") - sectors * sector_bytes) / header_bytes;
  if (flits <= 0 || sectors <= 0 || requests <= 0) return {};
  const double unmasked = sectors + requests - flits;
  const double share = std::clamp(1 - unmasked * sectors_per_line / sectors, 0.0, 1.0);
  // Reads are of whole lines, it is assumed.
  const double writes =
      std::clamp(requests - get("l2.read.accesses") / sectors_per_line, sectors / sectors_per_line, sectors);
  return {.of_sectors = share, .of_flits = std::min(share * writes / flits, 1.0)};
}

double dram_use(const Metrics& metrics) {
  const double sustained = metrics.get("peak.bandwidth.dram.sustained").value_or(0);
  const double share = sustained > 0 ? metrics.get("dram.bandwidth").value_or(0) / sustained
                                     : metrics.get("dram.utilisation").value_or(0);
  return std::min(share, 1.0);
}

}  // namespace simtlab::result
