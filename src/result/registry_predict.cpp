// Metrics of predictions: pure data. docs/concepts/models.md has the equations.
#include "result/registry_predict.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"predict.mwp-cwp.cycles", "cycles",
     "SM cycles of the kernel by MWP-CWP (Hong and Kim 2009); never below predict.mwp-cwp.floor.cycles "
     "unless --rule paper is given.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp.time", "ns", "Time of the kernel by MWP-CWP (Hong and Kim 2009).", "kernel",
     "predict.mwp-cwp.cycles / freq", "", sum, ""},
    {"predict.mwp-cwp.formula.cycles", "cycles",
     "SM cycles of the kernel that the equations of MWP-CWP give, even where no kernel can be so fast.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp.floor.cycles", "cycles",
     "Roofline of the counts that MWP-CWP uses: the issue of the instructions or the transfer of the "
     "bytes, whichever takes longer.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.cycles", "cycles",
     "SM cycles of the kernel by the extension of MWP-CWP (Sim et al. 2012), never below its floor; "
     "rests on recalled equations.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.time", "ns", "Time of the kernel by the extension of MWP-CWP (Sim et al. 2012).",
     "kernel", "predict.mwp-cwp-2012.cycles / freq", "", sum, ""},
    {"predict.mwp-cwp-2012.formula.cycles", "cycles",
     "SM cycles of the kernel that the equations of the extension of MWP-CWP (Sim et al. 2012) give, "
     "even where no kernel can be so fast.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.floor.cycles", "cycles",
     "Roofline of the counts that the extension of MWP-CWP uses: the arithmetic lanes or the transfer of "
     "the useful bytes, whichever takes longer.",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.memlp", "cycles",
     "SM cycles that more requests in flight or fewer transactions could gain at most (B_memlp of Sim et "
     "al. 2012).",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.fp", "cycles",
     "SM cycles that removing all work but floating-point arithmetic could gain at most (B_fp of Sim et "
     "al. 2012).",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.itilp", "cycles",
     "SM cycles that more independent instructions or warps could gain at most (B_itilp of Sim et al. "
     "2012).",
     "kernel", "", "", sum, ""},
    {"predict.mwp-cwp-2012.benefit.serial", "cycles",
     "SM cycles that removing barriers, pressure on special function units, divergence and bank "
     "conflicts could gain at most (B_serial of Sim et al. 2012).",
     "kernel", "", "", sum, ""},
    {"predict.throughput.cycles", "cycles",
     "SM cycles of the kernel by the busiest unit or the latencies of its warps, whichever takes longer "
     "(after Volkov 2016).",
     "kernel", "", "", sum, ""},
    {"predict.throughput.time", "ns", "Time of the kernel by the throughput bound (after Volkov 2016).",
     "kernel", "predict.throughput.cycles / freq", "", sum, ""},
    {"predict.throughput.formula.cycles", "cycles",
     "SM cycles of the kernel that the equations of the throughput bound give, even where no kernel can "
     "be so fast.",
     "kernel", "", "", sum, ""},
    {"predict.throughput.floor.cycles", "cycles",
     "Roofline of the counts that the throughput bound uses: no kernel with these counts is faster.",
     "kernel", "", "", sum, ""},
    {"predict.roofline.cycles", "cycles",
     "Least SM cycles of the kernel by the hierarchical roofline: computation and every level of memory at "
     "their peak.",
     "kernel", "", "", sum, ""},
    {"predict.roofline.time", "ns", "Least time of the kernel by the hierarchical roofline.", "kernel",
     "predict.roofline.cycles / freq", "", sum, ""},
    {"predict.roofline.formula.cycles", "cycles",
     "SM cycles of the kernel that the equations of the roofline give, even where no kernel can be so "
     "fast.",
     "kernel", "", "", sum, ""},
    {"predict.roofline.floor.cycles", "cycles",
     "Roofline of the kernel's counts, as the floor of the roofline model: no kernel with these counts "
     "is faster.",
     "kernel", "", "", sum, ""},
    {"predict.resios.cycles", "cycles",
     "SM cycles of the kernel by the parametrised model of Resios (2011): delays of its instructions at the "
     "parallelism that a coarse simulation of the warps finds.",
     "kernel", "", "", sum, ""},
    {"predict.resios.time", "ns", "Time of the kernel by the parametrised model of Resios (2011).", "kernel",
     "predict.resios.cycles / freq", "", sum, ""},
    {"predict.resios.time.total", "ns",
     "Time of the kernel by the model of Resios (2011) with context, launch and copies, as far as they "
     "are known.",
     "kernel", "", "", sum, ""},
    {"predict.resios.formula.cycles", "cycles",
     "SM cycles of the kernel that the simulation of the model of Resios (2011) gives, even where no kernel "
     "can be so fast.",
     "kernel", "", "", sum, ""},
    {"predict.resios.floor.cycles", "cycles",
     "Roofline of the counts that the model of Resios (2011) uses: no kernel with these counts is "
     "faster.",
     "kernel", "", "", sum, ""},
    {"counts.blocks", "blocks",
     "Blocks that were executed instruction by instruction for the counts of a prediction.", "kernel", "", "",
     sum, ""},
    {"counts.error", "1",
     "Half-width of the 95 % confidence interval of the instructions of the whole grid, relative, if "
     "blocks that were not executed resemble the executed ones; absent if all blocks were executed.",
     "kernel", "", "", Combine::max, ""},
};

}  // namespace

std::span<const MetricDeclaration> predict_metrics() { return rows; }

}  // namespace simtlab::result
