// Metrics of applications that share a GPU: pure data. docs/concepts/corun.md explains them.
#include "result/registry_corun.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"corun.mixes", "1", "Mixes of applications that the figures are means of.", "total", "", "", none, ""},
    {"corun.applications", "1", "Applications of a mix that share the GPU.", "total", "", "", none, ""},
    {"corun.limit", "1", "Kernel launches that may be on the shared GPU at one time.", "total", "", "", none,
     ""},
    {"corun.launches", "1", "Kernels that the applications of a mix launched.", "total", "", "", none, ""},
    {"corun.launches.left_out", "1",
     "Launches that the table of launches does not have because the table was cut.", "total", "", "", none,
     ""},
    {"corun.slowdown.gpu_time", "1",
     "Slowdown of an application by its time on the GPU: the time of its kernels in the mix over their "
     "time alone; waiting is not counted.",
     "total", "", "", none, ""},
    {"corun.slowdown.turnaround", "1",
     "Slowdown of an application by its turnaround: the time until it has ended in the mix over the time "
     "alone; waiting is counted.",
     "total", "", "", none, ""},
    {"corun.antt.gpu_time", "1",
     "Average normalised turnaround time (ANTT) by time on the GPU: mean slowdown of the applications, "
     "waiting not counted.",
     "total", "mean(corun.slowdown.gpu_time)", "", none, ""},
    {"corun.antt.turnaround", "1",
     "Average normalised turnaround time (ANTT): mean slowdown of the applications, waiting counted.",
     "total", "mean(corun.slowdown.turnaround)", "", none, ""},
    {"corun.stp.gpu_time", "1",
     "System throughput (STP) by time on the GPU: sum of the applications' progress, waiting not "
     "counted.",
     "total", "sum(1 / corun.slowdown.gpu_time)", "", none, ""},
    {"corun.stp.turnaround", "1",
     "System throughput (STP) by turnaround: sum of the applications' progress, waiting counted.", "total",
     "sum(1 / corun.slowdown.turnaround)", "", none, ""},
    {"corun.speedup_gm.gpu_time", "1",
     "Geometric mean, over the applications, of the slowdown under policy mps at an equal limit over the "
     "slowdown under this policy; slowdowns by time on the GPU.",
     "total", "", "", none, ""},
    {"corun.speedup_gm.turnaround", "1",
     "Geometric mean, over the applications, of the slowdown under policy mps at an equal limit over the "
     "slowdown under this policy; slowdowns by turnaround.",
     "total", "", "", none, ""},
    {"corun.speedup_solo.gpu_time", "1",
     "Geometric mean, over the applications, of 1 / slowdown by time on the GPU.", "total", "", "", none, ""},
    {"corun.speedup_solo.turnaround", "1",
     "Geometric mean, over the applications, of 1 / slowdown by turnaround.", "total", "", "", none, ""},
    {"corun.fairness.gpu_time", "1",
     "Largest slowdown of an application of the mix over the smallest, by time on the GPU; 1 is fair.",
     "total", "max / min of corun.slowdown.gpu_time", "", none, ""},
    {"corun.fairness.turnaround", "1",
     "Largest slowdown of an application of the mix over the smallest, by turnaround; 1 is fair.", "total",
     "max / min of corun.slowdown.turnaround", "", none, ""},
    {"corun.jain.gpu_time", "1",
     "Jain's index of the applications' progress by time on the GPU; 1 is fair, 1/n serves one of n "
     "only.",
     "total", "", "", none, ""},
    {"corun.jain.turnaround", "1",
     "Jain's index of the applications' progress by turnaround; 1 is fair, 1/n serves one of n only.",
     "total", "", "", none, ""},
    {"corun.wait.mean", "ns", "Mean time that a launch waited for its grant from the co-run policy.", "total",
     "", "", none, ""},
    {"corun.wait.longest", "ns", "Longest time that a launch waited for its grant from the co-run policy.",
     "total", "", "", none, ""},
    {"corun.wait.share", "1",
     "Time that launches waited for grants over the application's turnaround, mean of the applications.",
     "total", "", "", none, ""},
    {"corun.copies.alone", "ns", "Time of an application's copies and fills when it runs alone.", "total", "",
     "", none, ""},
    {"corun.copies.together", "ns",
     "Time of an application's copies and fills in the mix; time beyond corun.copies.alone went to other "
     "applications' copies.",
     "total", "", "", none, ""},
    {"corun.makespan", "ns", "Time from the start of a mix to the end of its last application.", "total", "",
     "", none, ""},
    {"corun.weight", "1",
     "Share of a kernel in the time on the GPU of its application, which runs alone: its launches in the "
     "application's sequence times its time.",
     "total", "", "", none, ""},
    {"corun.time.alone", "ns",
     "Time on the GPU of the launches of a kernel or of an application that runs alone.", "total", "", "",
     none, ""},
    {"corun.time.together", "ns",
     "Time on the GPU of the launches of a kernel or of an application in the mix.", "total", "", "", none,
     ""},
    {"corun.l2.share", "1",
     "Bytes that L2 moved for a kernel over the bytes that L2 moved for the whole mix.", "total", "", "",
     none, ""},
    {"corun.dram.share", "1",
     "Bytes that DRAM moved for a kernel over the bytes that DRAM moved for the whole mix.", "total", "", "",
     none, ""},
    {"corun.l2.miss_rate.alone", "1",
     "Share of a kernel's L2 sector reads that missed when its application runs alone.", "total", "", "",
     none, ""},
    {"corun.l2.miss_rate.together", "1",
     "Share of a kernel's L2 sector reads that missed in the mix; misses beyond corun.l2.miss_rate.alone "
     "come from contention for L2.",
     "total", "", "", none, ""},
    {"corun.host.error.gpu_time", "1",
     "Mean absolute error of the fast host's slowdowns of applications against those of the cycle-level "
     "host, by time on the GPU.",
     "total", "mean(|fast / cycle - 1|)", "", none, ""},
    {"corun.host.error.turnaround", "1",
     "Mean absolute error of the fast host's slowdowns of applications against those of the cycle-level "
     "host, by turnaround.",
     "total", "mean(|fast / cycle - 1|)", "", none, ""},
    {"corun.host.bias.gpu_time", "1",
     "Mean signed error of the fast host's slowdowns of applications against those of the cycle-level "
     "host, by time on the GPU; above 0 the fast host is pessimistic.",
     "total", "mean(fast / cycle - 1)", "", none, ""},
    {"corun.host.bias.turnaround", "1",
     "Mean signed error of the fast host's slowdowns of applications against those of the cycle-level "
     "host, by turnaround; above 0 the fast host is pessimistic.",
     "total", "mean(fast / cycle - 1)", "", none, ""},
    {"corun.host.rank.gpu_time", "1",
     "Spearman's correlation of the policies' ANTT on the fast and the cycle-level host, by time on the "
     "GPU: mean over the mixes in which policies differ.",
     "total", "", "", none, ""},
    {"corun.host.rank.turnaround", "1",
     "Spearman's correlation of the policies' ANTT on the fast and the cycle-level host, by turnaround: "
     "mean over the mixes in which policies differ.",
     "total", "", "", none, ""},
    {"corun.live.uptime", "s", "Time since the daemon of live co-runs began.", "total", "", "", none, ""},
    {"corun.live.clients", "1",
     "Connections to the daemon of live co-runs now, that of the asking command among them.", "total", "", "",
     none, ""},
    {"corun.live.waiting", "1", "Launches that wait now for a grant of the daemon of live co-runs.", "total",
     "", "", none, ""},
    {"corun.live.running", "1",
     "Launches that the daemon of live co-runs has granted and that have not ended.", "total", "", "", none,
     ""},
    {"corun.live.requests", "1", "Launches that clients asked the daemon of live co-runs for.", "total", "",
     "", none, ""},
    {"corun.live.granted", "1", "Launches that the daemon of live co-runs granted.", "total", "", "", none,
     ""},
    {"corun.live.ended", "1", "Launches that the daemon of live co-runs granted and that have ended.",
     "total", "", "", none, ""},
    {"corun.live.withdrawn", "1",
     "Launches whose client gave up waiting for the daemon of live co-runs, or left before the grant.",
     "total", "", "", none, ""},
    {"corun.live.lost", "1",
     "Launches that the daemon of live co-runs granted to a client that died before the launch ended.",
     "total", "", "", none, ""},
    {"corun.live.passed", "1",
     "Times that the daemon of live co-runs passed over a client that held a grant, kept other clients "
     "waiting and did nothing.",
     "total", "", "", none, ""},
    {"corun.live.kernels", "1",
     "Different kernels that clients of the daemon of live co-runs launched; program and shape of the "
     "launch tell kernels apart.",
     "total", "", "", none, ""},
    {"corun.live.kernels.unknown", "1",
     "Kernels launched by clients of the daemon of live co-runs whose profile lacks what the policy "
     "decides by.",
     "total", "", "", none, ""},
    {"corun.live.processes", "1",
     "Processes that launched a kernel through the daemon of live co-runs, those that have left among "
     "them.",
     "total", "", "", none, ""},
    {"corun.live.judged", "1",
     "Processes that have a slowdown, ANTT and STP under the daemon of live co-runs: a time alone is "
     "known for some of their kernels at least.",
     "total", "", "", none, ""},
    {"corun.live.connections", "1", "Connections to the daemon of live co-runs since it began.", "total", "",
     "", none, ""},
    {"corun.live.refused", "1",
     "Connections that the daemon of live co-runs ended because of what the client sent.", "total", "", "",
     none, ""},
    {"corun.live.decisions", "1", "Lines of the decision log of the daemon of live co-runs.", "total", "", "",
     none, ""},
    {"corun.live.adjusted", "1",
     "Times that the policy or a setting of the daemon of live co-runs was changed while it ran; those of "
     "the "
     "result are the last ones.",
     "total", "", "", none, ""},
    {"corun.live.process", "1", "Process number of a client of the daemon of live co-runs.", "total", "", "",
     none, ""},
    {"corun.live.waited", "ns",
     "Sum of the times that a client of the daemon of live co-runs waited for grants.", "total", "", "", none,
     ""},
    {"corun.live.gpu_time", "ns",
     "Sum of the times on the GPU of the launches of a client of live co-runs, as the client measured "
     "them; on a simulated GPU, of the kernels alone.",
     "total", "", "", none, ""},
    {"corun.interfere.intensity", "1",
     "Intensity of a micro-benchmark that disturbs an application; 1 is the most that it can do.", "total",
     "", "", none, ""},
    {"corun.interfere.load", "1",
     "Demand of a micro-benchmark that disturbs an application: bytes per second of L2 or DRAM, or warp "
     "instructions per cycle.",
     "total", "", "", none, ""},
    {"corun.interfere.slowdown", "1",
     "Time of an application beside a micro-benchmark over its time beside the benchmark's lowest "
     "intensity.",
     "total", "", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> corun_metrics() { return rows; }

std::vector<TableDeclaration> corun_tables() {
  return {{"launches",
           "Launches of applications that share a GPU, in the order of their coming; of many the first.",
           {{"mix", "1", "Number of the mix; 1 where there is one"},
            {"application", "1", "Number of the application in its mix, or of the daemon's client"},
            {"name", "", "Name of the application"},
            {"stream", "1", "Number of the stream in the application"},
            {"kernel", "", "Name of the kernel"},
            {"asked", "ns",
             "Time at which the launch came, since the mix or the daemon began; on the daemon's simulated "
             "GPU by its clock"},
            {"granted", "ns", "Time at which the launch was granted; it waited until then"},
            {"ended", "ns", "Time at which the launch had ended"}}}};
}

}  // namespace simtlab::result
