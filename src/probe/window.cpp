#include "probe/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace simtlab::probe {
namespace {

constexpr std::size_t words = 8;   // of a warp

// The body again and again until the time %v; then when the last one began and ended, and how many it were.
std::string until(const std::string& label, unsigned at, const std::string& body) {
  return fmt::format("{0}:\nmov.u64 %last, %t1;\n{1}add.u64 %n, %n, 1;\nmov.u64 %t1, %clock64;\nsetp.lt.u64 %q, %t1, %v;\n@%q bra {0};\nsetp.ne.u32 %q, %u, 0;\n@%q bra {0}_STORED;\n"
                     "st.global.u64 [%o+{2}], %last;\nst.global.u64 [%o+{3}], %t1;\nst.global.u64 [%o+{4}], %n;\n{0}_STORED:\n", label, body, at, at + 8, at + 16);
}

// What a warp left: when a body began and ended around each of the two times, and how many were done then.
struct Course {
  double at[5], done[5];
  explicit Course(const std::uint64_t* left) {
    const auto d = [&](int i) { return static_cast<double>(left[i]); };
    const double times[] = {d(0), d(1), d(2), d(4), d(5)}, counts[] = {0, d(3) - 1, d(3), d(6) - 1, d(6)};
    std::copy_n(times, 5, at), std::copy_n(counts, 5, done);
  }
  // Cycles of a body in part i, infinite if none was done.
  double pace(int i) const { return done[i] > done[i - 1] && at[i] > at[i - 1] ? (at[i] - at[i - 1]) / (done[i] - done[i - 1]) : std::numeric_limits<double>::infinity(); }
  // Bodies done at a time: the line between what is known, but not of a warp that hardly got a turn: of its body nobody knows when it was done, until it is.
  double progress(double time, double slowest) const {
    for (int i = 1; i < 5; ++i)
      if (time < at[i]) return time <= at[i - 1] || pace(i) > slowest ? done[i - 1] : done[i - 1] + (time - at[i - 1]) / pace(i);
    return done[4];
  }
};

}  // namespace

std::string window_text(const std::string& body, const std::string& finish, const std::string& result) {
  // Of several blocks those on the first multiprocessor stay. All warps count from one begin, that of the block that comes first: one that gets no turn would read the clock late.
  std::string out = ".reg .b64 %last;\n.shared .align 8 .b64 begin;\nmov.u32 %u, %nctaid.x;\nsetp.eq.u32 %q, %u, 1;\n@%q bra STAY;\nmov.u32 %u, %smid;\nsetp.ne.u32 %q, %u, 0;\n@%q bra DONE;\nSTAY:\n"
                    "mov.u32 %t, %tid.x;\nmov.u32 %u, %ctaid.x;\nmov.u32 %w, %ntid.x;\nmad.lo.u32 %w, %u, %w, %t;\nshr.u32 %w, %w, 5;\nmul.wide.u32 %v, %w, 64;\nld.param.u64 %o, [out];\nadd.u64 %o, %o, %v;\nadd.u64 %o, %o, 64;\n"
                    "and.b32 %u, %t, 31;\nmov.u64 %n, 0;\nld.param.u64 %v, [cycles];\nsetp.ne.u32 %q, %t, 0;\n@%q bra WAIT;\nmov.u64 %t0, %clock64;\nld.param.u64 %last, [out];\natom.global.cas.b64 %t1, [%last], 0, %t0;\n"
         "setp.eq.u64 %q, %t1, 0;\nselp.u64 %t0, %t0, %t1, %q;\nst.shared.u64 [begin], %t0;\nWAIT:\nbar.sync 0;\n"
         "ld.shared.u64 %t0, [begin];\nmov.u64 %t1, %t0;\nadd.u64 %v, %v, %t0;\n";
  out += until("FIRST", 8, body) + "ld.param.u64 %v, [cycles];\nshl.b64 %v, %v, 1;\nadd.u64 %v, %v, %t0;\n" + until("SECOND", 32, body) + finish;
  return out + "setp.ne.u32 %q, %u, 0;\n@%q bra DONE;\nst.global.u64 [%o], %t0;\nst.global.b64 [%o+56], " + result + ";\nDONE:\nret;\n}\n";
}

double rate_in_window(Bench& bench, gpu::Board::Function function, const Window& window, const std::function<gpu::Arguments(std::uint64_t)>& arguments) {
  const std::uint32_t blocks = window.blocks == 1 ? 1 : window.blocks * bench.board.facts().sms;
  const std::size_t warps = std::size_t{window.warps} * blocks;
  const Bench::Buffer out(bench, 8 * words * (warps + 1));   // the begin stands before them
  bench.board.fill(out.address(), std::byte{0}, out.bytes());
  gpu::Arguments all = arguments(out.address());
  all.add(window.cycles);
  const auto left = bench.run(function, blocks, 32 * window.warps, all, out.address(), words * (warps + 1), window.shared_bytes);
  std::vector<Course> courses;
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t w = words; w <= words * warps; w += words) {
    if (left[w] == 0) continue;   // on another SM
    const Course& c = courses.emplace_back(&left[w]);
    for (int i = 1; i < 5; ++i) fastest = std::min(fastest, c.pace(i));
  }
  double done = 0;
  for (const Course& c : courses) done += c.progress(c.at[0] + 2 * static_cast<double>(window.cycles), 4 * fastest) - c.progress(c.at[0] + static_cast<double>(window.cycles), 4 * fastest);
  return done / static_cast<double>(window.cycles);
}

}  // namespace simtlab::probe
