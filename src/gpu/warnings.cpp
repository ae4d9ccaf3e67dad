#include "gpu/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ptx/clock_intervals.h"
#include "ptx/text_lines.h"

namespace simtlab::gpu {
namespace {

// Itself and what it calls, each once.
std::vector<const ptx::Function*> reached_from(const ptx::Module& module, const ptx::Function& kernel) {
  std::vector<const ptx::Function*> out{&kernel};
  std::set<const ptx::Function*> seen{&kernel};
  const auto add = [&](std::uint32_t index) {
    if (index < module.functions.size() && seen.insert(&module.functions[index]).second)
      out.push_back(&module.functions[index]);
  };
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const ptx::CallSite& site : out[i]->call_sites) {
      if (!site.indirect) add(site.function);
      for (const std::uint32_t candidate : site.candidates) add(candidate);
    }
  return out;
}

struct Place {
  std::string file;
  std::uint32_t line = 0;
  auto operator<=>(const Place&) const = default;
  std::string text() const { return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line); }
};

// In the source, where the code says so; else in the PTX.
Place place_of(const ptx::Module& module, const ptx::Inst& inst) {
  const auto file = module.files.find(inst.file);
  if (inst.file != 0 && file != module.files.end() && inst.source_line != 0)
    return {file->second, inst.source_line};
  return {module.name, inst.line};
}

// Loads of one place between clock reads of one place each: several PTX instructions, where a line has
// several or a loop is unrolled.
struct Group {
  std::vector<ptx::UnwaitedLoad> loads;  // of `function`
  const ptx::Function* function = nullptr;
};
using Groups = std::map<std::tuple<Place, Place, Place>, Group>;

std::vector<result::Cell> row_of(const std::tuple<Place, Place, Place>& places, const Group& group,
                                 const ptx::TextLines& ptx) {
  const auto& [load, begin, end] = places;
  const ptx::UnwaitedLoad& first = group.loads.front();
  const auto& code = group.function->code;
  const std::set<std::uint32_t> pcs = [&] {
    std::set<std::uint32_t> out;
    for (const ptx::UnwaitedLoad& one : group.loads) out.insert(one.load);
    return out;
  }();
  const std::string text = fmt::format(
      "nothing waits for the load at {} ({}) between the clock reads at {} and {} (PTX lines {}, {} and "
      "{}{}): the interval has the time to issue it, not its latency. "
      "Use the value before the second clock read, in the address of the next load or in a store to shared "
      "memory.",
      load.text(), ptx[code[first.load].line], begin.text(), end.text(), code[first.load].line,
      code[first.begin].line, code[first.end].line,
      pcs.size() == 1 ? std::string() : fmt::format(", and {} more loads there", pcs.size() - 1));
  return {std::string("unwaited-load"),
          load.file,
          std::uint64_t{load.line},
          std::uint64_t{code[first.load].line},
          begin.text(),
          end.text(),
          text};
}

std::vector<result::Cell> row_of_unoptimised(const ptx::Module& module, const ptx::Function& kernel) {
  const std::string what =
      kernel.optimised ? fmt::format("optimised in part: {}", kernel.not_optimised)
                       : fmt::format("{} as its PTX stands, not optimised: {}",
                                     kernel.assembled ? "assembled" : "executed", kernel.not_optimised);
  return {std::string("not-optimised"),
          module.name,
          std::uint64_t{kernel.line},
          std::uint64_t{kernel.line},
          std::string(),
          std::string(),
          what};
}

std::vector<result::Cell> row_of_unassembled(const ptx::Module& module, const ptx::Function& kernel) {
  return {std::string("not-assembled"),
          module.name,
          std::uint64_t{kernel.line},
          std::uint64_t{kernel.line},
          std::string(),
          std::string(),
          fmt::format("executed as PTX, no machine code was made of it: {}", kernel.not_assembled)};
}

}  // namespace

std::optional<result::Table> warnings_of(const ptx::Module& module, const ptx::Function& kernel,
                                         std::optional<bool> lowering) {
  Groups groups;
  result::Table out{.name = "warnings", .rows = {}};
  if (!kernel.not_optimised.empty()) out.rows.push_back(row_of_unoptimised(module, kernel));
  if (!kernel.not_assembled.empty()) out.rows.push_back(row_of_unassembled(module, kernel));
  // Machine code does not say what its PTX said.
  const ptx::Function& as_ptx = kernel.source ? *kernel.source : kernel;
  for (const ptx::Function* function :
       lowering ? reached_from(module, as_ptx) : std::vector<const ptx::Function*>())
    for (const ptx::UnwaitedLoad& one : ptx::unwaited_loads(*function, *lowering)) {
      const auto at = [&](std::uint32_t pc) { return place_of(module, function->code[pc]); };
      Group& group = groups[{at(one.load), at(one.begin), at(one.end)}];
      group.function = function;
      group.loads.push_back(one);
    }
  if (groups.empty() && out.rows.empty()) return std::nullopt;
  const ptx::TextLines text(module);
  for (const auto& [places, group] : groups) out.rows.push_back(row_of(places, group, text));
  return out;
}

}  // namespace simtlab::gpu
