#include "report/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/because.h"
#include "report/format.h"
#include "report/glossary.h"
#include "report/hits.h"
#include "report/profile_text.h"
#include "result/coalescing.h"
#include "result/gains.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;

class Facts {
 public:
  explicit Facts(const KernelResult& kernel) : k(kernel) {}
  double operator()(const std::string& name) const { return k.metrics.get(name).value_or(0); }
  bool has(const std::string& name) const { return k.metrics.get(name).has_value(); }
  const KernelResult& k;
};

// Largest first.
std::vector<std::pair<double, std::string>> sorted(const Metrics& metrics, std::string_view prefix) {
  std::vector<std::pair<double, std::string>> out;
  for (const Metrics::Value& v : metrics.values())
    if (v.name.starts_with(prefix)) out.emplace_back(v.real, v.name.substr(prefix.size()));
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return out;
}

std::string time_sentence(const Facts& f, const std::string& device) {
  const std::string name = f.k.demangled.empty() ? f.k.name : f.k.demangled;
  return fmt::format("{} takes {} on {}: {} cycles{}.", printable(name), format_time(f("gpu.time")),
                     printable(device), format_exact(static_cast<std::uint64_t>(f("gpu.cycles"))),
                     f.k.launches > 1 ? fmt::format(" in {} launches", f.k.launches) : "");
}

std::string occupancy_sentence(const Facts& f) {
  std::string out =
      fmt::format("An SM has room for {} of its warps", format_share(f("occupancy.theoretical")));
  if (f("occupancy.theoretical") < 1 && !f.k.limiter.empty())
    out += fmt::format(" (limited by {})", printable(f.k.limiter));
  out += fmt::format("; {} were there while it worked", format_share(f("occupancy.achieved")));
  const double empty = f("stall.no_warp");
  if (empty >= 0.05)
    out += fmt::format(
        ". In {} of their slots schedulers had no warp at all{}", format_share(empty),
        f.has("gpu.waves") ? fmt::format(": the grid is {:.2f} waves of blocks", f("gpu.waves")) : "");
  return out + ".";
}

std::string issue_sentence(const Facts& f) {
  const double instructions = f("gpu.instructions.warp");
  const double cpi = instructions > 0 ? f("scheduler.slots") / instructions : 0;
  return fmt::format("Schedulers issued in {} of their slots: {:.2f} slots for each of {} warp instructions.",
                     format_share(f("stall.selected")), cpi, format_count(instructions));
}

std::string stall_sentence(const Facts& f) {
  const double lost = 1 - f("stall.selected");
  for (const auto& [share, name] : sorted(f.k.metrics, "stall.")) {
    if (name == "selected" || name == "no_warp") continue;
    if (share <= 0) break;
    const Term* term = find_term(stall_reasons(), name);
    return fmt::format(
        "Of the slots lost with warps there, most were lost to {}: {} of all slots, {} of the lost ones. {}",
        printable(name), format_share(share), format_share(lost > 0 ? share / lost : 0),
        term == nullptr ? "" : term->meaning);
  }
  return {};
}

std::string load_sentence(const Facts& f) {
  if (!f.has("load.latency")) return {};
  static constexpr std::pair<const char*, const char*> places[] = {{"l1_queue", "for their turn at L1"},
                                                                   {"mshr", "for a free miss register of L1"},
                                                                   {"l1", "in L1 itself"},
                                                                   {"crossbar", "in the crossbar"},
                                                                   {"l2_queue", "for their turn at L2"},
                                                                   {"l2", "in L2 itself"},
                                                                   {"dram_queue", "for their turn at DRAM"},
                                                                   {"dram_bank", "for a DRAM bank"},
                                                                   {"dram_bus", "for the DRAM's bus"},
                                                                   {"dram", "in DRAM itself"}};
  std::string parts;
  unsigned count = 0;
  for (const auto& [cycles, name] : sorted(f.k.metrics, "load.latency.")) {
    if (count++ == 3 || cycles <= 0) break;
    const auto* const place = std::ranges::find_if(places, [&](const auto& p) { return name == p.first; });
    parts += fmt::format("{}{:.0f} {}", parts.empty() ? "" : ", ", cycles,
                         place == std::end(places) ? name : std::string(place->second));
  }
  return fmt::format("Its {} loads take {:.0f} cycles on average: {}.", format_count(f("load.count")),
                     f("load.latency"), parts);
}

std::string level_sentence(const Facts& f) {
  if (f("l1.read.accesses") + f("l2.read.accesses") == 0) return {};
  const auto hit = [&](const std::string& level) {
    const result::HitRate rate = result::hit_rate(f.k.metrics, level);
    return rate.accesses > 0 ? fmt::format("{} of {} sectors", format_hits(rate), format_count(rate.accesses))
                             : format_hits(rate);
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
  for (const result::AccessUse& a : result::badly_coalesced(f.k))
    out += fmt::format("; threads use {} of the sectors that their {}s touch", format_share(a.use), a.kind);
  return out + ".";
}

std::string line_sentence(const Facts& f) {
  std::uint64_t all = 0;
  for (const std::uint64_t n : f.k.profile.slots) all += n;
  for (const result::LineProfile& l : result::by_source(f.k.profile)) {
    double share = 0;
    const std::string stall = top_stall(l, f.k.profile, share);
    if (stall.empty()) continue;
    std::string out =
        fmt::format("The line that takes most is {}: {} of the slots, {} of them {}", place_of(l),
                    format_share(static_cast<double>(result::slots_of(l)) /
                                 static_cast<double>(std::max<std::uint64_t>(all, 1))),
                    format_share(share), printable(stall));
    if (l.requests > 0)
      out += fmt::format("; a request touches {:.1f} sectors",
                         static_cast<double>(l.sectors) / static_cast<double>(l.requests));
    if (l.loads > 0)
      out += fmt::format(", a load takes {:.0f} cycles",
                         static_cast<double>(l.load_cycles) / static_cast<double>(l.loads));
    const std::string& text = text_of(l);
    return out + (text.empty() ? "." : fmt::format(": `{}`.", shortened(printable(text), 100)));
  }
  return {};
}

}  // namespace

std::vector<std::string> evidence(const KernelResult& kernel, const std::string& device) {
  const Facts f(kernel);
  std::vector<std::string> out;
  for (std::string sentence :
       {time_sentence(f, device), occupancy_sentence(f), issue_sentence(f), stall_sentence(f),
        load_sentence(f), level_sentence(f), line_sentence(f), printable(kernel.bottleneck)})
    if (!sentence.empty()) out.push_back(std::move(sentence));
  return out;
}

std::vector<Suspect> suspects(const KernelResult& kernel) {
  std::vector<Suspect> out;
  for (const result::LikelyGain& gain : result::likely_gains(kernel.metrics))
    out.push_back({std::string(gain.what_if), gain.share, because(kernel.metrics, gain.what_if)});
  return out;
}

std::string loss_reason(const KernelResult& before, const KernelResult& after) {
  // Slots are time: more of them are what was lost.
  const auto slots = [](const KernelResult& k, const std::string& reason) {
    return k.metrics.get("stall." + reason).value_or(0) * k.metrics.get("scheduler.slots").value_or(0);
  };
  double most = 0, all = 0;
  std::string grown;
  for (const auto& [share, name] : sorted(after.metrics, "stall.")) {
    const double more = slots(after, name) - slots(before, name);
    all += more;
    if (more <= most || name == "no_warp") continue;  // the other SMs' schedulers wait for the last
    most = more;
    grown = name;
  }
  std::string out;
  const auto add = [&](const std::string& text) { out += out.empty() ? text : "; " + text; };
  const Term* term = find_term(stall_reasons(), grown);
  if (all > 0 && !grown.empty())
    add(fmt::format(
        "more slots are lost to {}{}", printable(grown),
        term == nullptr ? "" : fmt::format(" ({})", term->meaning.substr(0, term->meaning.find('.')))));
  for (const auto& [label, level] : {std::pair{"L1", "l1"}, {"L2", "l2"}}) {
    const std::string was = format_hits(before.metrics, level), is = format_hits(after.metrics, level);
    if (was != is) add(fmt::format("{} {} -> {}", label, was, is));
  }
  const double was = before.metrics.get("dram.read.bytes").value_or(0),
               is = after.metrics.get("dram.read.bytes").value_or(0);
  if (std::abs(is - was) > 0.01 * std::max(is, was))
    add(fmt::format("DRAM reads {} -> {}", format_bytes(was), format_bytes(is)));
  return out.empty() ? "the order in which requests come is another one" : out;
}

}  // namespace simtlab::report
