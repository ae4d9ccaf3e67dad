#include "stream/trace/cut.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "stream/trace/record.h"
#include "stream/trace/walk.h"

namespace simtlab::stream::trace {
namespace {

void check(const volatile bool* stop, const std::string& where) {
  if (stop != nullptr && *stop) throw Error(ExitCode::interrupted, "interrupted", where);
}

// A launch whose trace has only some of its blocks.
class Part final : public WarpSource {
 public:
  Part(const ReplayedLaunch& whole, const Range& blocks) : whole_(whole) {
    for (std::uint64_t i = 0; i < whole.block_count(); ++i) {
      if (!blocks.holds(whole.block_number(i))) continue;
      if (count_++ == 0) first_ = i;
    }
  }
  const ptx::Function& function() const override { return whole_.function(); }
  const ptx::Module& module() const override { return whole_.module(); }
  Dim3 grid() const override { return whole_.grid(); }
  Dim3 block() const override { return whole_.block(); }
  std::uint32_t shared_bytes() const override { return whole_.shared_bytes(); }
  std::uint32_t local_bytes() const override { return whole_.local_bytes(); }
  std::uint64_t block_count() const override { return count_; }
  // By place in the whole
  std::uint64_t block_number(std::uint64_t index) const override { return whole_.block_number(index); }
  std::unique_ptr<SmShare> make_share(Effects effects) const override { return whole_.make_share(effects); }
  const Code* code_of(const ptx::Function& f) const override { return whole_.code_of(f); }
  std::uint64_t first() const { return first_; }

 private:
  const ReplayedLaunch& whole_;
  std::uint64_t first_ = 0, count_ = 0;
};

// Steps all warps of a block to their ends, in turns, barriers included.
void run(ResidentBlock& block, unsigned warps) {
  for (bool finished = false; !finished;) {
    bool progress = false;
    finished = true;
    for (unsigned warp = 0; warp < warps; ++warp) {
      while (block.status(warp) == WarpStatus::ready) {
        block.step(warp, 0);
        progress = true;
      }
      finished = finished && block.status(warp) == WarpStatus::exited;
    }
    if (!progress && !finished) block.check_progress();
  }
}

class Comparison {
 public:
  Comparison(std::uint64_t kernel, const ReplayedLaunch& a, const ReplayedLaunch& b) : a_(a), b_(b) {
    found_.kernel = kernel;
  }

  std::optional<Difference> run(const volatile bool* stop) {
    const Kernel &x = a_.kernel(), &y = b_.kernel();
    if (a_.function().name != b_.function().name)
      return differ("name", a_.function().name, b_.function().name);
    if (x.grid != y.grid) return differ("grid", shape(x.grid), shape(y.grid));
    if (x.block != y.block) return differ("block", shape(x.block), shape(y.block));
    if (x.shared_bytes != y.shared_bytes)
      return differ("shared memory", number(x.shared_bytes), number(y.shared_bytes));
    for (std::uint64_t i = 0; i < std::min(x.blocks, y.blocks); ++i) {
      const BlockEntry p = a_.entry(i), q = b_.entry(i);
      found_.block = std::min(p.number, q.number);
      check(stop, fmt::format("kernel {}, block {}", found_.kernel, found_.block));
      if (p.number != q.number) return differ("next block", number(p.number), number(q.number));
      for (unsigned warp = 0; warp < a_.warps_per_block(); ++warp)
        if (compare(p, q, warp)) return found_;
    }
    found_.block = found_.warp = found_.instruction = 0;
    if (x.blocks != y.blocks) return differ("number of blocks", number(x.blocks), number(y.blocks));
    return std::nullopt;
  }

 private:
  static std::string number(std::uint64_t n) { return std::to_string(n); }
  static std::string shape(const std::array<std::uint32_t, 3>& d) {
    return fmt::format("{}x{}x{}", d[0], d[1], d[2]);
  }

  Difference& differ(std::string what, std::string first, std::string second) {
    found_.what = std::move(what);
    found_.first = std::move(first);
    found_.second = std::move(second);
    return found_;
  }

  bool compare(const BlockEntry& p, const BlockEntry& q, unsigned warp) {
    WarpWalk x(a_, p, warp), y(b_, q, warp);
    found_.warp = warp;
    for (found_.instruction = 0; !x.at_end() && !y.at_end(); ++found_.instruction) {
      const Code &cx = a_.reader().codes()[x.function()], &cy = b_.reader().codes()[y.function()];
      const Step &s = x.step(), &t = y.step();
      if (compare(cx, s, cy, t)) return true;
    }
    if (x.at_end() == y.at_end()) return false;
    differ("end of the warp", x.at_end() ? "ends here" : "goes on", y.at_end() ? "ends here" : "goes on");
    return true;
  }

  bool compare(const Code& cx, const Step& s, const Code& cy, const Step& t) {
    const std::string x = place(cx, s), y = place(cy, t);
    if (x != y) return differ("instruction", x, y), true;
    if (s.mask != t.mask)
      return differ("lanes of " + x, fmt::format("{:08x}", s.mask), fmt::format("{:08x}", t.mask)), true;
    if (s.active != t.active)
      return differ("active lanes of " + x, fmt::format("{:08x}", s.active), fmt::format("{:08x}", t.active)),
             true;
    if (s.space != t.space || s.bytes != t.bytes)
      return differ("access of " + x, fmt::format("{} bytes, {}", s.bytes, ptx::name_of(s.space)),
                    fmt::format("{} bytes, {}", t.bytes, ptx::name_of(t.space))),
             true;
    if (s.arrives != t.arrives)
      return differ("barrier of " + x, s.arrives ? "arrives" : "goes on", t.arrives ? "arrives" : "goes on"),
             true;
    if (s.barrier != t.barrier || s.barrier_threads != t.barrier_threads)
      return differ("barrier of " + x, number(s.barrier), number(t.barrier)), true;
    return addresses(x, s.addresses, t.addresses, s.mask) || addresses(x, s.addresses2, t.addresses2, s.mask);
  }

  bool addresses(const std::string& place, const std::uint64_t* x, const std::uint64_t* y,
                 std::uint32_t mask) {
    if (x == nullptr || y == nullptr) {
      if (x == y) return false;
      return differ("addresses of " + place, x == nullptr ? "none" : "some", y == nullptr ? "none" : "some"),
             true;
    }
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (x[lane] != y[lane])
        return differ(fmt::format("address of lane {} of {}", lane, place), fmt::format("{:#x}", x[lane]),
                      fmt::format("{:#x}", y[lane])),
               true;
    }
    return false;
  }

  // pc and mnemonic; with the line of the text if there is one.
  static std::string place(const Code& code, const Step& s) {
    return fmt::format("{}[{}] {}", code.function().name, s.pc, name_of(code, s.pc));
  }

  const ReplayedLaunch &a_, &b_;
  Difference found_;
};

std::optional<Operation> next_kernel(Reader& reader) {
  std::optional<Operation> operation;
  do operation = reader.next();
  while (operation && operation->kind != OpKind::kernel);
  return operation;
}

}  // namespace

Totals cut(Reader& from, const Range& kernels, const Range& blocks, Writer& to, const volatile bool* stop) {
  Totals kept;
  std::uint64_t number = 0;
  from.rewind();
  while (const std::optional<Operation> operation = from.next()) {
    if (operation->kind != OpKind::kernel) {
      to.operation(*operation);
      continue;
    }
    if (!kernels.holds(++number)) continue;
    const ReplayedLaunch whole(from, operation->kernel);
    const Part part(whole, blocks);
    if (part.block_count() == 0) continue;
    RecordingLaunch recording(part, to, to.reserve_kernel(operation->stream, operation->flag));
    const std::unique_ptr<SmShare> share = recording.make_share(Effects::at_once);
    const std::unique_ptr<ResidentBlock> block = share->make_block();
    for (std::uint64_t i = 0; i < part.block_count(); ++i) {
      check(stop, fmt::format("kernel {}", number));
      block->reset(part.first() + i, 0, 0);
      run(*block, part.warps_per_block());
      share->commit();
      kept.blocks += 1;
    }
    recording.finish();
    ++kept.kernels;
  }
  return kept;
}

std::optional<Difference> difference(Reader& a, Reader& b, const volatile bool* stop) {
  a.rewind();
  b.rewind();
  for (std::uint64_t number = 1;; ++number) {
    const std::optional<Operation> x = next_kernel(a), y = next_kernel(b);
    if (!x && !y) return std::nullopt;
    if (!x || !y) {
      Difference d;
      d.kernel = number;
      d.what = "number of kernels";
      d.first = std::to_string(a.totals().kernels);
      d.second = std::to_string(b.totals().kernels);
      return d;
    }
    const ReplayedLaunch p(a, x->kernel), q(b, y->kernel);
    if (std::optional<Difference> found = Comparison(number, p, q).run(stop)) return found;
  }
}

}  // namespace simtlab::stream::trace
