#include "stream/access_text/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/error.h"

namespace simtlab::stream::access_text {
namespace {

constexpr unsigned lanes = 32;

// The instructions of one warp.
class Warp {
 public:
  Warp(const Group& group, std::size_t first)
      : group_(group), first_(first), count_(std::min<std::size_t>(lanes, group.threads.size() - first)) {}

  std::string text() {
    while (step()) {}
    fmt::format_to(std::back_inserter(text_), "ffffff0 {:08x} 0 EXIT 0 0 0\n", all());
    return fmt::format("insts = {}\n{}\n", instructions_ + 1, text_);
  }

 private:
  std::uint32_t all() const { return count_ == lanes ? ~std::uint32_t{0} : (1u << count_) - 1; }
  const Access* next(unsigned lane) const {
    const std::vector<Access>& accesses = group_.threads[first_ + lane];
    return at_[lane] < accesses.size() ? &accesses[at_[lane]] : nullptr;
  }

  // False: nothing is left.
  bool step() {
    const Access* first = nullptr;
    std::uint32_t at_barrier = 0;
    for (unsigned lane = 0; lane < count_; ++lane) {
      const Access* const access = next(lane);
      if (access == nullptr) continue;
      if (access->kind == Access::Kind::barrier)
        at_barrier |= 1u << lane;
      else if (first == nullptr || before(*access, *first))
        first = access;
    }
    if (first == nullptr && at_barrier == 0) return false;
    ++instructions_;
    if (first == nullptr) {
      for (unsigned lane = 0; lane < count_; ++lane) at_[lane] += at_barrier >> lane & 1;
      fmt::format_to(std::back_inserter(text_), "fffff00 {:08x} 0 BAR.SYNC 0 0 0\n", all());
      return true;
    }
    const Access chosen = *first;
    std::uint32_t mask = 0;
    std::array<std::uint64_t, lanes> addresses{};
    for (unsigned lane = 0; lane < count_; ++lane) {
      const Access* const access = next(lane);
      if (access == nullptr || access->kind != chosen.kind || access->instruction != chosen.instruction ||
          access->place != chosen.place)
        continue;
      mask |= 1u << lane;
      addresses[lane] = access->address;
      ++at_[lane];
    }
    put(chosen, mask, addresses);
    return true;
  }

  // The address comes from the last load.
  void put(const Access& access, std::uint32_t mask, const std::array<std::uint64_t, lanes>& addresses) {
    const auto out = std::back_inserter(text_);
    const std::uint64_t pc = std::uint64_t{access.instruction} * 16;
    fmt::format_to(out, "{:x} {:08x} {} 4 0", pc, mask,
                   access.kind == Access::Kind::read ? "1 R4 LDG 1 R4" : "0 STG 2 R4 R5");
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
      fmt::format_to(out, " 0x{:x}", addresses[static_cast<unsigned>(std::countr_zero(rest))]);
    text_ += " 0\n";
  }

  const Group& group_;
  std::size_t first_, count_;
  std::array<std::size_t, lanes> at_{};
  std::string text_;
  std::uint64_t instructions_ = 0;
};

}  // namespace

bool before(const Access& a, const Access& b) {
  for (unsigned i = 0; i < std::min(a.place.depth, b.place.depth); ++i) {
    const std::uint32_t of_a = a.place.loops[i], of_b = b.place.loops[i];
    if (of_a >> 16 != of_b >> 16) break;  // different loops
    if (of_a != of_b) return of_a < of_b;
  }
  return a.instruction < b.instruction;
}

std::string warp_text(const Launch& launch, const std::string& name, const volatile bool* stop) {
  std::string out = fmt::format(
      "-kernel name = {}\n-kernel id = 1\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = 0\n"
      "-nregs = 16\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x0\n"
      "-local mem base_addr = 0x0\n-nvbit version = 0\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
      "#traces format\n\n",
      name, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z);
  for (std::size_t g = 0; g < launch.groups.size(); ++g) {
    if (stop != nullptr && *stop) throw Error(ExitCode::interrupted, "interrupted", "while a trace was read");
    out += fmt::format("#BEGIN_TB\n\nthread block = {},{},{}\n\n", g % launch.grid.x,
                       g / launch.grid.x % launch.grid.y, g / launch.grid.x / launch.grid.y);
    const Group& group = launch.groups[g];
    for (std::size_t first = 0; first < group.threads.size(); first += lanes)
      out += fmt::format("warp = {}\n{}", first / lanes, Warp(group, first).text());
    out += "#END_TB\n\n";
  }
  return out;
}

}  // namespace simtlab::stream::access_text
