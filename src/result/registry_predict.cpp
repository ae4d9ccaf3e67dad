// Metrics of predictions: pure data. docs/models.md has the equations.
#include "result/registry_predict.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"predict.mwp-cwp.cycles", "cycles",
     "SM cycles of the kernel by MWP-CWP (Hong and Kim 2009), never below the floor unless rule paper is "
     "asked for.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp.time", "ns", "The same as time.", "kernel", "predict.mwp-cwp.cycles / freq", "", sum,
     ""},
    {"predict.mwp-cwp.formula.cycles", "cycles",
     "What the equations of MWP-CWP give, even where that is impossible.", "kernel", "", "", sum, ""},
    {"predict.mwp-cwp.floor.cycles", "cycles",
     "Roofline of the same counts: the issue of the instructions or the transfer of the bytes, whichever "
     "takes longer.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.cycles", "cycles",
     "SM cycles of the kernel by the extension of MWP-CWP (Sim et al. 2012), never below the floor; rests on "
     "recalled equations.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.time", "ns", "The same as time.", "kernel", "predict.mwp-cwp-2012.cycles / freq",
     "", sum, ""},
    {"predict.mwp-cwp-2012.formula.cycles", "cycles",
     "What the equations of the extension give, even where that is impossible.", "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.floor.cycles", "cycles",
     "Roofline of the same counts: the arithmetic lanes or the transfer of the useful bytes, whichever takes "
     "longer.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.memlp", "cycles",
     "B_memlp: most that more requests in flight or fewer transactions could gain.", "kernel", "", "", sum,
     ""},
    {"predict.mwp-cwp-2012.benefit.fp", "cycles",
     "B_fp: most that removing what is not floating-point work could gain.", "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.itilp", "cycles",
     "B_itilp: most that more independent instructions or warps could gain.", "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.serial", "cycles",
     "B_serial: most that removing barriers, pressure on special function units, divergence and bank "
     "conflicts could gain.",
     "kernel", "", "", sum, ""},
    {"predict.throughput.cycles", "cycles",
     "SM cycles of the kernel by the busiest unit or the latencies of its warps, whichever takes longer "
     "(after Volkov 2016).",
     "kernel", "", "", sum, ""},
    {"predict.throughput.time", "ns", "The same as time.", "kernel", "predict.throughput.cycles / freq", "",
     sum, ""},
    {"predict.throughput.formula.cycles", "cycles",
     "What the equations of the throughput bound give, even where that is impossible.", "kernel", "", "", sum,
     ""},
    {"predict.throughput.floor.cycles", "cycles", "Roofline of the counts: no kernel with them is faster.",
     "kernel", "", "", sum, ""},
    {"predict.roofline.cycles", "cycles",
     "Least SM cycles of the kernel by the hierarchical roofline: computation and every level of memory at "
     "their peak.",
     "kernel", "", "", sum, ""},
    {"predict.roofline.time", "ns", "The same as time.", "kernel", "predict.roofline.cycles / freq", "", sum,
     ""},
    {"predict.roofline.formula.cycles", "cycles",
     "What the equations of the roofline give, even where that is impossible.", "kernel", "", "", sum, ""},
    {"predict.roofline.floor.cycles", "cycles", "Roofline of the counts: no kernel with them is faster.",
     "kernel", "", "", sum, ""},
    {"predict.resios.cycles", "cycles",
     "SM cycles of the kernel by the parametrised model of Resios (2011): delays of the units and the queues "
     "in front of them.",
     "kernel", "", "", sum, ""},
    {"predict.resios.time", "ns", "The same as time.", "kernel", "predict.resios.cycles / freq", "", sum, ""},
    {"predict.resios.time.total", "ns", "The same with context, launch and copies, as far as they are known.",
     "kernel", "", "", sum, ""},
    {"predict.resios.formula.cycles", "cycles",
     "What the queues of Resios' model give, even where that is impossible.", "kernel", "", "", sum, ""},
    {"predict.resios.floor.cycles", "cycles", "Roofline of the counts: no kernel with them is faster.",
     "kernel", "", "", sum, ""},
    {"counts.blocks", "blocks",
     "Blocks that were executed instruction by instruction for the counts of a prediction.", "kernel", "", "",
     sum, ""},
    {"counts.error", "1",
     "95 % confidence interval of the instructions of the whole grid, relative, if blocks that were not "
     "executed are like those that were; absent if all were executed.",
     "kernel", "", "", Combine::max, ""},
};

}  // namespace

std::span<const MetricDeclaration> predict_metrics() { return rows; }

}  // namespace simtlab::result
