// Maxwell and Pascal: a warp does not come to a barrier of its block or to its end too soon.
//
// Read off the code of ptxas 12.9 for sm_50 and 60, in 515 kernels: from the begin, a barrier or an exit to
// the next one of these its stall counts are at least 49 cycles, 58 if a guarded exit is next; NOPs make up
// what is missing (172 of 179 guarded exits behind the begin are at 58 then, and without NOP at 60 and more).
// Why is not known. A stall count of 13 in front of a wait for a scoreboard makes a way 7 cycles longer
// there, which is not done here.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/control.h"
#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint8_t first_stall = 6;  // of each kernel, in that code
constexpr unsigned to_barrier = 49, to_guarded_exit = 58, far = 1000, longest = 15;

bool ends_way(const Instruction& i) {
  const std::string_view base = base_mnemonic(i.code);
  return base == "EXIT" || base == "BAR";
}

// SSY and its like only say where.
bool leads_away(const Instruction& i) {
  const std::string_view base = base_mnemonic(i.code);
  return i.target != none && (base == "BRA" || base == "SYNC" || base == "BRK" || base == "CONT");
}

class Ways {
 public:
  explicit Ways(Program& program)
      : p_(program), out_(program, program.generation), in_(program.blocks.size(), far) {}

  void run() {
    in_[0] = 0;
    if (std::vector<Instruction>& begin = p_.blocks[0].code; !begin.empty())
      begin[0].code.control.stall = std::max(begin[0].code.control.stall, first_stall);
    std::deque<std::uint32_t> work = {0};
    std::vector<char> waiting(p_.blocks.size(), 0);
    while (!work.empty()) {
      const std::uint32_t b = work.front();
      work.pop_front();
      waiting[b] = 0;
      walk(
          b, [](std::size_t, unsigned) {},
          [&](std::uint32_t to, unsigned cycles) {
            if (cycles >= in_[to]) return;
            in_[to] = cycles;
            if (waiting[to] == 0) work.push_back(to);
            waiting[to] = 1;
          });
    }
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) pad(b);
  }

 private:
  // short_at(n, cycles): so many are missing in front of an instruction. leave(block, cycles): on the way to
  // another block.
  template <class F, class G>
  void walk(std::uint32_t b, const F& short_at, const G& leave) const {
    unsigned now = in_[b];
    const std::vector<Instruction>& code = p_.blocks[b].code;
    for (std::size_t n = 0; n < code.size(); ++n) {
      const Instruction& i = code[n];
      if (ends_way(i)) {
        const unsigned least = base_mnemonic(i.code) == "EXIT" && i.guarded() ? to_guarded_exit : to_barrier;
        if (now < least) short_at(n, least - now);
        now = 0;
        continue;
      }
      now = std::min(now + i.code.control.stall, far);
      if (leads_away(i) && now > 0) leave(i.target, --now);
    }
    if (p_.blocks[b].next != none) leave(p_.blocks[b].next, now);
  }

  void pad(std::uint32_t b) {
    std::vector<std::pair<std::size_t, unsigned>> missing;
    walk(
        b, [&](std::size_t n, unsigned cycles) { missing.emplace_back(n, cycles); },
        [](std::uint32_t, unsigned) {});
    if (missing.empty()) return;
    std::vector<Instruction> code = std::exchange(p_.blocks[b].code, {});
    out_.start(b);
    auto next = missing.begin();
    for (std::size_t n = 0; n < code.size(); ++n) {
      if (next != missing.end() && next->first == n)
        for (unsigned left = next++->second; left > 0;) {
          const unsigned now = std::min(left, longest);
          pause(code[n], now);
          left -= now;
        }
      p_.blocks[b].code.push_back(std::move(code[n]));
    }
  }

  void pause(const Instruction& before, unsigned cycles) {
    Instruction& i = out_.emit("NOP", {}, {number(0)});
    i.line = before.line, i.file = before.file, i.source_line = before.source_line;
    i.code.control.stall = static_cast<std::uint8_t>(cycles);
  }

  Program& p_;
  Builder out_;
  std::vector<unsigned> in_;  // by block: the fewest cycles since the way began
};

}  // namespace

void lengthen_short_ways(Program& program) { Ways(program).run(); }

}  // namespace simtlab::assembler
