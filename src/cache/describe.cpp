// What a launch counted, as metrics and tables.
#include <algorithm>
#include <cmath>
#include <string>

#include "cache/study_impl.h"
#include "ptx/text_lines.h"
#include "result/hit_rate.h"
#include "stream/code_text.h"

namespace simtlab::cache {
namespace {

using result::Cell;
using result::Metrics;
using result::Table;

double ratio(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

void set_cache(Metrics& m, const std::string& level, const CacheCounts& c) {
  const auto set = [&](const char* name, std::uint64_t value) { m.set(level + name, value); };
  set(".read.accesses", c.read.accesses);
  set(".read.hits", c.read.hits);
  set(".read.hits_pending", c.read.pending);
  set(".read.misses", c.read.misses);
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  result::set_hit_rate(
      m, level, result::hit_rate(number(c.read.hits), number(c.read.pending), number(c.read.accesses)));
  set(".read.misses.cold", c.read.cold);
  set(".read.misses.partial", c.read.partial);
  set(".read.misses.capacity", c.read.capacity);
  set(".read.misses.conflict", c.read.conflict);
  set(".read.misses.invalidated", c.read.invalidated);
  set(".read.hits.beyond_lru", c.read.lucky);
  set(".read.reuse.warp", c.read.same_warp);
  set(".read.reuse.block", c.read.same_block);
  set(".read.reuse.grid", c.read.other_block);
  set(".write.accesses", c.write.accesses);
  set(".write.hits", c.write.hits);
  set(".write.misses", c.write.misses);
  m.set(level + ".write.miss_rate", ratio(c.write.misses, c.write.accesses));
  set(".writebacks", c.writebacks);
}

Metrics metrics_of(const StudyState& s, const CacheCounts& l1, const AccessCounts& all) {
  Metrics m;
  m.set("gpu.instructions.warp", s.warp_instructions);
  m.set("gpu.instructions.thread", s.thread_instructions);
  m.set("occupancy.theoretical", s.occupancy.ratio);
  m.set("access.requests", all.requests);
  m.set("access.threads", all.threads);
  m.set("access.lines", all.lines);
  m.set("access.sectors", all.sectors);
  m.set("access.bytes", all.bytes);
  m.set("access.use", ratio(all.bytes, all.sectors * stream::sector_bytes));
  set_cache(m, "l1", l1);
  m.set("l1.read.stalled", l1.stalled);
  m.set("l1.fetched.bytes", l1.bytes_fetched);
  m.set("l1.fetched.used", l1.bytes_used);
  m.set("l1.fetched.use", ratio(l1.bytes_used, l1.bytes_fetched));
  m.set("l1.prefetches", l1.prefetches);
  if (s.options.fetch_on_write) m.set("l1.write.fetched.bytes", l1.bytes_fetched_by_writes);
  set_over_sms(m, s.sms);
  if (!s.l2) return m;
  set_cache(m, "l2", s.l2->counts());
  if (s.options.fetch_on_write) m.set("l2.write.fetched.bytes", s.l2->counts().bytes_fetched_by_writes);
  m.set("dram.read.bytes", s.l2->counts().bytes_fetched + s.l2->counts().bytes_fetched_by_writes);
  m.set("dram.write.bytes", s.l2->counts().writebacks * stream::sector_bytes);
  return m;
}

std::vector<Cell> read_cells(const AccessCounts& c) {
  return {c.requests,
          c.threads,
          c.lines,
          c.sectors,
          c.bytes,
          ratio(c.bytes, c.sectors * stream::sector_bytes),
          c.l1.accesses,
          c.l1.misses,
          c.l1.cold,
          c.l1.capacity,
          c.l1.conflict,
          c.l1.invalidated,
          c.l1.accesses == 0 ? Cell{} : Cell{ratio(c.l1.misses, c.l1.accesses)},
          c.l2_accesses,
          c.l2_misses,
          c.l1.partial};
}

void append(std::vector<Cell>& row, std::vector<Cell> more) {
  for (Cell& cell : more) row.push_back(std::move(cell));
}

std::string_view kind_of(Access access) {
  return access == Access::load ? "load" : access == Access::store ? "store" : "atomic";
}

Table instruction_table(const StudyState& s, AccessCounts& all) {
  Table table{.name = "instructions", .rows = {}};
  const ptx::Module& module = s.source->module();
  const ptx::TextLines text(module);
  for (const Code* code : s.codes->all())
    for (std::size_t pc = 0; pc < code->counts.size(); ++pc) {
      const AccessCounts& counts = code->counts[pc];
      if (counts.requests == 0) continue;
      all.add(counts);
      const ptx::Inst& inst = code->function().code[pc];
      const auto file = module.files.find(inst.file);
      const bool known = inst.file != 0 && file != module.files.end();
      const Stride& stride = code->strides[pc];
      const stream::CodeText shown = stream::text_of(code->function(), pc, text);
      std::vector<Cell> row = {code->function().name,
                               shown.ptx_line == 0 ? Cell{} : Cell{std::uint64_t{shown.ptx_line}},
                               shown.machine.empty() ? shown.ptx : shown.machine,
                               known ? Cell{file->second} : Cell{},
                               known ? Cell{std::uint64_t{inst.source_line}} : Cell{},
                               std::string(kind_of((*code)[static_cast<std::uint32_t>(pc)].access)),
                               stride.looks > 0 && stride.others == 0 ? Cell{stride.bytes} : Cell{},
                               code->buffers[pc] < s.buffers->list().size()
                                   ? Cell{s.buffers->list()[code->buffers[pc]].name}
                                   : Cell{}};
      append(row, read_cells(counts));
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table buffer_table(const StudyState& s) {
  Table table{.name = "buffers", .rows = {}};
  const auto add = [&](const std::string& name, Cell size, const AccessCounts& counts) {
    if (counts.lines == 0) return;
    std::vector<Cell> row = {name, std::move(size)};
    append(row, read_cells(counts));
    table.rows.push_back(std::move(row));
  };
  for (std::uint32_t i = 0; i < s.buffers->list().size(); ++i) {
    const Buffer& b = s.buffers->list()[i];
    add(b.name, b.end - b.begin, s.buffers->counts(i));
  }
  add("elsewhere", Cell{}, s.buffers->counts(Buffers::unknown));
  return table;
}

Table sm_table(const StudyState& s) {
  Table table{.name = "sms", .rows = {}};
  for (std::uint64_t sm = 0; sm < s.sms.size(); ++sm) {
    if (s.l1[sm] == nullptr) continue;
    const CacheCounts& c = s.sms[sm].l1;
    table.rows.push_back({sm, s.sms[sm].blocks, c.read.accesses, c.read.hits, c.read.pending, c.read.misses,
                          c.read.cold, c.read.capacity, c.read.conflict, c.read.invalidated,
                          c.read.accesses == 0 ? Cell{} : Cell{ratio(c.read.misses, c.read.accesses)},
                          c.stalled, c.write.accesses, c.read.partial});
  }
  return table;
}

Table set_table(const StudyState& s) {
  std::vector<SetCounts> sets;
  for (const auto& l1 : s.l1) {
    if (l1 == nullptr) continue;
    if (sets.size() < l1->sets().size()) sets.resize(l1->sets().size());
    for (std::size_t i = 0; i < l1->sets().size(); ++i) {
      sets[i].accesses += l1->sets()[i].accesses;
      sets[i].misses += l1->sets()[i].misses;
      sets[i].conflicts += l1->sets()[i].conflicts;
    }
  }
  Table table{.name = "sets", .rows = {}};
  for (std::uint64_t i = 0; i < sets.size(); ++i)
    table.rows.push_back({i, sets[i].accesses, sets[i].misses, sets[i].conflicts});
  return table;
}

Table set_map(const StudyState& s) {
  Table table{.name = "set_map", .rows = {}};
  for (std::uint64_t sm = 0; sm < s.l1.size(); ++sm) {
    if (s.l1[sm] == nullptr) continue;
    const std::vector<SetCounts>& sets = s.l1[sm]->sets();
    for (std::uint64_t i = 0; i < sets.size(); ++i)
      table.rows.push_back({sm, i, sets[i].accesses, sets[i].misses});
  }
  return table;
}

// Rows of doubling width; the first time of a line has no distance.
Table reuse_table(const ReuseHistogram& histogram) {
  Table table{.name = "reuse", .rows = {}};
  const std::vector<std::uint64_t>& counts = histogram.counts();
  std::uint64_t last = counts.size();
  while (last > 0 && counts[last - 1] == 0) --last;
  for (std::uint64_t from = 0; from < last;) {
    const std::uint64_t to = from == 0 ? 0 : 2 * from - 1;
    std::uint64_t sum = 0;
    for (std::uint64_t d = from; d <= to && d < counts.size(); ++d) sum += counts[d];
    table.rows.push_back({from, to, sum});
    from = to + 1;
  }
  if (histogram.first() != 0) table.rows.push_back({Cell{}, Cell{}, histogram.first()});
  return table;
}

// Four sizes to each doubling, up to where nothing changes any more.
template <class ErrorOf>
void add_curve(Table& table, const char* cache, const ReuseHistogram& histogram, std::uint64_t line_bytes,
               const ErrorOf& error_of) {
  if (histogram.total() == 0) return;
  const auto most = static_cast<double>(std::max<std::size_t>(histogram.counts().size(), 2)) * 2;
  std::uint64_t before = 0;
  for (double size = 1; size < most; size *= std::pow(2.0, 0.25)) {
    const auto lines = static_cast<std::uint64_t>(std::llround(size));
    if (lines == before) continue;
    before = lines;
    table.rows.push_back(
        {std::string(cache), lines * line_bytes, lines, histogram.miss_ratio(lines), error_of(lines)});
  }
}

// The groups of sampled lines are samples of their own: their spread says how good the mean is.
template <class Groups>
Cell standard_error(const Groups& groups, std::uint64_t lines) {
  double sum = 0, squares = 0;
  unsigned n = 0;
  for (const ReuseHistogram& group : groups) {
    if (group.total() == 0) continue;
    const double miss = group.miss_ratio(lines);
    sum += miss, squares += miss * miss, ++n;
  }
  if (n < 2) return {};
  return std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1) / n);
}

struct L1Histograms {
  ReuseHistogram all;
  std::vector<ReuseHistogram> groups;
};

L1Histograms l1_histograms(const StudyState& s) {
  L1Histograms out;
  for (const auto& l1 : s.l1) {
    if (l1 == nullptr) continue;
    out.all.add(l1->history().histogram());
    if (!l1->history().sampled()) continue;
    out.groups.resize(History::groups);
    for (unsigned g = 0; g < History::groups; ++g) out.groups[g].add(l1->history().group(g));
  }
  return out;
}

Table curve_table(const StudyState& s, const L1Histograms& l1) {
  Table table{.name = "miss_ratio", .rows = {}};
  add_curve(table, "l1", l1.all, s.device.l1.line_bytes, [&](std::uint64_t lines) {
    return l1.groups.empty() ? Cell{} : standard_error(l1.groups, lines);
  });
  if (!s.l2) return table;
  std::vector<ReuseHistogram> groups;
  if (s.l2->history().sampled())
    for (unsigned g = 0; g < History::groups; ++g) groups.push_back(s.l2->history().group(g));
  add_curve(table, "l2", s.l2->history().histogram(), stream::line_bytes,
            [&](std::uint64_t lines) { return groups.empty() ? Cell{} : standard_error(groups, lines); });
  return table;
}

Table point_table(const StudyState& s) {
  Table table{.name = "points", .rows = {}};
  for (const Point& p : s.picture.points())
    table.rows.push_back({p.order, s.buffers->list()[p.buffer].name, p.offset, std::uint64_t{p.thread},
                          std::uint64_t{p.store ? 1u : 0u}});
  return table;
}

Table sm_point_table(const StudyState& s) {
  Table table{.name = "sm_points", .rows = {}};
  for (std::uint64_t sm = 0; sm < s.sm_pictures.size(); ++sm)
    for (const Point& p : s.sm_pictures[sm].points())
      table.rows.push_back({sm, p.order, s.buffers->list()[p.buffer].name, p.offset, std::uint64_t{p.thread},
                            std::uint64_t{p.store ? 1u : 0u}});
  return table;
}

}  // namespace

void set_over_sms(Metrics& metrics, const std::vector<SmTotals>& sms) {
  std::vector<std::uint64_t> accesses, misses;
  std::vector<double> rates;
  for (const SmTotals& sm : sms) {
    if (sm.blocks == 0) continue;
    accesses.push_back(sm.l1.read.accesses);
    misses.push_back(sm.l1.read.misses);
    if (sm.l1.read.accesses != 0) rates.push_back(ratio(sm.l1.read.misses, sm.l1.read.accesses));
  }
  // The upper one of two in the middle: a value that some SM has.
  const auto set = [&](const std::string& name, auto& values) {
    if (values.empty()) return;
    std::ranges::sort(values);
    metrics.set(name + ".median", values[values.size() / 2]);
    metrics.set(name + ".min", values.front());
    metrics.set(name + ".max", values.back());
  };
  set("l1.read.accesses", accesses);
  set("l1.read.misses", misses);
  set("l1.read.miss_rate", rates);
}

result::KernelResult describe(const StudyState& s) {
  result::KernelResult out;
  AccessCounts all;
  Table instructions = instruction_table(s, all);
  CacheCounts l1;
  for (const SmTotals& sm : s.sms) l1.add(sm.l1);
  out.metrics = metrics_of(s, l1, all);
  out.limiter = device::name_of(s.occupancy.limit);
  out.order = s.options.order;
  const L1Histograms histograms = l1_histograms(s);
  out.tables.push_back(advice(instructions, out.metrics,
                              orders_threads(s.options.order) && s.options.warp_size != stream::lanes));
  out.tables.push_back(sm_table(s));
  out.tables.push_back(std::move(instructions));
  out.tables.push_back(buffer_table(s));
  out.tables.push_back(set_table(s));
  out.tables.push_back(reuse_table(histograms.all));
  out.tables.push_back(curve_table(s, histograms));
  if (s.options.pictures != 0) {
    out.tables.push_back(set_map(s));
    out.tables.push_back(point_table(s));
    out.tables.push_back(sm_point_table(s));
  }
  return out;
}

}  // namespace simtlab::cache
