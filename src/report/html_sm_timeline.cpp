// What an SM did in a window of time (run --sm-timeline): a row a warp, coloured by what it does or waits
// for, and its blocks.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "report/cells.h"
#include "report/format.h"
#include "report/glossary.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::Table;

constexpr std::size_t sms_drawn = 8, timeline_rows = 1000;

// Issuing is green, the memory's stalls are warm, those of the pipelines cold, waiting for others is grey.
struct Colour {
  const char *state, *colour;
};
constexpr Colour colours[] = {{"selected", "#2CA02C"},
                              {"not_selected", "#B7B7B7"},
                              {"long_scoreboard", "#D55E00"},
                              {"short_scoreboard", "#E69F00"},
                              {"lg_throttle", "#A6341B"},
                              {"mio_throttle", "#CC79A7"},
                              {"tex_throttle", "#7B3294"},
                              {"wait", "#66C2A5"},
                              {"math_pipe_throttle", "#0072B2"},
                              {"dispatch", "#56B4E9"},
                              {"barrier", "#F0E442"},
                              {"membar", "#8C510A"},
                              {"branch_resolving", "#8C6BB1"},
                              {"imc_miss", "#5AB4AC"},
                              {"no_instruction", "#C7EAE5"},
                              {"drain", "#DFC27D"},
                              {"sleeping", "#EAEAEA"}};
constexpr const char *block_colours[] = {"#BBD6EA", "#7FB2D6"}, *block_names[] = {"block", "next block"};

std::string meaning_of(const std::string& state) {
  if (state == "selected") return "it issues an instruction";
  if (state == "not_selected") return "it could issue, and another warp does";
  const Term* term = find_term(stall_reasons(), state);
  return term == nullptr ? std::string() : std::string(term->meaning);
}

struct Sm {
  std::vector<std::size_t> blocks, warps;  // rows of the table
  std::map<std::string, double> cycles;    // of warps, by state
};

void add_blocks(const Table& t, const Sm& sm, HtmlChart& chart) {
  std::map<double, std::size_t> turns;  // blocks of a slot so far
  for (const std::size_t r : sm.blocks) {
    const std::string row = fmt::format("block slot {:.0f}", number(t, r, "slot"));
    const double from = number(t, r, "from"), to = number(t, r, "to");
    const std::string what = printable(words(t, r, "what"));
    chart.data["rows"].push_back(
        {{"row", row},
         {"from", from},
         {"to", to},
         {"part", block_names[turns[number(t, r, "slot")]++ % 2]},
         {"label", what},
         {"tip", fmt::format("{}, {}\ncycles {:.0f} to {:.0f}", what, row, from, to)}});
  }
}

void add_warps(const Table& t, const Sm& sm, HtmlChart& chart) {
  for (const std::size_t r : sm.warps) {
    const std::string row = fmt::format("warp {:.0f}", number(t, r, "slot")),
                      state = printable(words(t, r, "what"));
    const double from = number(t, r, "from"), to = number(t, r, "to");
    chart.data["rows"].push_back({{"row", row},
                                  {"from", from},
                                  {"to", to},
                                  {"part", state},
                                  {"label", ""},
                                  {"tip", fmt::format("{}: {} for {:.0f} cycles from {:.0f}\n{}", row, state,
                                                      to - from, from, meaning_of(state))}});
  }
}

// Rows in their order: blocks, then warps by number.
ChartData rows_in_order(const Table& t, const Sm& sm) {
  ChartData out = ChartData::array();
  for (const auto& [rows, name] : {std::pair{&sm.blocks, "block slot"}, std::pair{&sm.warps, "warp"}}) {
    std::set<double> slots;
    for (const std::size_t r : *rows) slots.insert(number(t, r, "slot"));
    for (const double slot : slots) out.push_back(fmt::format("{} {:.0f}", name, slot));
  }
  return out;
}

std::string timeline_chart(const Table& t, double number_of_sm, const Sm& sm, double begin, double end) {
  HtmlChart chart{"gantt",
                  fmt::format("SM {:.0f}, cycles {:.0f} to {:.0f}", number_of_sm, begin, end),
                  "A row a warp, coloured by what it does: selected issues an instruction, not_selected "
                  "could, the others are the reason for which it stalls. Above: the blocks in their slots.",
                  {},
                  {{"kind", "slot#", "from#", "to#", "what"},
                   {},
                   "",
                   "sm_timeline",
                   {"kind", "slot", "from", "to", "what"}}};
  chart.data["rows"] = ChartData::array();
  add_blocks(t, sm, chart);
  add_warps(t, sm, chart);
  chart.data["rows_of"] = rows_in_order(t, sm);
  chart.data["row"] =
      std::clamp<std::size_t>(420 / std::max<std::size_t>(chart.data["rows_of"].size(), 1), 11, 22);
  chart.data["begin"] = begin;
  chart.data["end"] = end;
  chart.data["x"] = "cycle";
  chart.data["parts"] = ChartData::array();
  for (const Colour& c : colours)
    if (sm.cycles.contains(c.state)) chart.data["parts"].push_back({{"name", c.state}, {"colour", c.colour}});
  for (const auto& [state, cycles] : sm.cycles)
    if (std::ranges::none_of(colours, [&](const Colour& c) { return state == c.state; }))
      chart.data["parts"].push_back({{"name", state}, {"colour", "#7A7A7A"}});
  for (std::size_t turn = 0; turn < std::size(block_colours); ++turn) {
    const char* name = block_names[turn];
    if (std::ranges::any_of(chart.data["rows"], [&](const ChartData& row) { return row["part"] == name; }))
      chart.data["parts"].push_back({{"name", name}, {"colour", block_colours[turn]}});
  }
  for (const auto* rows : {&sm.blocks, &sm.warps})
    for (const std::size_t r : *rows) {
      if (chart.table.rows.size() == timeline_rows) break;
      chart.table.rows.push_back(
          {html_escaped(printable(words(t, r, "kind"))), fmt::format("{:.0f}", number(t, r, "slot")),
           fmt::format("{:.0f}", number(t, r, "from")), fmt::format("{:.0f}", number(t, r, "to")),
           html_escaped(printable(words(t, r, "what")))});
    }
  std::string out = html_chart(chart);
  if (sm.blocks.size() + sm.warps.size() > timeline_rows)
    out += fmt::format(
        "<p class=\"muted\">The table has the first {} of {} rows; all are in the result file.</p>\n",
        timeline_rows, sm.blocks.size() + sm.warps.size());
  return out;
}

// What the warps' time went to in the window.
std::string share_chart(const std::map<double, Sm>& sms) {
  std::map<std::string, double> cycles;
  double all = 0;
  for (const auto& [number, sm] : sms)
    for (const auto& [state, of] : sm.cycles) cycles[state] += of, all += of;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [state, of] : cycles) order.emplace_back(of, state);
  std::ranges::sort(order, std::greater<>());
  HtmlChart chart{"bars",
                  "What the warps' time went to",
                  "Cycles of warps in the window, by state: of single warps, where the chart of scheduler "
                  "slots has one reason for each scheduler.",
                  {},
                  {{"state", "cycles#", "share#", "meaning"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["format"] = ".0%";
  for (const auto& [of, state] : order) {
    chart.data["rows"].push_back({{"label", state},
                                  {"value", of / all},
                                  {"text", format_share(of / all)},
                                  {"tip", fmt::format("{}: {} of the warps' time\n{}", state,
                                                      format_share(of / all), meaning_of(state))}});
    chart.table.rows.push_back({html_escaped(state), fmt::format("{:.0f}", of), format_share(of / all),
                                html_escaped(meaning_of(state))});
  }
  return html_chart(chart);
}

}  // namespace

std::string html_sm_timeline(const result::Result& result) {
  const Table* t = nullptr;
  for (const result::KernelResult& k : result.kernels)
    if (t == nullptr) t = result::find(k.tables, "sm_timeline");
  if (t == nullptr || t->rows.empty()) return {};
  std::map<double, Sm> sms;
  double begin = number(*t, 0, "from"), end = begin;
  for (std::size_t r = 0; r < t->rows.size(); ++r) {
    Sm& sm = sms[number(*t, r, "sm")];
    const double from = number(*t, r, "from"), to = number(*t, r, "to");
    if (!(to >= from)) continue;  // no file of ours
    begin = std::min(begin, from);
    end = std::max(end, to);
    const bool warp = words(*t, r, "kind") == "warp";
    (warp ? sm.warps : sm.blocks).push_back(r);
    if (warp) sm.cycles[printable(words(*t, r, "what"))] += to - from;
  }
  std::string out = fmt::format(
      "<section id=\"sm-timeline\"><h2>An SM over time</h2>\n<p>Cycles since the first kernel began; the "
      "window is {} to {}.</p>\n",
      html_metric(result.total, "timeline.from"), html_metric(result.total, "timeline.to"));
  if (const auto cut = result.total.get("timeline.left_out"); cut && *cut > 0)
    out += fmt::format(
        "<p class=\"warning\">Cut: {} states of the window are left out; a shorter one (--timeline-window "
        "FROM:TO) is whole.</p>\n",
        html_metric("timeline.left_out", *cut));
  std::size_t drawn = 0;
  for (const auto& [number_of_sm, sm] : sms) {
    if (drawn++ == sms_drawn) break;
    out += timeline_chart(*t, number_of_sm, sm, begin, end);
  }
  if (sms.size() > sms_drawn)
    out +=
        fmt::format("<p class=\"warning\">{} more SMs are in the result file.</p>\n", sms.size() - sms_drawn);
  return out + share_chart(sms) + "</section>\n";
}

}  // namespace simtlab::report
