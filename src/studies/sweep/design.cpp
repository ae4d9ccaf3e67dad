// The designs: which combinations a study has.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/shown.h"
#include "studies/sweep/study.h"

namespace simtlab::studies::sweep {
namespace {

constexpr std::uint64_t most_candidates = 50'000'000;  // half a minute with a constraint
constexpr std::uint64_t draws_a_point = 200;           // of random, before we say that there are no more

class Expander {
 public:
  Expander(const Study& study, const std::function<void(const Combination&)>& take, const volatile bool* stop)
      : s_(study), take_(take), stop_(stop) {
    out_.rejected.resize(s_.constraints.size());
    now_.values.resize(s_.axes.size());
  }

  Expansion run() {
    const bool draws = s_.design == Design::random || s_.design == Design::latin_hypercube;
    for (const Axis& a : s_.axes)
      if (a.range && !draws)
        refuse("sweep-design",
               fmt::format("axis '{}' is a range to draw from, and the design is {}", shown(a.name, 60),
                           name_of(s_.design)),
               "give it values, as 60:132:12, or take the design random or latin-hypercube");
    if (draws != (s_.points != 0))
      refuse("sweep-design",
             draws ? fmt::format("the design {} needs a number of points", name_of(s_.design))
                   : fmt::format("the design {} has as many points as its axes say", name_of(s_.design)),
             draws ? "--points N, or points = N in [design]"
                   : "leave --points out, or take the design random or latin-hypercube");
    if (s_.points > most_points) too_many();
    switch (s_.design) {
      case Design::cartesian: cartesian(); break;
      case Design::zip: zip(); break;
      case Design::random: random(); break;
      case Design::latin_hypercube: latin_hypercube(); break;
    }
    if (out_.combinations == 0) nothing_left();
    return out_;
  }

 private:
  [[noreturn]] void refuse(const char* id, const std::string& what, const std::string& hint) const {
    throw Error(ExitCode::bad_input, id, what, hint);
  }
  [[noreturn]] void too_many() const {
    refuse("sweep-large", fmt::format("more than {} points", most_points),
           "a constraint, fewer values, or --design latin-hypercube --points N");
  }
  [[noreturn]] void nothing_left() const {
    std::string text = fmt::format("no combination is left: {} looked at", out_.candidates);
    for (std::size_t i = 0; i < s_.constraints.size(); ++i)
      if (out_.rejected[i] > 0)
        text += fmt::format("; \"{}\" excludes {}", shown(s_.constraints[i].text(), 80), out_.rejected[i]);
    refuse("sweep-empty", text, "the constraints exclude each other, or no value fits them");
  }

  // The present combination, unless a constraint excludes it or it was there before.
  bool offer(bool distinct) {
    ++out_.candidates;
    if (stop_ != nullptr && out_.candidates % 1024 == 0 && *stop_)
      throw Error(ExitCode::interrupted, "interrupted", "stopped while the points were made",
                  "nothing was run");
    for (std::size_t i = 0; i < s_.constraints.size(); ++i)
      if (!s_.constraints[i].holds(now_.values)) {
        ++out_.rejected[i];
        return false;
      }
    if (distinct && !seen_.insert(key()).second) {
      ++out_.repeated;
      return false;
    }
    if (out_.combinations * s_.repeats >= most_points) too_many();
    now_.index = out_.combinations++;
    take_(now_);
    return true;
  }
  std::string joined() const {
    std::string text;
    for (const std::string& v : now_.values) text += v + '\0';
    return text;
  }
  std::uint64_t key() const { return std::stoull(hash_bytes(joined()), nullptr, 16); }

  void cartesian() {
    double all = 1;
    for (const Axis& a : s_.axes) all *= static_cast<double>(a.values.size());
    if (all > static_cast<double>(most_candidates))
      refuse(
          "sweep-large",
          fmt::format("{:.3g} combinations: more than {} are not looked at one by one", all, most_candidates),
          "fewer values, or --design random --points N (or latin-hypercube)");
    std::vector<std::size_t> at(s_.axes.size(), 0);
    for (;;) {
      for (std::size_t a = 0; a < at.size(); ++a) now_.values[a] = s_.axes[a].values[at[a]];
      offer(false);
      std::size_t a = at.size();
      while (a > 0 && ++at[a - 1] == s_.axes[a - 1].values.size()) at[--a] = 0;
      if (a == 0) return;
    }
  }

  void zip() {
    const std::size_t length = s_.axes.empty() ? 1 : s_.axes.front().values.size();
    for (const Axis& a : s_.axes)
      if (a.values.size() != length)
        refuse("sweep-design",
               fmt::format("axis '{}' has {} values and '{}' has {}: zip takes one of each",
                           shown(s_.axes.front().name, 60), length, shown(a.name, 60), a.values.size()),
               "make them equally long, or take the design cartesian");
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t a = 0; a < s_.axes.size(); ++a) now_.values[a] = s_.axes[a].values[i];
      offer(false);
    }
  }

  static std::string value_at(const Axis& axis, double u) {
    if (axis.range) return drawn(*axis.range, u);
    return axis.values[std::min(axis.values.size() - 1,
                                static_cast<std::size_t>(u * static_cast<double>(axis.values.size())))];
  }

  void random() {
    Rng rng(s_.seed);
    const std::uint64_t most = s_.points * draws_a_point + 100'000;
    while (out_.combinations < s_.points) {
      if (out_.candidates == most) {
        if (out_.combinations == 0) return;
        refuse("sweep-design",
               fmt::format("only {} different combinations were found in {} draws, not {}", out_.combinations,
                           most, s_.points),
               "ask for fewer points, or take the design cartesian");
      }
      for (std::size_t a = 0; a < s_.axes.size(); ++a) now_.values[a] = value_at(s_.axes[a], rng.unit());
      offer(true);
    }
  }

  void latin_hypercube() {
    Rng rng(s_.seed);
    std::vector<std::vector<std::uint32_t>> parts(s_.axes.size(), std::vector<std::uint32_t>(s_.points));
    for (std::vector<std::uint32_t>& p : parts) {
      std::iota(p.begin(), p.end(), 0u);
      for (std::size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[rng.below(i)]);
    }
    for (std::size_t i = 0; i < s_.points; ++i) {
      for (std::size_t a = 0; a < s_.axes.size(); ++a)
        now_.values[a] = value_at(s_.axes[a], (parts[a][i] + rng.unit()) / static_cast<double>(s_.points));
      offer(true);
    }
  }

  const Study& s_;
  const std::function<void(const Combination&)>& take_;
  const volatile bool* stop_;
  Expansion out_;
  Combination now_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Expansion expand(const Study& study, const std::function<void(const Combination&)>& take,
                 const volatile bool* stop) {
  return Expander(study, take, stop).run();
}

}  // namespace simtlab::studies::sweep
