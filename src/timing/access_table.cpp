#include "timing/access_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "ptx/text_lines.h"
#include "result/coalescing.h"
#include "stream/code_text.h"

namespace simtlab::timing {
namespace {

constexpr std::size_t most_rows = 8;

const char* kind_of(ptx::OpClass c) {
  const device::Access access = device::traits(c).access;
  return access == device::Access::atomic ? "atomic" : access == device::Access::store ? "store" : "load";
}

// A source line, or a line of PTX where the source is not known.
struct Line {
  const ptx::Function* function = nullptr;
  std::size_t pc = 0;  // of the first of its instructions
  std::uint32_t source_line = 0;
  std::string file;
  SpaceCounters counters;
};

std::uint64_t wasted(const SpaceCounters& c) { return c.sectors * 32 - std::min(c.bytes, c.sectors * 32); }

}  // namespace

void AccessTable::find(const Program& program) {
  const auto known = std::ranges::find(entries_, &program, [](const auto& entry) { return entry->program; });
  if (known == entries_.end()) {
    entries_.push_back(
        std::make_unique<Entry>(Entry{&program, std::vector<SpaceCounters>(program.access_count())}));
    last_ = entries_.back().get();
  } else {
    last_ = known->get();
  }
  last_program_ = &program;
}

void AccessTable::add(const AccessTable& other) {
  for (const auto& entry : other.entries_) {
    find(*entry->program);
    for (std::size_t i = 0; i < entry->counters.size(); ++i) last_->counters[i].add(entry->counters[i]);
  }
}

result::Table AccessTable::wasteful(const ptx::Module& module) const {
  // By kind and place: copies of an unrolled line count together. A map, so that nothing depends on which SM
  // came first.
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::string>, Line> lines;
  for (const auto& entry : entries_)
    for (const InstInfo& info : entry->program->code()) {
      if ((info.kind != Kind::memory && info.kind != Kind::bulk_copy) ||
          entry->counters[info.access].sectors == 0)
        continue;
      const ptx::Inst& inst = *info.inst;
      const auto file = module.files.find(inst.file);
      const bool known = inst.source_line != 0 && file != module.files.end();
      const ptx::Function& function = entry->program->function();
      Line& line = lines[{kind_of(info.op_class), known ? file->second : std::string(),
                          known ? inst.source_line : inst.line, known ? std::string() : function.name}];
      if (line.counters.requests == 0 || inst.line < line.function->code[line.pc].line)
        line = {&function, static_cast<std::size_t>(&inst - function.code.data()),
                known ? inst.source_line : 0, known ? file->second : std::string(), line.counters};
      line.counters.add(entry->counters[info.access]);
    }
  std::vector<std::pair<std::string, const Line*>> order;
  for (const auto& [key, line] : lines)
    if (const double use =
            static_cast<double>(line.counters.bytes) / static_cast<double>(line.counters.sectors * 32);
        use < result::well_coalesced)
      order.emplace_back(std::get<0>(key), &line);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto& row) { return wasted(row.second->counters); });
  if (order.size() > most_rows) order.resize(most_rows);
  result::Table out{"coalescing", {}};
  const ptx::TextLines text(module);
  for (const auto& [kind, line] : order) {
    const SpaceCounters& c = line->counters;
    const bool known = !line->file.empty();
    const stream::CodeText code = stream::text_of(*line->function, line->pc, text);
    out.rows.push_back(
        {kind, line->function->name,
         code.ptx_line == 0 ? result::Cell() : result::Cell(std::uint64_t{code.ptx_line}),
         code.machine.empty() ? code.ptx : code.machine, known ? result::Cell(line->file) : result::Cell(),
         known ? result::Cell(std::uint64_t{line->source_line}) : result::Cell(), c.requests, c.sectors,
         c.bytes, static_cast<double>(c.bytes) / static_cast<double>(c.sectors * 32)});
  }
  return out;
}

}  // namespace simtlab::timing
