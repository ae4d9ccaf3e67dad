#include "models/loops/code.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "models/loops/description.h"

namespace simtlab::models::loops {
namespace {

constexpr unsigned reserved_registers = 8;  // stack, thread indices, the scheduler's room
constexpr double entry_instructions = 4;    // of each thread dimension: block, width, thread, their sum

// As soon as the operands are there; two lengths of the same chains: in instructions and in cycles.
void chains(const Description& nest, const Block& block, const device::Device& device, BlockCode& out) {
  // Of a value: instructions and cycles until it is there
  std::map<std::uint32_t, std::pair<double, double>> ready;
  std::map<std::uint32_t, double> loads;  // loads in a chain
  double all_loads = 0, chain_of_loads = 0;
  for (const Instruction& i : block.instructions) {
    double length = 0, cycles = 0, before = 0;
    for (const std::uint32_t u : i.uses) {
      if (const auto found = ready.find(u); found != ready.end()) {
        length = std::max(length, found->second.first);
        cycles = std::max(cycles, found->second.second);
      }
      if (const auto found = loads.find(u); found != loads.end()) before = std::max(before, found->second);
    }
    const double n = i.op_class >= 0 ? i.count + i.more : 0;
    out.instructions += n;
    if (i.op_class >= 0)
      cycles += device.latency[at(i.op_class)] * i.count +
                (i.more > 0 ? device.latency[at(i.more_class)] * i.more : 0);
    length += n;
    const bool load =
        i.access >= 0 && !nest.accesses[at(i.access)].store && nest.accesses[at(i.access)].input >= 0;
    if (load) {
      ++all_loads;
      ++before;
      chain_of_loads = std::max(chain_of_loads, before);
    }
    ready[i.id] = {length, cycles};
    loads[i.id] = before;
    out.longest = std::max(out.longest, length);
    out.cycles = std::max(out.cycles, cycles);
  }
  out.ilp = out.longest > 0 ? out.instructions / out.longest : 1;
  out.memory_parallelism = chain_of_loads > 0 ? all_loads / chain_of_loads : 1;
}

}  // namespace

Spilling belady(const Block& block, unsigned registers) {
  Spilling out;
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  const std::size_t n = block.instructions.size();
  std::map<std::uint32_t, std::vector<std::size_t>> uses;
  std::map<std::uint32_t, unsigned> words;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::uint32_t u : block.instructions[i].uses) uses[u].push_back(i);
    words[block.instructions[i].id] = block.instructions[i].words;
  }
  for (const std::uint32_t v : block.outgoing) uses[v].push_back(n);
  const auto next_use = [&](std::uint32_t v, std::size_t from) {
    const auto& list = uses[v];
    const auto found = std::ranges::lower_bound(list, from);
    return found == list.end() ? never : *found;
  };
  // From outside: mostly indices and pointers' halves
  const auto width = [&](std::uint32_t v) { return words.contains(v) ? words[v] : 1u; };
  std::set<std::uint32_t> held, in_memory;
  unsigned used = 0;
  const auto make_room = [&](unsigned wanted, std::size_t now, const std::set<std::uint32_t>& keep) {
    while (used + wanted > registers) {
      std::uint32_t victim = 0;
      std::size_t farthest = 0;
      for (const std::uint32_t v : held)
        if (!keep.contains(v) && next_use(v, now) >= farthest) {
          farthest = next_use(v, now);
          victim = v;
        }
      if (farthest == 0) return;
      held.erase(victim);
      used -= width(victim);
      if (farthest != never && in_memory.insert(victim).second) ++out.spills;
    }
  };
  const auto hold = [&](std::uint32_t v, std::size_t now, const std::set<std::uint32_t>& keep) {
    if (held.contains(v)) return;
    make_room(width(v), now, keep);
    held.insert(v);
    used += width(v);
  };
  for (const auto& [v, list] : uses)  // what comes in from outside
    if (!words.contains(v)) hold(v, 0, {});
  out.pressure = used;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& x = block.instructions[i];
    const std::set<std::uint32_t> keep(x.uses.begin(), x.uses.end());
    for (const std::uint32_t u : x.uses) {
      if (!held.contains(u)) ++out.reloads;
      hold(u, i, keep);
    }
    for (auto v = held.begin(); v != held.end();)  // what is not needed any more makes room
      if (next_use(*v, i + 1) == never) {
        used -= width(*v);
        v = held.erase(v);
      } else {
        ++v;
      }
    if (x.words > 0 && next_use(x.id, i + 1) != never) hold(x.id, i + 1, {});
    out.pressure = std::max(out.pressure, used);
  }
  return out;
}

double on_chip_intensity(const Description& nest, const Shape& shape) {
  double on = 0, off = 0;
  for (std::size_t b = 0; b < nest.blocks.size(); ++b) {
    std::set<std::uint32_t> loaded;
    for (const Instruction& i : nest.blocks[b].instructions) {
      if (i.op_class < 0) continue;
      const bool accesses = i.access >= 0 && nest.accesses[at(i.access)].input >= 0;
      const bool waits = std::ranges::any_of(i.uses, [&](std::uint32_t u) { return loaded.contains(u); });
      (accesses || waits ? off : on) += (i.count + i.more) * shape.executions[b];
      if (accesses && !nest.accesses[at(i.access)].store) loaded.insert(i.id);
    }
  }
  return off > 0 ? on / off : std::numeric_limits<double>::infinity();
}

void add_spills(Code& code) {
  code.mix[device::index(device::OpClass::load)] += code.reloads;
  code.mix[device::index(device::OpClass::store)] += code.spills - code.reloads;
  code.instructions += code.spills;
}

Code code_of(const Description& nest, const Shape& shape, const Mapping& mapping,
             const device::Device& device) {
  Code code;
  unsigned pressure = 0;
  double weighted_ilp = 0, weighted_loads = 0, load_weight = 0, latency = 0;
  for (std::size_t b = 0; b < nest.blocks.size(); ++b) {
    BlockCode c;
    c.block = static_cast<int>(b);
    // Every thread does what stands around the loops that it is one iteration of.
    double sharers = 1;
    for (const int l : mapping.loops)
      if (nest.inside(nest.blocks[b].loop, l)) sharers *= shape.trips[at(l)];
    c.executions = nest.blocks[b].loop < 0 ? 1 : shape.executions[b] / sharers;
    c.guessed = shape.guessed[b];
    for (const Instruction& i : nest.blocks[b].instructions)
      if (i.line != 0 && (c.line == 0 || i.line < c.line)) c.line = i.line;
    chains(nest, nest.blocks[b], device, c);
    const Spilling unlimited = belady(nest.blocks[b], std::numeric_limits<unsigned>::max() / 2);
    const Spilling s = belady(nest.blocks[b], device.sm.max_registers_per_thread - reserved_registers);
    c.pressure = unlimited.pressure;
    c.spills = s.spills;
    c.reloads = s.reloads;
    pressure = std::max(pressure, c.pressure);
    code.spills += (c.spills + c.reloads) * c.executions;
    code.reloads += c.reloads * c.executions;
    for (const Instruction& i : nest.blocks[b].instructions) {
      if (i.op_class < 0) continue;
      code.mix[at(i.op_class)] += i.count * c.executions;
      if (i.more > 0) code.mix[at(i.more_class)] += i.more * c.executions;
      code.flops += i.flops * c.executions;
      if (i.access >= 0 && nest.accesses[at(i.access)].input >= 0) code.memory += c.executions;
    }
    weighted_ilp += c.ilp * c.instructions * c.executions;
    code.instructions += c.instructions * c.executions;
    double loads = 0;
    for (const Instruction& i : nest.blocks[b].instructions) loads += i.access >= 0 ? 1 : 0;
    weighted_loads += c.memory_parallelism * loads * c.executions;
    load_weight += loads * c.executions;
    code.blocks.push_back(c);
  }
  code.mix[device::index(device::OpClass::int_alu)] +=
      entry_instructions * static_cast<double>(mapping.loops.size());
  if (code.instructions > 0) code.ilp = weighted_ilp / code.instructions;
  code.instructions += entry_instructions * static_cast<double>(mapping.loops.size());
  if (load_weight > 0) code.memory_parallelism = weighted_loads / load_weight;
  double compute = 0;
  for (std::size_t i = 0; i < code.mix.size(); ++i) {
    if (device::accesses_memory(static_cast<device::OpClass>(i))) continue;
    latency += code.mix[i] * device.latency[i];
    compute += code.mix[i];
  }
  code.latency = compute > 0 ? latency / compute : 0;
  add_spills(code);
  code.pressure = pressure + reserved_registers;
  code.registers = std::min(pressure + reserved_registers, device.sm.max_registers_per_thread);
  return code;
}

}  // namespace simtlab::models::loops
