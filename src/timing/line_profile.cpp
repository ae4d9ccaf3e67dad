#include "timing/line_profile.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "ptx/text_lines.h"
#include "stream/code_text.h"

namespace simtlab::timing {
namespace {

bool idle(const InstCounters& c) {
  return c.instructions == 0 && std::ranges::all_of(c.slots, [](std::uint64_t n) { return n == 0; });
}

void add_to_line(result::LineProfile& line, const InstCounters& c) {
  line.instructions += c.instructions;
  line.threads += c.threads;
  for (std::size_t i = 0; i < stall_count; ++i) line.slots[i] += c.slots[i];
  line.requests += c.requests;
  line.sectors += c.sectors;
  line.shared_passes += c.shared_passes;
  line.shared_conflicts += c.shared_conflicts;
  line.loads += c.loads;
  line.load_cycles += c.load_cycles;
}

}  // namespace

void InstCounters::add(const InstCounters& o) {
  instructions += o.instructions;
  threads += o.threads;
  for (std::size_t i = 0; i < stall_count; ++i) slots[i] += o.slots[i];
  requests += o.requests;
  sectors += o.sectors;
  shared_passes += o.shared_passes;
  shared_conflicts += o.shared_conflicts;
  loads += o.loads;
  load_cycles += o.load_cycles;
}

void InstTable::find(const ptx::Function& function) {
  const auto known =
      std::ranges::find(functions_, &function, [](const auto& entry) { return entry->function; });
  if (known == functions_.end()) {
    functions_.push_back(
        std::make_unique<Entry>(Entry{&function, std::vector<InstCounters>(function.code.size())}));
    last_ = functions_.back().get();
  } else {
    last_ = known->get();
  }
  last_function_ = &function;
}

void InstTable::add(const InstTable& other) {
  for (const auto& entry : other.functions_)
    for (std::size_t pc = 0; pc < entry->counters.size(); ++pc)
      at(*entry->function, static_cast<std::uint32_t>(pc)).add(entry->counters[pc]);
}

void InstTable::clear() {
  functions_.clear();
  last_function_ = nullptr;
  last_ = nullptr;
}

result::Profile InstTable::profile(const ptx::Module& module, const SlotCounts& slots) const {
  result::Profile out;
  for (std::size_t i = 0; i < stall_count; ++i) {
    out.reasons.emplace_back(name_of(static_cast<Stall>(i)));
    out.slots.push_back(slots[i]);
  }
  const ptx::TextLines text(module);
  // In the order of the module, so that nothing depends on which SM came first.
  std::vector<const Entry*> order;
  for (const auto& entry : functions_) order.push_back(entry.get());
  std::ranges::sort(order, {}, [](const Entry* e) { return e->function->line; });
  for (const Entry* entry : order) {
    // The same line of PTX may stand for several source lines: an instruction keeps those of its own .loc.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, result::LineProfile> lines;
    for (std::size_t pc = 0; pc < entry->counters.size(); ++pc) {
      if (idle(entry->counters[pc])) continue;
      const ptx::Inst& inst = entry->function->code[pc];
      result::LineProfile& line = lines[{inst.line, inst.file, inst.source_line}];
      if (line.slots.empty()) {
        line.slots.resize(stall_count);
        line.function = entry->function->name;
        stream::CodeText shown = stream::text_of(*entry->function, pc, text);
        line.ptx_line = shown.ptx_line;
        line.ptx = std::move(shown.ptx);
        line.code = std::move(shown.machine);
        const auto file = module.files.find(inst.file);
        if (inst.source_line != 0 && file != module.files.end()) {
          line.file = file->second;
          line.line = inst.source_line;
        }
      }
      add_to_line(line, entry->counters[pc]);
    }
    for (auto& [key, line] : lines) out.lines.push_back(std::move(line));
  }
  return out;
}

}  // namespace simtlab::timing
