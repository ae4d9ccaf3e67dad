#include <algorithm>

#include "base/error.h"
#include "result/registry_corun.h"
#include "result/registry_nest.h"
#include "result/registry_probe.h"
#include "result/table.h"
#include "result/timeline.h"

namespace simtlab::result {
namespace {

// Columns of what is counted for an instruction and for a buffer alike.
std::vector<ColumnDeclaration> with_accesses(std::vector<ColumnDeclaration> first) {
  const std::vector<ColumnDeclaration> counts = {
      {"requests", "1", "Warp instructions (single threads with an order of threads)"},
      {"threads", "1", "Accesses of single threads in these requests"},
      {"lines", "1", "Lines of 128 bytes after coalescing"},
      {"sectors", "1", "Sectors of 32 bytes after coalescing"},
      {"bytes", "bytes", "Different bytes that the threads of a request ask for, summed over requests"},
      {"use", "1", "bytes / (32 * sectors): how much of what is moved the threads want"},
      {"l1.read.accesses", "1", "Reads that looked into L1, as l1.read.accesses"},
      {"l1.read.misses", "1", "Reads that missed L1"},
      {"l1.read.misses.cold", "1", "Misses of sectors that the SM never read before"},
      {"l1.read.misses.capacity", "1", "Misses that a fully associative LRU cache of equal size has, too"},
      {"l1.read.misses.conflict", "1",
       "Misses that a fully associative LRU cache of equal size would not have"},
      {"l1.read.misses.invalidated", "1", "Misses of data that a store or atomic threw out"},
      {"l1.read.miss_rate", "1", "l1.read.misses / l1.read.accesses"},
      {"l2.read.accesses", "1", "Sectors that were asked of L2"},
      {"l2.read.misses", "1", "Sectors that missed L2"},
      {"l1.read.misses.partial", "1", "Misses of L1 on sectors that stores had only begun"},
  };
  first.insert(first.end(), counts.begin(), counts.end());
  return first;
}

}  // namespace

const std::vector<TableDeclaration>& table_registry() {
  // Never destroyed: a program's result is written by an exit handler, which may run after static
  // destructors.
  static const auto& all = *[] {
    auto* list = new std::vector<TableDeclaration>{
        {"sms",
         "L1 of each SM.",
         {{"sm", "1", "Number of the SM"},
          {"blocks", "1", "Blocks that the SM ran"},
          {"l1.read.accesses", "1", "Reads that looked into the SM's L1"},
          {"l1.read.hits", "1", "Reads that hit the SM's L1"},
          {"l1.read.hits_pending", "1", "Hits on lines that were under way"},
          {"l1.read.misses", "1", "Reads that missed the SM's L1"},
          {"l1.read.misses.cold", "1", "Misses of sectors that the SM never read before"},
          {"l1.read.misses.capacity", "1",
           "Misses that a fully associative LRU cache of equal size has, too"},
          {"l1.read.misses.conflict", "1",
           "Misses that a fully associative LRU cache of equal size would not have"},
          {"l1.read.misses.invalidated", "1", "Misses of data that a store or atomic threw out"},
          {"l1.read.miss_rate", "1", "l1.read.misses / l1.read.accesses"},
          {"l1.read.stalled", "1", "Reads that waited for an MSHR or for a place in their set"},
          {"l1.write.accesses", "1", "Writes that reached the SM's L1"},
          {"l1.read.misses.partial", "1", "Misses on sectors that stores had only begun"}}},
        {"instructions", "Every instruction that accesses global or local memory.",
         with_accesses({{"function", "", "PTX name of the function"},
                        {"ptx_line", "1", "Line of the PTX text; none of machine code without it"},
                        {"ptx", "", "Text of the PTX line, or the instruction of machine code"},
                        {"file", "", "Source file, where the code has line information"},
                        {"line", "1", "Source line"},
                        {"kind", "", "load, store or atomic"},
                        {"stride", "bytes",
                         "Distance between the addresses of neighbouring threads, where most threads have "
                         "one distance"},
                        {"buffer", "", "Buffer that the instruction accesses (of several: the first)"}})},
        {"buffers", "Every allocation that was accessed.",
         with_accesses({{"name", "", "Parameter of the kernel, or the call that allocated the buffer"},
                        {"size", "bytes", "Size of the allocation"}})},
        {"sets",
         "Sets of L1, summed over the SMs.",
         {{"set", "1", "Number of the set"},
          {"accesses", "1", "Reads of lines of the set"},
          {"misses", "1", "Reads of lines of the set that missed"},
          {"conflicts", "1", "Reads of lines of the set that were conflict misses"}}},
        {"set_map",
         "Sets of L1, SM by SM; with pictures.",
         {{"sm", "1", "Number of the SM"},
          {"set", "1", "Number of the set"},
          {"accesses", "1", "Reads of lines of the set"},
          {"misses", "1", "Reads of lines of the set that missed"}}},
        {"reuse",
         "Reuse distances in L1: how many other lines an SM read since it read a line last.",
         {{"from", "1", "Least distance of the row, in lines"},
          {"to", "1", "Greatest distance"},
          {"accesses", "1", "Line reads; with sampling, of sampled lines"}}},
        {"miss_ratio",
         "Share of the line reads that miss fully associative LRU caches of other sizes.",
         {{"cache", "", "l1 or l2"},
          {"bytes", "bytes", "Capacity"},
          {"lines", "1", "Lines of that capacity"},
          {"ratio", "1", "Share of the line reads that miss such a cache"},
          {"error", "1", "Standard error of the share; with sampling"}}},
        {"points",
         "Single accesses of one SM, evenly over the run.",
         {{"order", "1", "Number of the thread access on the SM"},
          {"buffer", "", "Name of the buffer"},
          {"offset", "bytes", "Distance from the start of the buffer"},
          {"thread", "1", "Thread of the launch"},
          {"store", "1", "1 for stores"}}},
        {"sm_points",
         "Single accesses of every SM, evenly over the run of each.",
         {{"sm", "1", "SM"},
          {"order", "1", "Number of the thread access on that SM"},
          {"buffer", "", "Name of the buffer"},
          {"offset", "bytes", "Distance from the start of the buffer"},
          {"thread", "1", "Thread of the launch"},
          {"store", "1", "1 for stores"}}},
        {"warnings",
         "What a kernel does that makes its own results mean something else than they seem to, and why it "
         "was "
         "not optimised; at its first launch.",
         {{"id", "", "Kind of the warning: unwaited-load, not-optimised, not-assembled"},
          {"file", "", "Source file of the place, or the PTX where the code has no line information"},
          {"line", "1", "Line of the place in that file"},
          {"ptx_line", "1", "Line of the PTX text"},
          {"begin", "", "Begin of the timed interval, FILE:LINE"},
          {"end", "", "End of the timed interval, FILE:LINE"},
          {"text", "", "Meaning of the warning, and what to do"}}},
        {"advice",
         "What stands out, most expensive first.",
         {{"share", "1", "Share of the L1 and L2 traffic that the advice concerns"},
          {"text", "", "The observation, and what would change it"}}},
        {"l2_slices",
         "What each L2 slice moved during the kernel; with --series.",
         {{"slice", "1", "Number of the L2 slice"}, {"sectors", "1", "Sectors that the slice moved"}}},
        {"l2_slices_over_time",
         "How even the L2 slices were in each interval of --series.",
         {{"end", "cycles", "End of the interval, since the kernel began"},
          {"mean", "1", "Sectors that an average slice moved in the interval"},
          {"deviation", "1", "Standard deviation of the sectors over the slices"},
          {"least", "1", "Sectors of the slice that moved fewest"},
          {"most", "1", "Sectors of the slice that moved most"}}},
        {"coalescing",
         "Source lines whose global accesses use little of what they touch, most wasted sectors first; at "
         "most 8.",
         {{"kind", "", "load, store or atomic"},
          {"function", "", "PTX name of the function"},
          {"ptx_line", "1",
           "Line of the PTX text of the first such instruction; none of machine code without it"},
          {"ptx", "", "Text of that PTX line, or the instruction of machine code"},
          {"file", "", "Source file; none without line information"},
          {"line", "1", "Line of the source"},
          {"requests", "1", "Warp instructions of the line"},
          {"sectors", "1", "Sectors of 32 bytes that these instructions touch"},
          {"bytes", "bytes", "Bytes that the threads of these instructions ask for"},
          {"use", "1", "bytes / (32 * sectors)"}}},
        {"predictions",
         "What each analytical model says.",
         {{"model", "", "Name of the model"},
          {"authors", "", "Authors and year"},
          {"cycles", "cycles", "SM cycles of the kernel"},
          {"time", "ns", "Time of the kernel"},
          {"case", "", "Equation that the model took"},
          {"limit", "",
           "The term that sets the time: the one verdict of the model; its name comes before the first "
           "colon"},
          {"formula", "cycles", "SM cycles that the equations give"},
          {"floor", "cycles", "Roofline of the counts that the model uses"},
          {"floor_by", "", "Bound of the roofline: compute or bandwidth"}}},
        {"validation",
         "What a validation compared: a reference, ours, the error, and what the reference was used for.",
         {{"group", "", "Part of the validation"},
          {"device", "", "Device, board or program"},
          {"quantity", "", "Quantity that was compared"},
          {"over", "", "Mean or median over several values that the error is of; empty for one value"},
          {"unit", "", "Unit of the reference and of simtlab's value; share: a part of 1"},
          {"source", "", "Source of the reference"},
          {"low", "1", "Reference, or the least that it allows"},
          {"high", "1", "Reference, or the most that it allows"},
          {"ours", "1", "Value of simtlab"},
          {"error", "1", "Relative error; outside of an interval the distance from it"},
          {"worst", "1", "Greatest absolute error among several values"},
          {"target", "1", "Bound that the absolute error should not exceed"},
          {"worst_target", "1", "Bound that the worst error should not exceed"},
          {"met", "", "met or missed; empty without a target"},
          {"role", "", "tuned, held out, independent or by construction"},
          {"note", "", "Remark about the row"}}},
        {"counts",
         "What the analytical models were given.",
         {{"key", "", "Key of a counts file"},
          {"value", "1", "Value"},
          {"unit", "", "Unit of the value"},
          {"origin", "", "Source of the value"}}},
        {"terms",
         "Values between counts and prediction, in the order of the equations.",
         {{"model", "", "Name of the model"},
          {"name", "", "Name in the paper"},
          {"value", "1", "Value"},
          {"unit", "", "Unit of the value"},
          {"evidence", "",
           "How far the equation is known: verified, secondary, recalled, ours (not of the paper)"}}},
        {"sensitivity",
         "What 10 % more of a parameter of the machine do to the time.",
         {{"model", "", "Name of the model"},
          {"parameter", "", "Key of the counts file"},
          {"change", "1", "Relative change of the time"},
          {"other_case", "1", "1: the model takes another of its equations there"}}},
        {"hotspots",
         "Instructions during which the compute units of an SM are idle, by a model; longest first.",
         {{"model", "", "Name of the model"},
          {"place", "", "Instruction and its line"},
          {"class", "", "Operation class"},
          {"insts", "1", "Executions of a warp"},
          {"idle_cycles", "cycles",
           "Cycles of an SM in which memory works on the instruction and no compute unit has a warp; several "
           "instructions in memory have each all of them"},
          {"idle_share", "1", "Idle cycles over the time of the kernel"},
          {"own_share", "1", "Idle cycles over those in which memory works on the instruction"}}},
        {"remarks",
         "What is to be known about a prediction.",
         {{"model", "", "Name of the model"}, {"text", "", "One or two sentences"}}},
    };
    for (const TableDeclaration& t : nest_tables()) list->push_back(t);
    for (const TableDeclaration& t : probe_tables()) list->push_back(t);
    for (const TableDeclaration& t : corun_tables()) list->push_back(t);
    list->push_back(sm_timeline_table());
    return list;
  }();
  return all;
}

const TableDeclaration* find_table(std::string_view name) {
  const auto found = std::ranges::find(table_registry(), name, &TableDeclaration::name);
  return found == table_registry().end() ? nullptr : &*found;
}

std::size_t column(std::string_view table, std::string_view name) {
  const TableDeclaration* declaration = find_table(table);
  SIMTLAB_ASSERT(declaration != nullptr, "a table that is not declared");
  const auto found = std::ranges::find(declaration->columns, name, &ColumnDeclaration::name);
  SIMTLAB_ASSERT(found != declaration->columns.end(), "a column that is not declared");
  return static_cast<std::size_t>(found - declaration->columns.begin());
}

double number(const Cell& cell) {
  if (const auto* n = std::get_if<std::uint64_t>(&cell)) return static_cast<double>(*n);
  if (const auto* n = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*n);
  if (const auto* n = std::get_if<double>(&cell)) return *n;
  return 0;
}

const Table* find(const std::vector<Table>& tables, std::string_view name) {
  const auto found = std::ranges::find(tables, name, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace simtlab::result
