#include "probe/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace simtlab::probe {
namespace {

constexpr std::size_t words = 8;  // of a warp

// What a warp left: when a body began and ended around each of the two times, and how many were done then.
struct Course {
  double at[5], done[5];
  explicit Course(const std::uint64_t* left) {
    const auto d = [&](int i) { return static_cast<double>(left[i]); };
    const double times[] = {d(0), d(1), d(2), d(4), d(5)}, counts[] = {0, d(3) - 1, d(3), d(6) - 1, d(6)};
    std::copy_n(times, 5, at), std::copy_n(counts, 5, done);
  }
  // Cycles of a body in part i, infinite if none was done.
  double pace(int i) const {
    return done[i] > done[i - 1] && at[i] > at[i - 1] ? (at[i] - at[i - 1]) / (done[i] - done[i - 1])
                                                      : std::numeric_limits<double>::infinity();
  }
  // Bodies done at a time: the line between what is known, but not of a warp that hardly got a turn: of its
  // body nobody knows when it was done, until it is.
  double progress(double time, double slowest) const {
    for (int i = 1; i < 5; ++i)
      if (time < at[i])
        return time <= at[i - 1] || pace(i) > slowest ? done[i - 1]
                                                      : done[i - 1] + (time - at[i - 1]) / pace(i);
    return done[4];
  }
};

// Where every warp gets on steadily, its whole bodies between the two times: what part of a body is done when
// nobody knows, as loads of one body, say, may all wait at its end. Some warps may be faster than others all
// the time, as one scheduler's may be where a port prefers it; one that rests for long gets on at no pace.
std::optional<double> rate_of_steady(const std::vector<Course>& courses) {
  double sum = 0;
  for (const Course& c : courses) {
    const double pace = c.pace(3);
    const bool steady = c.done[3] - c.done[2] >= 3 && std::abs(c.pace(1) / pace - 1) < 0.25 &&
                        std::max(c.pace(2), c.pace(4)) < 1.5 * pace;
    if (!steady) return std::nullopt;
    sum += 1 / pace;
  }
  return sum;
}

}  // namespace

// The body again and again until each of three times, %w_end cycles after the begin: the first and the second
// one leave when the last body began and ended, and how many it were. The third, an eighth later, has the
// fast ones go on while slow ones, which would not be slow without them, end what they began before the
// second; with every SM at work it is a whole time later, as not all begin at once. What goes round with the
// body takes turns of the pipelines from it: short instructions only, so times are 32 bits from the begin on.
std::string window_text(const std::string& body, const std::string& finish, const std::string& result,
                        Where where) {
  const bool one = where == Where::one_sm;
  std::string out =
      ".reg .b32 %w_last, %w_now, %w_count, %w_begin, %w_end, %w_first, %w_stage;\n.reg .b64 %w_wide, "
      "%w_at;\n.shared .align 8 .b64 begin;\n";
  // Of several blocks those on the first multiprocessor stay. All warps count from one begin, that of the
  // block that comes first: one that gets no turn would read the clock late.
  if (one)
    out +=
        "mov.u32 %u, %nctaid.x;\nsetp.eq.u32 %q, %u, 1;\n@%q bra STAY;\nmov.u32 %u, %smid;\nsetp.ne.u32 %q, "
        "%u, 0;\n@%q bra DONE;\nSTAY:\n";
  out +=
      "mov.u32 %t, %tid.x;\nmov.u32 %u, %ctaid.x;\nmov.u32 %w, %ntid.x;\nmad.lo.u32 %w, %u, %w, %t;\nshr.u32 "
      "%w, %w, 5;\nmul.wide.u32 %v, %w, 64;\nld.param.u64 %o, [out];\nadd.u64 %o, %o, %v;\nadd.u64 %o, %o, "
      "64;\n"
      "and.b32 %u, %t, 31;\nsetp.ne.u32 %q, %t, 0;\n@%q bra WAIT;\nmov.u64 %t0, %clock64;\n";
  if (one)
    out +=
        "ld.param.u64 %w_wide, [out];\natom.global.cas.b64 %t1, [%w_wide], 0, %t0;\nsetp.eq.u64 %q, %t1, "
        "0;\nselp.u64 %t0, %t0, %t1, %q;\n";
  out +=
      "st.shared.u64 [begin], %t0;\nWAIT:\nbar.sync 0;\n"
      "ld.shared.u64 %t0, [begin];\ncvt.u32.u64 %w_begin, %t0;\nmov.u32 %w_now, 0;\nmov.u32 %w_count, "
      "0;\nmov.u32 %w_stage, 0;\nmov.u64 %w_at, %o;\nld.param.u64 %v, [cycles];\ncvt.u32.u64 %w_first, %v;\n"
      "mov.u32 %w_end, %w_first;\n";
  out += "AGAIN:\nmov.u32 %w_last, %w_now;\n" + body +
         "add.u32 %w_count, %w_count, 1;\nmov.u32 %w_now, %clock;\nsub.u32 %w_now, %w_now, "
         "%w_begin;\nsetp.lt.u32 %q, %w_now, %w_end;\n@%q bra AGAIN;\n";
  out += fmt::format(
      "add.u32 %w_stage, %w_stage, 1;\nsetp.gt.u32 %q, %w_stage, 2;\n@%q bra OVER;\nshl.b32 %w_end, "
      "%w_first, 1;\nshr.u32 %w, %w_first, {};\nsetp.eq.u32 %q, %w_stage, 1;\nselp.b32 %w, 0, %w, %q;\n",
      one ? 3 : 0);
  out +=
      "add.u32 %w_end, %w_end, %w;\nsetp.ne.u32 %q, %u, 0;\n@%q bra STORED;\n"
      "cvt.u64.u32 %w_wide, %w_last;\nadd.u64 %w_wide, %w_wide, %t0;\nst.global.u64 [%w_at+8], "
      "%w_wide;\ncvt.u64.u32 %w_wide, %w_now;\nadd.u64 %w_wide, %w_wide, %t0;\nst.global.u64 [%w_at+16], "
      "%w_wide;\n"
      "cvt.u64.u32 %w_wide, %w_count;\nst.global.u64 [%w_at+24], %w_wide;\nadd.u64 %w_at, %w_at, "
      "24;\nSTORED:\nbra AGAIN;\nOVER:\n";
  return out + finish +
         "setp.ne.u32 %q, %u, 0;\n@%q bra DONE;\nst.global.u64 [%o], %t0;\nst.global.b64 [%o+56], " + result +
         ";\nDONE:\nret;\n}\n";
}

double rate_in_window(Bench& bench, gpu::Board::Function function, const Window& window,
                      const std::function<gpu::Arguments(std::uint64_t)>& arguments) {
  const std::uint32_t blocks =
      window.blocks == 1 && window.where == Where::one_sm ? 1 : window.blocks * bench.board.facts().sms;
  const std::size_t warps = std::size_t{window.warps} * blocks;
  const Bench::Buffer out(bench, 8 * words * (warps + 1));  // the begin stands before them
  bench.board.fill(out.address(), std::byte{0}, out.bytes());
  gpu::Arguments all = arguments(out.address());
  all.add(window.cycles);
  const auto left = bench.run(function, blocks, 32 * window.warps, all, out.address(), words * (warps + 1),
                              window.shared_bytes);
  std::vector<Course> courses;
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t w = words; w <= words * warps; w += words) {
    if (left[w] == 0) continue;  // on another SM
    const Course& c = courses.emplace_back(&left[w]);
    for (int i = 1; i < 5; ++i) fastest = std::min(fastest, c.pace(i));
  }
  if (const auto steady = rate_of_steady(courses)) return *steady;
  double done = 0;
  for (const Course& c : courses)
    done += c.progress(c.at[0] + 2 * static_cast<double>(window.cycles), 4 * fastest) -
            c.progress(c.at[0] + static_cast<double>(window.cycles), 4 * fastest);
  return done / static_cast<double>(window.cycles);
}

}  // namespace simtlab::probe
