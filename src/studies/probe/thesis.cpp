// Tables 10 to 12 of Sanchez' thesis, of what its method found (probe/thesis.h), beside slopes and what was
// published.
#include "probe/thesis.h"

#include <fmt/format.h>

#include "device/catalogue.h"
#include "probe/device_file.h"
#include "studies/probe/probe.h"
#include "studies/validate/reference.h"

namespace simtlab::studies {
namespace {

class Published {
 public:
  Published()
      : table_(studies::validate::Table::read(device::data_directory() / "measured" / "sanchez.csv")) {}

  // As printed; empty: there is none.
  std::string text(std::string_view place, std::string_view quantity, std::string_view of,
                   std::string_view board = "K40", std::string_view author = "Sanchez") const {
    for (std::size_t i = 0; i < table_.size(); ++i)
      if (table_.text(i, "place") == place && table_.text(i, "quantity") == quantity &&
          table_.text(i, "case") == of && table_.text(i, "board") == board &&
          table_.text(i, "author") == author)
        return table_.text(i, "value");
    return {};
  }

 private:
  studies::validate::Table table_;
};

std::string number(const probe::Findings& found, const std::string& key, const char* format = "{:.4g}") {
  const auto value = found.value(key);
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// 14.2 over 9: "+58 %".
std::string over(const probe::Findings& found, const std::string& thesis, const std::string& slope) {
  const auto t = found.value(thesis), s = found.value(slope);
  return t && s && *s > 0 ? fmt::format("{:+.0f} %", (*t / *s - 1) * 100) : "-";
}

std::string table_10(const probe::Findings& found, const gpu::BoardFacts& facts, const Published* published) {
  std::string out =
      "Table 10: parameters\n\n| parameter | thesis method | slope | of the method | published "
      "|\n|---|---|---|---|---|\n";
  const auto row = [&](const std::string& name, const std::string& thesis, const std::string& slope,
                       const std::string& excess, std::string_view quantity, std::string_view of,
                       std::string_view place = "Table 10") {
    out += fmt::format("| {} | {} | {} | {} | {} |\n", name, thesis, slope, excess,
                       or_dash(published != nullptr ? published->text(place, quantity, of) : ""));
  };
  const auto clock = found.value("sm.clock");
  row("core clock, MHz", clock ? fmt::format("{:.0f}", *clock / 1e6) : "-", "", "", "core_frequency", "K40");
  row("threads of a warp", fmt::format("{}", facts.warp_size), "", "", "warp_size", "K40");
  const unsigned cores = probe::cores_of(facts.cc_major, facts.cc_minor);
  row("SIMD width, cores of an SM", cores == 0 ? "-" : fmt::format("{}", cores), "", "", "simd_width", "K40");
  const auto giga = [&](const char* key) {
    const auto rate = found.value(key);
    return rate ? fmt::format("{:.1f}", *rate / 1e9) : "-";
  };
  row("copied in memory, GB/s", giga("thesis.copy"), giga("dram.bandwidth_measured"), "",
      "memory_peak_bandwidth", "K40 d2d copy; ECC on");
  for (const probe::ThesisOperation& op : probe::thesis_operations) {
    const std::string name(op.name), one = "thesis." + name + ".1", slope = "slope." + name;
    row(name + ", cycles", number(found, one), number(found, slope), over(found, one, slope), "latency",
        name);
  }
  row("L1 hit, 1 block an SM, cycles", number(found, "thesis.l1"), number(found, "l1.latency"),
      over(found, "thesis.l1", "l1.latency"), "hit_latency", "L1 (local memory; 1 block/SM)");
  row("L1 hit, 2 blocks an SM, cycles", number(found, "thesis.l1.loaded"), number(found, "l1.latency"),
      over(found, "thesis.l1.loaded", "l1.latency"), "hit_latency", "L1; 30 blocks (2 per SM)", "6.4.4");
  row("L2 hit, cycles", number(found, "thesis.l2"), number(found, "l2.latency"),
      over(found, "thesis.l2", "l2.latency"), "hit_latency", "L2");
  row("threads that L2 serves alone", number(found, "thesis.l2.threads", "{:.0f}"), "", "",
      "l2_only_upper_threads", "largest thread count with no DRAM", "6.3.1");
  row("the same, a line for each thread", number(found, "thesis.lines.l2.threads", "{:.0f}"), "", "", "", "");
  row("boundary of L2 and memory, cycles", number(found, "thesis.l2.boundary", "{:.0f}"), "", "",
      "l2_dram_boundary", "largest value of 11 x 896", "6.3.1");
  row("L2 hit, a line for each thread, cycles", number(found, "thesis.lines.l2"), number(found, "l2.latency"),
      over(found, "thesis.lines.l2", "l2.latency"), "", "");
  row("memory Y = aX + b: a, cycles a thread", number(found, "thesis.memory.slope"), "", "",
      "dram_latency_slope", "Y=aX+b over threads");
  row("b, cycles", number(found, "thesis.memory.intercept", "{:.1f}"), number(found, "dram.latency"), "",
      "dram_latency_intercept", "Y=aX+b over threads");
  row("R2", number(found, "thesis.memory.r2"), "", "", "dram_latency_r2", "Y=aX+b over threads");
  return out;
}

// Others measured other boards: as published, whatever this one is.
std::string table_11(const probe::Findings& found, const Published& published) {
  struct Column {
    const char *board, *author, *head;
  };
  static constexpr Column columns[] = {{"GTX780", "Mei 2014", "GTX 780, Mei"},
                                       {"GK104", "Andersch", "GK104, Andersch"},
                                       {"K40", "Parra 2016", "K40, Parra"},
                                       {"K40", "Sanchez", "K40, Sanchez"}};
  std::string out = "\nTable 11: latencies in cycles beside those of others\n\n| |";
  for (const Column& c : columns) out += fmt::format(" {} |", c.head);
  out += " thesis method here | slope here |\n|---|---|---|---|---|---|---|\n";
  const auto row = [&](const std::string& name, const std::string& thesis, const std::string& slope) {
    out += fmt::format("| {} |", name);
    for (const Column& c : columns)
      out += fmt::format(" {} |",
                         or_dash(published.text("Table 11", "latency " + name, "-", c.board, c.author)));
    out += fmt::format(" {} | {} |\n", thesis, slope);
  };
  for (const probe::ThesisOperation& op : probe::thesis_operations)
    row(std::string(op.name), number(found, fmt::format("thesis.{}.1", op.name)),
        number(found, fmt::format("slope.{}", op.name)));
  row("L1", number(found, "thesis.l1"), number(found, "l1.latency"));
  row("L2", number(found, "thesis.l2"), number(found, "l2.latency"));
  row("DRAM", found.value("thesis.memory.slope") ? "equation" : "-", number(found, "dram.latency"));
  return out;
}

std::string table_12(const probe::Findings& found, const Published* published) {
  std::string out =
                  "\nTable 12: cycles around n independent operations; slope: n times the latency that "
                  "dependent chains have, which n dependent operations would take\n\n| n |",
              line = "|---|";
  for (const probe::ThesisOperation& op : probe::thesis_operations) {
    out += fmt::format(" {} | slope |{}", op.name, published != nullptr ? " published |" : "");
    line += published != nullptr ? "---|---|---|" : "---|---|";
  }
  out += "\n" + line + "\n";
  for (unsigned n = 1; n <= probe::thesis_most; ++n) {
    out += fmt::format("| {} |", n);
    for (const probe::ThesisOperation& op : probe::thesis_operations) {
      const auto slope = found.value(fmt::format("slope.{}", op.name));
      out += fmt::format(" {} | {} |", number(found, fmt::format("thesis.{}.{}", op.name, n)),
                         slope ? fmt::format("{:.4g}", n * *slope) : "-");
      if (published != nullptr)
        out += fmt::format(
            " {} |", or_dash(published->text("Table 12", "latency", fmt::format("{} n={}", op.name, n))));
    }
    out += "\n";
  }
  return out;
}

// Cells whose value is the method's and not the device's.
std::string artefacts(const probe::Findings& found) {
  std::string out;
  for (const probe::ThesisOperation& op : probe::thesis_operations) {
    const std::string name(op.name);
    const auto one = found.value("thesis." + name + ".1"), slope = found.value("slope." + name);
    if (one && slope && *one > 1.05 * *slope)
      out += fmt::format(
          "- {}: one interval holds {:.4g} cycles, of which {:.4g} are the operation's latency: the rest is "
          "waiting for other warps\n",
          name, *one, *slope);
    for (unsigned n = 2; n <= probe::thesis_most; ++n) {
      const auto before = found.value(fmt::format("thesis.{}.{}", name, n - 1)),
                 now = found.value(fmt::format("thesis.{}.{}", name, n));
      if (before && now && *now < *before)
        out += fmt::format("- {}: {} operations take less ({:.4g} cycles) than {} ({:.4g})\n", name, n, *now,
                           n - 1, *before);
    }
  }
  for (const auto& [thesis, slope, name] :
       {std::tuple{"thesis.l1", "l1.latency", "L1"}, {"thesis.l2", "l2.latency", "L2"}})
    if (const auto t = found.value(thesis), s = found.value(slope); t && s && *t > 1.05 * *s)
      out += fmt::format("- {}: {:.4g} cycles under the load of many threads, {:.4g} of one load at a time\n",
                         name, *t, *s);
  if (const auto b = found.value("thesis.memory.intercept"); b && *b < 0)
    out += fmt::format(
        "- memory: the line is at {:.4g} cycles for no threads, which is no latency; one thread waits {} "
        "cycles\n",
        *b, number(found, "dram.latency"));
  return out.empty() ? "" : "\nOf the method and not of the device:\n\n" + out;
}

}  // namespace

std::string thesis_tables(const probe::Findings& found, const gpu::BoardFacts& facts) {
  const Published published;
  const Published* same = facts.name.find("K40") != std::string::npos ? &published : nullptr;
  return table_10(found, facts, same) + table_11(found, published) + table_12(found, same) +
         artefacts(found) + "\n";
}

}  // namespace simtlab::studies
