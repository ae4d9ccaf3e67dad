#include "report/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/format.h"
#include "report/glossary.h"
#include "report/hits.h"
#include "report/profile_text.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;

class Facts {
 public:
  explicit Facts(const KernelResult& kernel) : k(kernel) {}
  double operator()(const std::string& name) const { return k.metrics.get(name).value_or(0); }
  bool has(const std::string& name) const { return k.metrics.get(name).has_value(); }
  double memory_stall() const { return (*this)("stall.long_scoreboard") + (*this)("stall.lg_throttle") + (*this)("stall.tex_throttle"); }
  double store_stall() const { return (*this)("stall.drain") + (*this)("stall.membar"); }
  double share_of(const std::string& stage) const {
    const double all = (*this)("load.latency");
    return all > 0 ? (*this)("load.latency." + stage) / all : 0;
  }
  const KernelResult& k;
};

// Largest first.
std::vector<std::pair<double, std::string>> sorted(const Metrics& metrics, std::string_view prefix) {
  std::vector<std::pair<double, std::string>> out;
  for (const Metrics::Value& v : metrics.values())
    if (v.name.starts_with(prefix)) out.emplace_back(v.real, v.name.substr(prefix.size()));
  std::ranges::sort(out, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  return out;
}

std::string time_sentence(const Facts& f, const std::string& device) {
  const std::string name = f.k.demangled.empty() ? f.k.name : f.k.demangled;
  return fmt::format("{} takes {} on {}: {} cycles{}.", printable(name), format_time(f("gpu.time")), printable(device),
                     format_exact(static_cast<std::uint64_t>(f("gpu.cycles"))),
                     f.k.launches > 1 ? fmt::format(" in {} launches", f.k.launches) : "");
}

std::string occupancy_sentence(const Facts& f) {
  std::string out = fmt::format("An SM has room for {} of its warps", format_share(f("occupancy.theoretical")));
  if (f("occupancy.theoretical") < 1 && !f.k.limiter.empty()) out += fmt::format(" (limited by {})", printable(f.k.limiter));
  out += fmt::format("; {} were there while it worked", format_share(f("occupancy.achieved")));
  const double empty = f("stall.no_warp");
  if (empty >= 0.05)
    out += fmt::format(". In {} of their slots schedulers had no warp at all{}", format_share(empty),
                       f.has("gpu.waves") ? fmt::format(": the grid is {:.2f} waves of blocks", f("gpu.waves")) : "");
  return out + ".";
}

std::string issue_sentence(const Facts& f) {
  const double instructions = f("gpu.instructions.warp");
  const double cpi = instructions > 0 ? f("scheduler.slots") / instructions : 0;
  return fmt::format("Schedulers issued in {} of their slots: {:.2f} slots for each of {} warp instructions.", format_share(f("stall.selected")), cpi,
                     format_count(instructions));
}

std::string stall_sentence(const Facts& f) {
  const double lost = 1 - f("stall.selected");
  for (const auto& [share, name] : sorted(f.k.metrics, "stall.")) {
    if (name == "selected" || name == "no_warp") continue;
    if (share <= 0) break;
    const Term* term = find_term(stall_reasons(), name);
    return fmt::format("Of the slots lost with warps there, most were lost to {}: {} of all slots, {} of the lost ones. {}", printable(name),
                       format_share(share), format_share(lost > 0 ? share / lost : 0), term == nullptr ? "" : term->meaning);
  }
  return {};
}

std::string load_sentence(const Facts& f) {
  if (!f.has("load.latency")) return {};
  static constexpr std::pair<const char*, const char*> places[] = {
      {"l1_queue", "for their turn at L1"},    {"mshr", "for a free miss register of L1"},  {"l1", "in L1 itself"},
      {"crossbar", "in the crossbar"},         {"l2_queue", "for their turn at L2"},        {"l2", "in L2 itself"},
      {"dram_queue", "for their turn at DRAM"}, {"dram_bank", "for a DRAM bank"},            {"dram_bus", "for the DRAM's bus"},
      {"dram", "in DRAM itself"}};
  std::string parts;
  unsigned count = 0;
  for (const auto& [cycles, name] : sorted(f.k.metrics, "load.latency.")) {
    if (count++ == 3 || cycles <= 0) break;
    const auto* const place = std::ranges::find_if(places, [&](const auto& p) { return name == p.first; });
    parts += fmt::format("{}{:.0f} {}", parts.empty() ? "" : ", ", cycles, place == std::end(places) ? name : std::string(place->second));
  }
  return fmt::format("Its {} loads take {:.0f} cycles on average: {}.", format_count(f("load.count")), f("load.latency"), parts);
}

std::string level_sentence(const Facts& f) {
  if (f("l1.read.accesses") + f("l2.read.accesses") == 0) return {};
  const auto hit = [&](const std::string& level) {
    const result::HitRate rate = result::hit_rate(f.k.metrics, level);
    return rate.accesses > 0 ? fmt::format("{} of {} sectors", format_hits(rate), format_count(rate.accesses)) : format_hits(rate);
  };
  std::string out = fmt::format("L1: {}; L2: {}", hit("l1"), hit("l2"));
  double most = 0;
  std::string busiest;
  for (const char* part : {"l1", "shared", "interconnect", "l2", "dram"})
    if (const double u = f(std::string(part) + ".utilisation"); u > most) {
      most = u;
      busiest = part;
    }
  if (!busiest.empty())
    out += fmt::format("; the busiest level is {} with {} of its peak{}", busiest, format_share(most),
                       most < 0.4 ? ", so it is latency that costs, not bandwidth" : "");
  const double efficiency = f("global.load.efficiency");
  if (f("global.load.requests") > 0 && efficiency < 0.75)
    out += fmt::format("; threads use {} of the bytes that their loads fetch", format_share(efficiency));
  return out + ".";
}

std::string line_sentence(const Facts& f) {
  std::uint64_t all = 0;
  for (const std::uint64_t n : f.k.profile.slots) all += n;
  for (const result::LineProfile& l : result::by_source(f.k.profile)) {
    double share = 0;
    const std::string stall = top_stall(l, f.k.profile, share);
    if (stall.empty()) continue;
    std::string out = fmt::format("The line that takes most is {}: {} of the slots, {} of them {}", place_of(l),
                                  format_share(static_cast<double>(result::slots_of(l)) / static_cast<double>(std::max<std::uint64_t>(all, 1))),
                                  format_share(share), printable(stall));
    if (l.requests > 0)
      out += fmt::format("; a request touches {:.1f} sectors", static_cast<double>(l.sectors) / static_cast<double>(l.requests));
    if (l.loads > 0) out += fmt::format(", a load takes {:.0f} cycles", static_cast<double>(l.load_cycles) / static_cast<double>(l.loads));
    const std::string& text = l.text.empty() ? l.ptx : l.text;
    return out + (text.empty() ? "." : fmt::format(": `{}`.", shortened(printable(text), 100)));
  }
  return {};
}

}  // namespace

std::vector<std::string> evidence(const KernelResult& kernel, const std::string& device) {
  const Facts f(kernel);
  std::vector<std::string> out;
  for (std::string sentence : {time_sentence(f, device), occupancy_sentence(f), issue_sentence(f), stall_sentence(f), load_sentence(f),
                               level_sentence(f), line_sentence(f), printable(kernel.bottleneck)})
    if (!sentence.empty()) out.push_back(std::move(sentence));
  return out;
}

std::vector<Suspect> suspects(const KernelResult& kernel) {
  const Facts f(kernel);
  std::vector<Suspect> out;
  const auto add = [&](const char* name, double weight, std::string because) {
    if (weight > 0.005) out.push_back({name, weight, std::move(because)});
  };
  const double memory = f.memory_stall(), all_memory = memory + f.store_stall();
  const double l1_hits = f("l1.read.accesses") > 0 ? f("l1.read.hits") / f("l1.read.accesses") : 0;
  if (f("global.load.requests") + f("local.load.sectors") + f("texture.requests") > 0)
    add("perfect-l1", memory * (1 - l1_hits), fmt::format("{} of the slots wait for memory, {} of the sectors hit L1", format_share(memory), format_share(l1_hits)));
  const double sustained = f("peak.bandwidth.dram.sustained") > 0 ? f("dram.bandwidth") / f("peak.bandwidth.dram.sustained") : f("dram.utilisation");
  const double queueing = f.share_of("dram_queue") + f.share_of("dram_bank") + f.share_of("dram_bus");
  add("infinite-dram-bandwidth", all_memory * std::max(queueing, sustained > 0.5 ? sustained : 0.0),
      fmt::format("DRAM moves {} of what a copy can reach, {} of a load's time is waiting for it", format_share(sustained), format_share(queueing)));
  const double wavefronts = f("shared.wavefronts");
  const double conflicts = wavefronts > 0 ? f("shared.bank_conflicts") / wavefronts : 0;
  add("no-bank-conflicts", conflicts * (f("stall.short_scoreboard") + f("stall.mio_throttle") + f("shared.utilisation") / 2),
      fmt::format("{} of the passes of shared memory are conflicts", format_share(conflicts)));
  const double sectors = f("global.load.sectors") + f("global.store.sectors");
  const double used = sectors > 0 ? std::min(1.0, (f("global.load.bytes") + f("global.store.bytes")) / (32 * sectors)) : 1;
  add("perfect-coalescing", (1 - used) * all_memory, fmt::format("threads use {} of the bytes of the sectors they touch", format_share(used)));
  const double latency = memory + f("stall.short_scoreboard") + f("stall.wait") + f("stall.barrier");
  if (f("gpu.waves") > 1 || !f.has("gpu.waves"))   // several launches: not known
    add("double-occupancy", latency * (1 - f("stall.selected")) * (1 - std::max(f("dram.utilisation"), f("l2.utilisation"))),
        fmt::format("{} of the slots wait for results, and there are more blocks than fit at once", format_share(latency)));
  const double math = f("stall.math_pipe_throttle");
  add("double-math", math + (f("sol.compute") > 0.6 ? f("sol.compute") / 4 : 0),
      fmt::format("{} of the slots wait for an arithmetic pipeline, the busiest has {} of its peak", format_share(math), format_share(f("sol.compute"))));
  add("alone", f("gpu.overlap"), fmt::format("kernels of other streams ran in {} of its time", format_share(f("gpu.overlap"))));
  const double overhead = f("gpu.launch_overhead"), time = f("gpu.time");
  add("zero-launch-cost", time > 0 ? overhead / (overhead + time) / 4 : 0,
      fmt::format("launching costs {} beside {} of execution", format_time(overhead), format_time(time)));
  std::ranges::sort(out, [](const Suspect& a, const Suspect& b) { return a.weight != b.weight ? a.weight > b.weight : a.what_if < b.what_if; });
  return out;
}

}  // namespace simtlab::report
