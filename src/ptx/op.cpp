#include "ptx/op.h"

#include <array>

namespace simtlab::ptx {
namespace {

// Indexed by Op; the static_assert below catches a name too many or too few.
constexpr std::string_view op_names[] = {
    "add", "sub", "mul", "mad", "mad24", "mul24", "addc", "subc", "madc", "sad", "div", "rem", "abs", "neg", "min", "max",
    "popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "bmsk", "szext", "dp4a", "dp2a",
    "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "prmt",
    "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign",
    "set", "setp", "selp", "slct", "mov", "cvt", "cvta", "isspacep", "mapa",
    "shfl", "vote", "match", "activemask", "redux", "elect",
    "ld", "st", "ldu", "atom", "red", "prefetch", "prefetchu", "applypriority", "discard", "createpolicy",
    "cp.async", "cp.async.commit_group", "cp.async.wait_group", "membar", "fence", "tex", "tld4", "suld", "sust", "txq",
    "bra", "brx.idx", "call", "ret", "exit", "trap", "brkpt", "nanosleep", "bar", "bar.warp.sync", "barrier.cluster",
    "pmevent", "setmaxnreg", "griddepcontrol",
    "vprintf", "__assertfail", "malloc", "free",
    "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
    "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2",
    "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
    "nop",
};
static_assert(std::size(op_names) == static_cast<std::size_t>(Op::count_), "one name an operation");

constexpr std::string_view class_names[] = {
    "int_alu", "int_mul", "int_div", "bit", "fp16", "fp32", "fp32_div", "fp32_sqrt", "fp64", "fp64_div", "fp64_sqrt",
    "sfu", "convert", "convert64", "shuffle", "vote", "control", "barrier", "fence", "load", "store", "shared",
    "constant", "atomic", "shared_atomic", "texture", "async_copy",
};
static_assert(std::size(class_names) == static_cast<std::size_t>(OpClass::count_), "one name a class");

}  // namespace

std::string_view name_of(Op op) { return op < Op::count_ ? op_names[static_cast<std::size_t>(op)] : "?"; }
std::string_view name_of(OpClass c) { return c < OpClass::count_ ? class_names[static_cast<std::size_t>(c)] : "?"; }

}  // namespace simtlab::ptx
