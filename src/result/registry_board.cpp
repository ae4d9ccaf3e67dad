// Metrics of real boards: pure data. docs/guide/boards.md says how each is measured.
#include "result/registry_board.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"board.time", "ns",
     "Time on the real board (--device) between events before and after one launch, the median of "
     "several launches; the cost of starting and ending the launch is in it.",
     "kernel", "", "", sum, ""},
    {"board.time.least", "ns", "Shortest time on the real board (--device) of the timed launches.", "kernel",
     "", "", sum, ""},
    {"board.time.most", "ns", "Longest time on the real board (--device) of the timed launches.", "kernel",
     "", "", sum, ""},
    {"board.time.empty", "ns",
     "Time on the real board (--device) between events before and after the launch of a kernel that does "
     "nothing, median of several.",
     "kernel", "", "", sum, ""},
    {"board.launches", "1", "Launches that were timed on the real board (--device).", "kernel", "", "", sum,
     ""},
    {"board.registers", "1",
     "32-bit registers of a thread, as the driver of the real board compiled the kernel.", "kernel", "", "",
     max, ""},
    {"board.blocks_per_sm", "1",
     "Thread blocks of the kernel that an SM of the real board holds at once, as its driver says.", "kernel",
     "", "", none, ""},
    {"board.elements", "1",
     "Elements of buffers that were compared between the real board and the simulator.", "kernel", "", "",
     sum, ""},
    {"board.difference", "1",
     "Largest difference between the values of the real board and the simulated values, relative to "
     "max(1, |value|).",
     "kernel", "", "", max, ""},
    {"board.simulated_over_measured", "1", "Simulated time of the kernel over its time on the real board.",
     "kernel", "gpu.time / board.time", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> board_metrics() { return rows; }

}  // namespace simtlab::result
