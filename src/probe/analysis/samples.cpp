#include "probe/analysis/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/text_file.h"

namespace simtlab::probe {
namespace {

constexpr std::size_t max_samples_line = 16 << 20;
constexpr std::uint64_t max_samples_file = 256 << 20;
constexpr const char* form = "a file of samples has numbers and nothing else: a column, or several in a line";

class SamplesParser {
 public:
  explicit SamplesParser(const std::string& file) : file_(file) {}

  std::vector<double> parse(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write it
    for (const std::string& line : checked_lines(text, file_, max_samples_line)) {
      ++number_;
      line_of(std::string_view(line).substr(0, line.find('#')));
    }
    if (samples_.empty()) {
      number_ = 0;
      wrong("samples-count", 0, "there is no sample",
            "one number for each thread, in the order of the threads");
    }
    return std::move(samples_);
  }

 private:
  [[noreturn]] void wrong(const char* id, std::size_t column, std::string what, std::string hint) const {
    throw Error(
        ExitCode::bad_input, id,
        Diagnostic{
            std::move(what), {file_, number_, static_cast<std::uint32_t>(column)}, {}, std::move(hint)});
  }

  void line_of(std::string_view line) {
    constexpr std::string_view apart = " \t,;";
    std::size_t words = 0;
    for (std::size_t at = line.find_first_not_of(apart); at != std::string_view::npos; ++words) {
      const std::size_t end = std::min(line.find_first_of(apart, at), line.size());
      const std::string_view word = line.substr(at, end - at);
      const std::size_t next = line.find_first_not_of(apart, end);
      const bool alone = words == 0 && next == std::string_view::npos;
      if (!begun_ && alone && !numeric(word)) {
        begun_ = true;
        return;
      }
      begun_ = true;
      sample(word, at + 1);
      at = next;
    }
  }

  static bool numeric(std::string_view word) {
    double v = 0;
    return std::from_chars(word.data(), word.data() + word.size(), v).ec != std::errc::invalid_argument;
  }

  void sample(std::string_view word, std::size_t column) {
    double v = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, v);
    const std::string text = shown(std::string(word.substr(0, 40)));
    if (error == std::errc::invalid_argument || stop != end)
      wrong("samples-syntax", column, fmt::format("'{}' is no number", text), form);
    if (error != std::errc{} || !std::isfinite(v) || v > largest_sample)
      wrong("samples-value", column, fmt::format("{} is not a number of up to {:g}", text, largest_sample),
            "leave out what could not be measured");
    if (v < 0)
      wrong("samples-value", column, fmt::format("{} is negative: no interval is", text),
            "a clock of 32 bits that went round is 4294967296 short: add it, or leave the sample's warp out");
    if (samples_.size() == most_samples)
      wrong("samples-count", column, fmt::format("more than {} samples", most_samples),
            "leave out launches, or all but one thread of each warp (with --one-in 1)");
    samples_.push_back(v);
  }

  const std::string& file_;
  std::uint32_t number_ = 0;
  bool begun_ = false;  // past where a column's name may be
  std::vector<double> samples_;
};

}  // namespace

std::vector<double> parse_samples(std::string_view text, const std::string& file) {
  return SamplesParser(file).parse(text);
}

std::vector<double> read_samples(const std::filesystem::path& file) {
  return parse_samples(read_file(file, max_samples_file, "samples"), file.string());
}

Processed process(std::span<const double> measured, std::span<const double> cost, std::size_t warp_size,
                  Correction correction) {
  Processed out{Histogram(one_per_warp(measured, warp_size)), Histogram(one_per_warp(cost, warp_size)), {}};
  const Distribution z(out.measured), y(out.cost);
  const std::uint64_t pairs = std::uint64_t{z.masses().size()} * y.masses().size();
  if (pairs > most_pairs)
    throw Error(
        ExitCode::bad_input, "timer-range",
        fmt::format("{} different intervals and {} different costs of the clock are {} pairs, the limit "
                    "is {}",
                    z.masses().size(), y.masses().size(), pairs, most_pairs),
        "leave out outliers of the cost, or round the values");
  DeconvolveOptions options;
  options.enough = std::max(options.enough, sampling_error(z, out.measured.count()));
  out.latency =
      correction == Correction::deconvolve ? deconvolve(z, y, options).latency : corrected(correction, z, y);
  return out;
}

std::int64_t mode_of(const Distribution& distribution) {
  return std::ranges::max_element(distribution.masses(), {}, &Distribution::Mass::second)->first;
}

Piece piece_of(const Distribution& distribution, double share) {
  return {distribution.masses().front().first,
          distribution.masses().back().first,
          mode_of(distribution),
          share,
          distribution.mean(),
          std::sqrt(std::max(0.0, distribution.variance()))};
}

std::optional<Distribution> between(const Distribution& whole, std::int64_t low, std::int64_t high,
                                    double* share) {
  std::vector<Distribution::Mass> masses;
  double total = 0;
  for (const auto& mass : whole.masses())
    if (mass.first >= low && mass.first <= high) masses.push_back(mass), total += mass.second;
  if (share != nullptr) *share = total;
  if (!(total > 0)) return std::nullopt;
  return Distribution(std::move(masses));
}

std::vector<Piece> split_at(const Distribution& whole, std::span<const double> boundaries) {
  std::vector<Piece> out;
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const bool last = i == boundaries.size();
    const std::int64_t high = last ? std::numeric_limits<std::int64_t>::max()
                                   : static_cast<std::int64_t>(std::floor(boundaries[i]));
    double share = 0;
    if (const auto part = between(whole, low, high, &share)) out.push_back(piece_of(*part, share));
    if (!last) low = high + 1;
  }
  return out;
}

std::vector<double> boundaries_by(const Distribution& whole, std::span<const double> counts) {
  double total = 0;
  for (const double count : counts) total += count;
  SIMTLAB_ASSERT(total > 0, "counters counted something");
  std::vector<double> out;
  const auto& masses = whole.masses();
  double wanted = 0, below = 0;
  std::size_t at = 0;
  // Where the share so far is nearest to what the counters say; a level without a share has no boundary.
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    wanted += counts[i] / total;
    while (at < masses.size() && std::abs(below + masses[at].second - wanted) <= std::abs(below - wanted))
      below += masses[at].second, ++at;
    if (at == 0)
      out.push_back(static_cast<double>(masses.front().first - 1));
    else
      out.push_back(static_cast<double>(masses[at - 1].first));
  }
  return out;
}

std::optional<Piece> around_mode(const Distribution& whole, std::int64_t bound) {
  const auto below = between(whole, std::numeric_limits<std::int64_t>::min(), bound);
  if (!below) return std::nullopt;
  const std::int64_t mode = mode_of(*below);
  if (mode >= bound) return std::nullopt;
  double share = 0;
  const auto part = between(whole, mode - (bound - mode), bound, &share);
  return piece_of(*part, share);
}

}  // namespace simtlab::probe
