#include "assembler/numbers.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "assembler/number_wishes.h"
#include "assembler/parity.h"
#include "assembler/schedule.h"
#include "machine/bundles.h"

namespace simtlab::assembler {
namespace {

struct Item {
  std::uint32_t reg = 0, unit = 0;
  std::uint32_t width = 1;
  std::uint32_t begin = 0, length = 0;
  bool fixed = false;
};

using Order = std::vector<std::uint32_t>;  // of items

// Which of the numbers that are free is taken.
enum class Choice : std::uint8_t {
  lowest,
  snug,    // next to numbers that are taken already, so that pairs stay free for pairs
  oldest,  // the one that nothing took for the longest time: the next instructions need not wait for it
};

class Numbering {
 public:
  Numbering(const Program& program, const Liveness& liveness, const std::vector<std::uint8_t>& named,
            const NumberLimits& limits);
  bool run(std::vector<std::uint8_t>& numbers);

 private:
  static constexpr std::uint32_t fits = 0xffffffffu;
  static constexpr std::uint16_t no_number = 0xffff;
  using Key = bool (*)(const Item&, const Item&);

  std::uint32_t most_alive() const;
  Order ordered(Key less) const;
  // `fits`, or the item that found no room.
  std::uint32_t attempt(const Order& order, std::uint32_t most, Choice choice);
  Numbers free_for(const Item& item, std::uint32_t most) const;
  unsigned chosen(const Item& item, const Numbers& free, Choice choice) const;
  void take(const Item& item, unsigned number);
  bool improve(Order order, std::uint32_t most, Choice choice, unsigned tries);
  bool keep();
  bool is_small() const;
  std::uint32_t roomy() const;
  void spread(const Order& by_begin);
  Numbers liked(const Item& item, const Numbers& free) const;
  Numbers apart(const Item& item, const Numbers& free) const;
  Numbers in_place(const Item& item, const Numbers& free) const;
  Numbers wanted(const Item& item, const Numbers& free) const;
  void hold(const Item& item, unsigned number);
  void hold_pair(const Item& item, unsigned number);
  Numbers settled(const Item& item, const Numbers& free, bool own) const;

  const Program& program_;
  const Liveness& liveness_;
  const NumberLimits& limits_;
  std::vector<Item> items_;
  Occupied occupied_;
  std::optional<Occupied> late_;  // in twice as many gaps: which number should rather not be written there
  std::vector<std::uint8_t> bases_, best_;  // of an item
  Order order_, best_order_;                // that has led to them
  Choice choice_ = Choice::lowest, best_choice_ = Choice::lowest;
  std::uint32_t used_ = 0, best_used_ = 0;  // numbers below it
  std::vector<Parity> parities_;            // of a register; empty: they do not matter yet
  std::optional<NumberWishes> wishes_;      // not there: they do not matter yet
  std::vector<std::uint16_t> number_of_;    // of a register; no_number: none yet
  std::array<std::uint32_t, 256> last_{};   // gap where the last one that has the number ends
};

Numbering::Numbering(const Program& program, const Liveness& liveness, const std::vector<std::uint8_t>& named,
                     const NumberLimits& limits)
    : program_(program),
      liveness_(liveness),
      limits_(limits),
      occupied_(liveness.first_gap.back()),
      late_(2 * liveness.first_gap.back() + 2) {
  for (std::uint32_t r = 0; r < program.registers.size(); ++r) {
    const Register& reg = program.registers[r];
    if (named[r] == 0 || reg.file != limits.file) continue;
    Item item{.reg = r, .unit = liveness.first_unit[r], .width = reg.width};
    item.fixed = reg.fixed != Register::anywhere;
    item.begin = none;
    for (std::uint32_t k = 0; k < item.width; ++k)
      for (const Segment& s : liveness.lives[item.unit + k]) {
        item.begin = std::min(item.begin, s.from);
        item.length += s.to - s.from;
      }
    items_.push_back(item);
  }
  bases_.assign(items_.size(), 0);
}

std::uint32_t Numbering::most_alive() const {
  std::vector<std::int32_t> changes(liveness_.first_gap.back() + 1, 0);
  for (const Item& item : items_)
    for (std::uint32_t k = 0; k < item.width; ++k)
      for (const Segment& s : liveness_.lives[item.unit + k]) {
        ++changes[s.from];
        --changes[s.to];
      }
  std::int32_t now = 0, most = 0;
  for (const std::int32_t c : changes) most = std::max(most, now += c);
  return static_cast<std::uint32_t>(most);
}

Order Numbering::ordered(Key less) const {
  Order order(items_.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (items_[a].fixed != items_[b].fixed) return items_[a].fixed;
    return less(items_[a], items_[b]);
  });
  return order;
}

Numbers Numbering::free_for(const Item& item, std::uint32_t most) const {
  Numbers taken;
  for (std::uint32_t k = 0; k < item.width; ++k) {
    Numbers at = limits_.reserved;
    for (const Segment& s : liveness_.lives[item.unit + k]) at |= occupied_.in(s.from, s.to);
    taken |= at.lowered(k);
  }
  const std::uint64_t aligned = item.width == 1   ? ~std::uint64_t{0}
                                : item.width == 2 ? 0x5555555555555555u
                                                  : 0x1111111111111111u;
  Numbers free;
  for (unsigned w = 0; w < 4; ++w) free.words[w] = ~taken.words[w] & aligned;
  const std::uint32_t end = most < item.width ? 0 : most - item.width + 1;
  for (unsigned w = 0; w < 4; ++w)
    if (end <= 64 * w)
      free.words[w] = 0;
    else if (end < 64 * (w + 1))
      free.words[w] &= (std::uint64_t{1} << (end - 64 * w)) - 1;
  return free;
}

template <class F>
void each_number(const Numbers& numbers, const F& f) {
  for (unsigned w = 0; w < 4; ++w)
    for (std::uint64_t rest = numbers.words[w]; rest != 0; rest &= rest - 1)
      f(64 * w + static_cast<unsigned>(std::countr_zero(rest)));
}

unsigned first_of(const Numbers& numbers) {
  for (unsigned w = 0; w < 4; ++w)
    if (numbers.words[w] != 0) return 64 * w + static_cast<unsigned>(std::countr_zero(numbers.words[w]));
  return 0;
}

// Those of the bank that is wanted, if there are any.
Numbers Numbering::liked(const Item& item, const Numbers& free) const {
  if (parities_.empty() || item.width > 1 || parities_[item.reg] == Parity::any) return free;
  Numbers out = free;
  for (std::uint64_t& word : out.words)
    word &= parities_[item.reg] == Parity::even ? 0x5555555555555555u : 0xaaaaaaaaaaaaaaaau;
  return out.empty() ? free : out;
}

// Those whose bank is read least beside those who have numbers already.
Numbers Numbering::apart(const Item& item, const Numbers& free) const {
  const unsigned banks = wishes_->banks();
  std::array<std::uint64_t, 4> costs{};
  bool any = false;
  for (const NumberWishes::Mate& mate : wishes_->beside(item.reg)) {
    if (number_of_[mate.other] == no_number) continue;
    // The bank in which the register would have to begin for both to be in one.
    costs[(number_of_[mate.other] + mate.other_part + banks - mate.part) % banks] += mate.weight;
    any = true;
  }
  if (!any) return free;
  std::array<Numbers, 4> of_bank;
  for (unsigned bank = 0; bank < banks; ++bank) {
    const std::uint64_t pattern = banks == 2 ? 0x5555555555555555u : 0x1111111111111111u;
    for (unsigned w = 0; w < 4; ++w) of_bank[bank].words[w] = free.words[w] & pattern << bank;
  }
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned bank = 0; bank < banks; ++bank)
    if (!of_bank[bank].empty()) least = std::min(least, costs[bank]);
  Numbers out;
  for (unsigned bank = 0; bank < banks; ++bank)
    if (costs[bank] == least) out |= of_bank[bank];
  return out;
}

// Those that an instruction's result and what it is computed from can share.
Numbers Numbering::in_place(const Item& item, const Numbers& free) const {
  Numbers out, best;
  for (const NumberWishes::Mate& mate : wishes_->in_place(item.reg)) {
    const unsigned there = number_of_[mate.other];
    if (there == no_number) continue;
    // Of a pair that dies any half will do for what is narrow, and of what dies any place in a pair.
    for (unsigned n = there; n < there + program_.registers[mate.other].width; ++n) {
      const unsigned begin = n / item.width * item.width;
      if (free.has(begin)) (mate.likely ? best : out).add(begin);
    }
  }
  return best.empty() ? out : best;
}

// Those that no load under way has to read first; `own`: nor the instruction that writes this one.
Numbers Numbering::settled(const Item& item, const Numbers& free, bool own) const {
  Numbers out = free, late;
  if (item.begin == 0) return out;
  if (const std::uint32_t from = wishes_->may_begin(item.reg); from < item.begin)
    for (std::uint32_t k = 0; k < item.width; ++k) late |= occupied_.in(from, item.begin).lowered(k);
  for (std::uint32_t k = 0; k < item.width; ++k)
    late |= late_->in(2 * item.begin - 1, 2 * item.begin + (own ? 1 : 0)).lowered(k);
  for (unsigned w = 0; w < 4; ++w) out.words[w] &= ~late.words[w];
  return out;
}

// What is loaded into its own address keeps the whole pair of it, and the instruction that reads it last puts
// its result elsewhere: so has the vendor's assembler nine of ten.
void Numbering::hold_pair(const Item& item, unsigned number) {
  const unsigned pair = number & ~1u;
  const auto is_there = [&](const NumberWishes::Mate& mate) {
    return mate.loaded && number_of_[mate.other] == pair && program_.registers[mate.other].width == 2;
  };
  if (item.width > 2 || std::ranges::none_of(wishes_->in_place(item.reg), is_there)) return;
  for (std::uint32_t k = 0; k < item.width; ++k)
    for (const Segment& s : liveness_.lives[item.unit + k])
      for (unsigned half = 0; half < 2; ++half) late_->take(pair + half, 2 * s.from, 2 * s.to + 1);
}

// What is wished of later ones for the sake of this one.
void Numbering::hold(const Item& item, unsigned number) {
  number_of_[item.reg] = static_cast<std::uint16_t>(number);
  hold_pair(item, number);
  for (const NumberWishes::Window& window : wishes_->late(item.reg))
    for (unsigned k = 0; k < window.count; ++k)
      late_->take(number + window.part + k, 2 * window.from, 2 * window.to - 1);
}

// As the vendor's assembler has it: sources of an instruction from different banks, results where what they
// are computed from ends, and nothing where a load has still to read.
Numbers Numbering::wanted(const Item& item, const Numbers& free) const {
  if (!wishes_) return free;
  const Numbers of_bank = apart(item, free);
  for (const Numbers& from : {of_bank, free}) {
    if (const Numbers there = settled(item, in_place(item, from), false); !there.empty()) return there;
    if (const Numbers there = settled(item, from, true); !there.empty()) return there;
  }
  return of_bank;
}

unsigned Numbering::chosen(const Item& item, const Numbers& free, Choice choice) const {
  if (choice == Choice::snug && item.width < 4) {
    // Whose neighbour in the pair or the four is taken when this one begins.
    Numbers taken = occupied_.in(item.begin, item.begin + 1);
    taken |= limits_.reserved;
    unsigned best = first_of(free), best_score = 0;
    each_number(free, [&](unsigned n) {
      unsigned score = 0;
      if (item.width == 1 && taken.has(n ^ 1u)) score += 4;
      for (unsigned k = n & ~3u; k < (n & ~3u) + 4; ++k) score += taken.has(k) ? 1u : 0u;
      if (score > best_score) {
        best = n;
        best_score = score;
      }
    });
    return best;
  }
  if (choice == Choice::oldest) {
    unsigned best = first_of(free);
    std::uint32_t best_end = none;
    each_number(free, [&](unsigned n) {
      std::uint32_t end = 0;
      for (unsigned k = n; k < n + item.width; ++k) end = std::max(end, last_[k]);
      if (end < best_end) {
        best = n;
        best_end = end;
      }
    });
    return best;
  }
  return first_of(free);
}

void Numbering::take(const Item& item, unsigned number) {
  for (std::uint32_t k = 0; k < item.width; ++k) {
    const std::vector<Segment>& lives = liveness_.lives[item.unit + k];
    for (const Segment& s : lives) occupied_.take(number + k, s.from, s.to);
    if (lives.empty()) continue;
    last_[number + k] = std::max(last_[number + k], lives.back().to);
    used_ = std::max(used_, number + k + 1);
  }
}

std::uint32_t Numbering::attempt(const Order& order, std::uint32_t most, Choice choice) {
  occupied_.clear();
  if (late_) late_->clear();
  last_.fill(0);
  std::ranges::fill(number_of_, no_number);
  used_ = 0;
  for (const std::uint32_t at : order) {
    const Item& item = items_[at];
    const Numbers free = free_for(item, item.fixed ? limits_.most : most);
    const unsigned fixed = program_.registers[item.reg].fixed;
    if (item.fixed ? !free.has(fixed) : free.empty()) return at;
    const unsigned number = item.fixed ? fixed : chosen(item, wanted(item, liked(item, free)), choice);
    bases_[at] = static_cast<std::uint8_t>(number);
    if (wishes_) hold(item, number);
    take(item, number);
  }
  return fits;
}

// Where it is better than the best so far.
bool Numbering::keep() {
  if (!best_.empty() && used_ >= best_used_) return false;
  best_ = bases_;
  best_used_ = used_;
  best_order_ = order_;
  best_choice_ = choice_;
  return true;
}

// Those that found no room come first the next time.
bool Numbering::improve(Order order, std::uint32_t most, Choice choice, unsigned tries) {
  const auto free_begin = std::ranges::find_if(order, [&](std::uint32_t k) { return !items_[k].fixed; });
  const auto first = free_begin - order.begin();
  while (tries-- > 0) {
    const std::uint32_t failed = attempt(order, most, choice);
    if (failed == fits) {
      order_ = std::move(order);
      choice_ = choice;
      return true;
    }
    if (items_[failed].fixed) return false;
    const auto at = std::find(order.begin() + first, order.end(), failed);
    std::rotate(order.begin() + first, at, at + 1);
  }
  return false;
}

// An SM can be full of warps.
bool Numbering::is_small() const { return best_used_ <= 32 - place_registers(program_.generation); }

// A few numbers more than there must be keep instructions apart. They cost nothing while an SM can be full of
// warps, where the vendor's assembler takes some (of 600 kernels a generation most have as many registers as
// in its code with two on Turing, four on Hopper, three on others), and then up to the next portion in which
// the hardware gives registers to warps.
std::uint32_t few_more(unsigned generation, std::uint32_t used) {
  if (machine::in_bundles(generation)) return std::max(1u, used / 6);
  return generation >= 90 ? 4 : generation == 75 ? 2 : 3;
}

std::uint32_t Numbering::roomy() const {
  if (limits_.file != File::general) return limits_.most;
  constexpr std::uint32_t portion = register_portion;
  const std::uint32_t place = place_registers(program_.generation), full = 32 - place;
  const std::uint32_t taken = best_used_ + place;
  const std::uint32_t end = std::max((taken + portion - 1) / portion * portion - place, full);
  const std::uint32_t more =
      is_small() ? few_more(program_.generation, best_used_) : std::max(1u, best_used_ / 32);
  return std::min({limits_.most, end, best_used_ + more});
}

// Sources of one instruction in different banks. Of kernels that need few registers also no number that a
// load has still to read, and results where what they are computed from ends; behind Pascal then the lowest
// of these. Else the one that was free last.
void Numbering::spread(const Order& by_begin) {
  Choice choice = Choice::oldest;
  if (limits_.file == File::general) {
    parities_ = wanted_parities(program_);
    if (is_small()) {
      wishes_.emplace(program_, liveness_);
      late_.emplace(2 * liveness_.first_gap.back() + 2);
      number_of_.resize(program_.registers.size());
      if (!machine::in_bundles(program_.generation)) choice = Choice::lowest;
    }
  }
  constexpr unsigned tries = 4;
  const Order& packs = best_order_;
  for (const std::uint32_t most : {std::max(roomy(), best_used_), best_used_})
    if (improve(by_begin, most, choice, tries) || improve(packs, most, Choice::oldest, tries) ||
        improve(by_begin, most, Choice::snug, tries) || improve(packs, most, best_choice_, tries)) {
      best_ = bases_;
      return;
    }
}

bool Numbering::run(std::vector<std::uint8_t>& numbers) {
  if (items_.empty()) return true;
  const auto begins = [](const Item& a, const Item& b) { return a.begin < b.begin; };
  const auto wide_begins = [](const Item& a, const Item& b) {
    return a.width != b.width ? a.width > b.width : a.begin < b.begin;
  };
  const auto wide_long = [](const Item& a, const Item& b) {
    return a.width != b.width ? a.width > b.width : a.length > b.length;
  };
  const auto longest = [](const Item& a, const Item& b) { return a.length > b.length; };
  const std::uint32_t alive = most_alive();
  if (alive > limits_.most) return false;
  const std::uint32_t least = std::max(alive, limits_.enough);
  const std::array<Order, 4> orders{ordered(begins), ordered(wide_begins), ordered(wide_long),
                                    ordered(longest)};
  std::uint32_t most = limits_.most;
  for (const Order& order : orders)
    for (const Choice choice : {Choice::lowest, Choice::snug})
      if ((best_.empty() || best_used_ > least) && improve(order, most, choice, 1) && keep())
        most = best_used_ - 1;
  const std::size_t most_tries = limits_.enough == 0 ? 20 : 3;
  const auto tries = static_cast<unsigned>(std::clamp<std::size_t>(10000 / items_.size(), 2, most_tries));
  // Of a large kernel, a few that are spilled beside take less time than the search for room.
  const bool searches = limits_.enough == 0 || items_.size() < 20000;
  for (bool better = searches; better && (best_.empty() || best_used_ > least);) {
    better = false;
    for (const Order& order : orders)
      for (const Choice choice : {Choice::lowest, Choice::snug})
        if (!better && improve(order, most, choice, tries) && keep()) {
          better = true;
          most = best_used_ - 1;
        }
  }
  if (best_.empty()) return false;
  // Predicates have the lowest numbers that are free, as ptxas gives them.
  if (limits_.file != File::predicate) spread(orders[0]);
  for (std::size_t k = 0; k < items_.size(); ++k) numbers[items_[k].reg] = best_[k];
  return true;
}

}  // namespace

bool give_numbers(const Program& program, const Liveness& liveness, const std::vector<std::uint8_t>& named,
                  const NumberLimits& limits, std::vector<std::uint8_t>& numbers) {
  numbers.resize(program.registers.size(), 0);
  return Numbering(program, liveness, named, limits).run(numbers);
}

}  // namespace simtlab::assembler
