// Metrics of real boards: pure data. docs/boards.md says how each is measured.
#include "result/registry_board.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"board.time", "ns",
     "With --device: time on the real board between events before and after one launch, the median of "
     "several; launch and end are in it.",
     "kernel", "", "", sum, ""},
    {"board.time.least", "ns", "The shortest of these times.", "kernel", "", "", sum, ""},
    {"board.time.most", "ns", "The longest of these times.", "kernel", "", "", sum, ""},
    {"board.time.empty", "ns", "The same of a kernel that does nothing.", "kernel", "", "", sum, ""},
    {"board.launches", "1", "Launches that were timed on the board.", "kernel", "", "", sum, ""},
    {"board.registers", "1", "32-bit registers of a thread, as the board's driver compiled the kernel.",
     "kernel", "", "", max, ""},
    {"board.blocks_per_sm", "1", "Blocks that an SM of the board holds at once, as its driver says.",
     "kernel", "", "", none, ""},
    {"board.elements", "1", "Elements of buffers compared between the board and the simulator.", "kernel", "",
     "", sum, ""},
    {"board.difference", "1",
     "Largest difference between the board's and the simulated values, relative to max(1, |value|).",
     "kernel", "", "", max, ""},
    {"board.simulated_over_measured", "1", "Simulated time of the kernel over that on the board.", "kernel",
     "gpu.time / board.time", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> board_metrics() { return rows; }

}  // namespace simtlab::result
