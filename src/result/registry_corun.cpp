// Metrics of applications that share a GPU: pure data. docs/corun.md explains them.
#include "result/registry_corun.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"corun.mixes", "1", "Mixes that the figures are means of.", "total", "", "", none, ""},
    {"corun.applications", "1", "Applications of a mix.", "total", "", "", none, ""},
    {"corun.limit", "1", "Launches that may be on the GPU at a time.", "total", "", "", none, ""},
    {"corun.launches", "1", "Kernels that were launched.", "total", "", "", none, ""},
    {"corun.launches.left_out", "1", "Launches that the table of launches does not have: it is cut.", "total", "", "", none, ""},
    {"corun.slowdown.gpu_time", "1", "Time of an application's kernels on the GPU over the same alone; waiting is not counted.", "total", "", "", none, ""},
    {"corun.slowdown.turnaround", "1", "Time until an application has ended over the same alone; waiting is counted.", "total", "", "", none, ""},
    {"corun.antt.gpu_time", "1", "Average normalised turnaround time, of time on the GPU: mean slowdown of the applications.", "total", "mean(corun.slowdown.gpu_time)", "", none, ""},
    {"corun.antt.turnaround", "1", "Average normalised turnaround time: mean slowdown of the applications.", "total", "mean(corun.slowdown.turnaround)", "", none, ""},
    {"corun.stp.gpu_time", "1", "System throughput, of time on the GPU: sum of the applications' progress.", "total", "sum(1 / corun.slowdown.gpu_time)", "", none, ""},
    {"corun.stp.turnaround", "1", "System throughput: sum of the applications' progress.", "total", "sum(1 / corun.slowdown.turnaround)", "", none, ""},
    {"corun.speedup_gm.gpu_time", "1", "Geometric mean, over the applications, of the slowdown under mps with the same limit over the slowdown under this policy; of time on the GPU.", "total", "", "", none, ""},
    {"corun.speedup_gm.turnaround", "1", "The same of turnaround.", "total", "", "", none, ""},
    {"corun.speedup_solo.gpu_time", "1", "Geometric mean of 1 / slowdown, of time on the GPU.", "total", "", "", none, ""},
    {"corun.speedup_solo.turnaround", "1", "The same of turnaround.", "total", "", "", none, ""},
    {"corun.fairness.gpu_time", "1", "Largest slowdown of the mix over its smallest, of time on the GPU: 1 is fair.", "total", "max / min of corun.slowdown.gpu_time", "", none, ""},
    {"corun.fairness.turnaround", "1", "The same of turnaround.", "total", "max / min of corun.slowdown.turnaround", "", none, ""},
    {"corun.jain.gpu_time", "1", "Jain's index of the applications' progress, of time on the GPU: 1 is fair, 1/n serves one only.", "total", "", "", none, ""},
    {"corun.jain.turnaround", "1", "The same of turnaround.", "total", "", "", none, ""},
    {"corun.wait.mean", "ns", "Time that a launch waited for its grant, mean.", "total", "", "", none, ""},
    {"corun.wait.longest", "ns", "Longest time that a launch waited for its grant.", "total", "", "", none, ""},
    {"corun.wait.share", "1", "Waiting for grants over turnaround, mean of the applications.", "total", "", "", none, ""},
    {"corun.copies.alone", "ns", "Time of an application's copies and fills when it runs alone.", "total", "", "", none, ""},
    {"corun.copies.together", "ns", "The same in the mix: what is more, others had the engine.", "total", "", "", none, ""},
    {"corun.time.alone", "ns", "Time on the GPU of a kernel's launches when the application runs alone.", "total", "", "", none, ""},
    {"corun.time.together", "ns", "The same in the mix.", "total", "", "", none, ""},
    {"corun.l2.share", "1", "Bytes of a kernel over the bytes of the whole mix that L2 moved.", "total", "", "", none, ""},
    {"corun.dram.share", "1", "The same of DRAM.", "total", "", "", none, ""},
    {"corun.l2.miss_rate.alone", "1", "Read misses of L2 over its read accesses, of a kernel when the application runs alone.", "total", "", "", none, ""},
    {"corun.l2.miss_rate.together", "1", "The same in the mix: more is contention for L2.", "total", "", "", none, ""},
    {"corun.host.error.gpu_time", "1", "Mean absolute error of the fast host's slowdowns of applications against the cycle-level host's, of time on the GPU.", "total", "mean(|fast / cycle - 1|)", "", none, ""},
    {"corun.host.error.turnaround", "1", "The same of turnaround.", "total", "mean(|fast / cycle - 1|)", "", none, ""},
    {"corun.host.bias.gpu_time", "1", "Mean signed error of the same: above 0 the fast host is pessimistic.", "total", "mean(fast / cycle - 1)", "", none, ""},
    {"corun.host.bias.turnaround", "1", "The same of turnaround.", "total", "mean(fast / cycle - 1)", "", none, ""},
    {"corun.host.rank.gpu_time", "1", "Spearman's correlation of the policies' ANTT on the two hosts, of time on the GPU: mean over the mixes where policies differ.", "total", "", "", none, ""},
    {"corun.host.rank.turnaround", "1", "The same of turnaround.", "total", "", "", none, ""},
    {"corun.live.uptime", "s", "Time since the daemon of live co-runs began.", "total", "", "", none, ""},
    {"corun.live.clients", "1", "Connections to the daemon, that of who asks among them.", "total", "", "", none, ""},
    {"corun.live.waiting", "1", "Launches that wait for a grant now.", "total", "", "", none, ""},
    {"corun.live.running", "1", "Launches that were granted and have not ended.", "total", "", "", none, ""},
    {"corun.live.requests", "1", "Launches that were asked for.", "total", "", "", none, ""},
    {"corun.live.granted", "1", "Launches that were granted.", "total", "", "", none, ""},
    {"corun.live.ended", "1", "Launches that have ended.", "total", "", "", none, ""},
    {"corun.live.withdrawn", "1", "Launches whose client gave up waiting or went before their grant.", "total", "", "", none, ""},
    {"corun.live.lost", "1", "Launches that were granted to a client that died before their end.", "total", "", "", none, ""},
    {"corun.live.passed", "1", "How often a client that held a grant, kept others waiting and did nothing was passed over.", "total", "", "", none, ""},
    {"corun.live.kernels", "1", "Kernels that were launched, each with its program and the shape of its launch.", "total", "", "", none, ""},
    {"corun.live.kernels.unknown", "1", "Of these, kernels of which the policy does not know what it decides by.", "total", "", "", none, ""},
    {"corun.live.processes", "1", "Processes of a program that launched something, those that have left among them.", "total", "", "", none, ""},
    {"corun.live.judged", "1", "Processes that slowdown, ANTT and STP are of: for their kernels, or some of them, a time alone is known.", "total", "", "", none, ""},
    {"corun.live.connections", "1", "Connections since the daemon began.", "total", "", "", none, ""},
    {"corun.live.refused", "1", "Connections that were ended for what they sent.", "total", "", "", none, ""},
    {"corun.live.decisions", "1", "Lines of the decision log.", "total", "", "", none, ""},
    {"corun.live.process", "1", "Number of the client's process.", "total", "", "", none, ""},
    {"corun.live.waited", "ns", "Sum of a client's waits for grants.", "total", "", "", none, ""},
    {"corun.live.gpu_time", "ns", "Sum of the times of a client's launches on the GPU, as it measured them; of a simulated GPU those of its kernels alone.", "total", "", "", none, ""},
    {"corun.interfere.intensity", "1", "Intensity of a micro-benchmark that disturbs an application: 1 is all that it can.", "total", "", "", none, ""},
    {"corun.interfere.load", "1", "What the micro-benchmark demands: bytes/s of L2 or DRAM, or warp instructions per cycle.", "total", "", "", none, ""},
    {"corun.interfere.slowdown", "1", "Time of the application beside the micro-benchmark over its time beside its lowest intensity.", "total", "", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> corun_metrics() { return rows; }

std::vector<TableDeclaration> corun_tables() {
  return {{"launches",
           "Launches of applications that share a GPU, in the order of their coming; of many the first.",
           {{"mix", "1", "Number of the mix; 1 where there is one"},
            {"application", "1", "Number of the application in its mix, or of the daemon's client"},
            {"name", "", "Its name"},
            {"stream", "1", "Number of its stream"},
            {"kernel", "", "Name of the kernel"},
            {"asked", "ns", "When the launch came, since the mix or the daemon began; on the daemon's simulated GPU by its clock"},
            {"granted", "ns", "When it was granted: until then it waited"},
            {"ended", "ns", "When it had ended"}}}};
}

}  // namespace simtlab::result
