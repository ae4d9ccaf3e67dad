#include "models/loops/shared_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "models/loops/description.h"

namespace simtlab::models::loops {
namespace {

[[noreturn]] void refuse_tile(const Description& nest, const Tile& t, const std::string& why) {
  const Access& a = nest.accesses[at(t.accesses.front())];
  Diagnostic d;
  d.message = fmt::format("'{}' can't be written into shared memory: {}", nest.inputs[at(t.input)].name, why);
  d.pos = nest.at(a);
  d.hint = "leave out --stage";
  throw Error(ExitCode::unsupported, "loop-cuda", std::move(d));
}

// Elements of the pieces, which must be alike.
struct Rows {
  std::int64_t width = 0, distance = 0, count = 0;
};
std::optional<Rows> rows_of(const Tile& t, std::int64_t element) {
  Rows out;
  out.count = static_cast<std::int64_t>(t.pieces.size());
  const std::int64_t width = t.pieces.front().high - t.pieces.front().low,
                     distance = out.count > 1 ? t.pieces[1].low - t.pieces[0].low : width;
  for (std::size_t i = 0; i < t.pieces.size(); ++i)
    if (t.pieces[i].high - t.pieces[i].low != width ||
        (i > 0 && t.pieces[i].low - t.pieces[i - 1].low != distance))
      return std::nullopt;
  if (width % element != 0 || distance % element != 0 || t.pieces.front().low % element != 0)
    return std::nullopt;
  out.width = width / element;
  out.distance = distance / element;
  return out;
}

// What is copied; what is read has the type of the program.
std::string word_of(const Access& a) {
  if (a.real && a.bytes >= 4) return a.bytes == 8 ? "double" : "float";
  return a.bytes == 1   ? "unsigned char"
         : a.bytes == 2 ? "unsigned short"
         : a.bytes == 4 ? "unsigned int"
                        : "unsigned long long";
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Behind "name[...][...]"; nothing if that does not begin there.
std::optional<std::size_t> end_of_element(const CText& text, std::size_t begin) {
  const std::string_view all = text.text();
  if (begin >= all.size() || !in_word(all[begin]) || (begin > 0 && in_word(all[begin - 1])))
    return std::nullopt;
  std::size_t i = begin;
  while (i < all.size() && in_word(all[i])) ++i;
  std::size_t end = begin;
  for (i = text.skip_blank(i); i < all.size() && all[i] == '['; i = text.skip_blank(end)) end = text.close(i);
  if (end == begin || (i < all.size() && (all[i] == '.' || all.substr(i, 2) == "->"))) return std::nullopt;
  return end;
}

}  // namespace

SharedSource::SharedSource(const Description& nest, const Mapping& mapping, const CText& text,
                           std::size_t begin, std::size_t end, const std::vector<Tile>& tiles,
                           const std::vector<std::uint64_t>& bytes)
    : nest_(nest), mapping_(mapping), text_(text), begin_(begin), end_(end) {
  if (tiles.empty()) return;
  declarations_ =
      "const unsigned thread_ = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n";
  for (const Tile& t : tiles) add(t, bytes[at(t.input)]);
  declarations_ += "__syncthreads();\n";
}

// The tile's first element, of each block.
std::string SharedSource::where(const Tile& t, const std::string& index) const {
  const auto element = static_cast<std::int64_t>(nest_.accesses[at(t.accesses.front())].bytes);
  std::string out = fmt::format("{}", t.pieces.front().low / element);
  for (std::size_t d = 0; d < mapping_.loops.size(); ++d)
    if (const auto f = t.factors.find(mapping_.loops[d]); f != t.factors.end())
      out += fmt::format(" + ({0}){1} * ({0})(blockIdx.{2} * blockDim.{2})", index, f->second / element,
                         "xyz"[d]);
  return out;
}

void SharedSource::add(const Tile& t, std::uint64_t bytes) {
  const Access& first = nest_.accesses[at(t.accesses.front())];
  const auto element = static_cast<std::int64_t>(first.bytes);
  for (const int a : t.accesses)
    if (nest_.accesses[at(a)].bytes != first.bytes) refuse_tile(nest_, t, "its reads are of different sizes");
  const auto rows = rows_of(t, element);
  if (!rows) refuse_tile(nest_, t, "what a block reads is no rows of one length");
  const std::string array = nest_.inputs[at(t.input)].name, name = fmt::format("{}_tile", array);
  for (const auto& [l, f] : t.factors)
    if (f % element != 0 && std::ranges::find(mapping_.loops, l) != mapping_.loops.end())
      refuse_tile(nest_, t, "its elements do not lie at multiples of their size");
  const std::int64_t pad =
      t.padded ? std::max<std::int64_t>(
                     1, static_cast<std::int64_t>((t.shared_bytes - t.bytes) /
                                                  std::max<std::uint64_t>(1, t.pieces.size() - 1)) /
                            element)
               : 0;
  const std::int64_t width = rows->width + pad, count = rows->count * rows->width;
  const std::string word = word_of(first);
  const bool one = rows->count == 1, apart = rows->distance != rows->width;
  const std::int64_t elements = static_cast<std::int64_t>(bytes) / element;
  // Blocks at the ends of the grid may reach beyond the array.
  std::int64_t lowest = t.pieces.front().low / element, highest = t.pieces.back().high / element;
  for (std::size_t d = 0; d < mapping_.loops.size(); ++d)
    if (const auto f = t.factors.find(mapping_.loops[d]); f != t.factors.end())
      (f->second < 0 ? lowest : highest) +=
          f->second / element * static_cast<std::int64_t>(mapping_.block[d] * (mapping_.grid[d] - 1));
  const bool inside = lowest >= 0 && highest <= elements;
  constexpr std::int64_t most = INT32_MAX / 2;
  const std::string index = lowest > -most && highest < most && elements < most ? "int" : "long long";
  // Places in the array and in the tile of the element `i` of the copy.
  const std::string from = !apart ? "i"
                                  : fmt::format("i / {0} * ({2}){1} + i % {0}", rows->width, rows->distance,
                                                index),
                    to = one || pad == 0 ? "i" : fmt::format("i / {0} * {1} + i % {0}", rows->width, width);
  const std::uint32_t threads = mapping_.threads();
  const TileCopy copy = copy_of(t, first.bytes, threads);
  declarations_ += fmt::format(
      "// {} of {} for a block: the numbers are those of this run's sizes.\n"
      "__shared__ {} {}[{}];\n"
      "const {} {}_first = {};\n",
      one ? fmt::format("{} elements", rows->width)
          : fmt::format("{} rows of {} elements", rows->count, rows->width),
      array, word, name, rows->count * width, index, array, where(t, index));
  // Some loads wait together. What no thread is to copy, and what lies beyond the array's ends, must not be
  // read: the last element of the copy, or of the array, is then.
  const std::string step = fmt::format("begin + k * {}", threads),
                    i = copy.ragged ? fmt::format("{0} < {1} ? {0} : {1} - 1", step, count) : step,
                    place =
                        inside ? "from" : fmt::format("from < 0 ? 0 : from < {0} ? from : {0} - 1", elements);
  declarations_ += fmt::format(
      "for (unsigned begin = thread_; begin < {0}; begin += {1}) {{\n"
      "{2} held[{3}];\n"
      "#pragma unroll\n"
      "for (unsigned k = 0; k < {3}; k++) {{\n"
      "const unsigned i = {4};\n"
      "const {5} from = {6}_first + ({5})({7});\n"
      "held[k] = ((const {2} *){6})[{8}];\n}}\n"
      "#pragma unroll\n"
      "for (unsigned k = 0; k < {3}; k++) {{\n"
      "const unsigned i = {9};\n"
      "{10}{11}[{12}] = held[k];\n}}\n}}\n",
      count, copy.at_once * threads, word, copy.at_once, i, index, array, from, place, step,
      copy.ragged ? fmt::format("if (i < {}) ", count) : std::string(), name, to);
  // Only a division wants 32 bits.
  declarations_ += fmt::format(
      "const auto {0}_at = [&](const auto *p) {{\n"
      "const {1} i = ({1})(p - (decltype(p)){0} - {0}_first);\n"
      "return ((decltype(p)){2})[{3}];\n}};\n",
      array, one ? "long long" : "unsigned", name,
      one ? "i" : fmt::format("i / {0} * {1} + i % {0}", rows->distance, width));
  for (const int a : t.accesses) {
    const Access& x = nest_.accesses[at(a)];
    const std::size_t begin = text_.offset(x.line, x.column);
    const auto end = end_of_element(text_, begin);
    if (begin < begin_ || begin >= end_ || !end || *end > end_)
      refuse_tile(nest_, t,
                  fmt::format("line {} does not read it as NAME[INDEX] in the nest's own text", x.line));
    if (std::ranges::find(reads_, begin, &TileRead::begin) == reads_.end())
      reads_.push_back(
          {begin, *end, fmt::format("{}_at(&{})", array, text_.text().substr(begin, *end - begin))});
  }
}

}  // namespace simtlab::models::loops
