// `#pragma unroll N` with an N that nvcc ignores and clang does not: no number of copies, or so many that
// they are no program any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::compile {

// What names stand for in sources, as far as that can be seen without compiling them: `#define N 8`,
// `constexpr int N = 8`, -DN=8.
class Numbers {
 public:
  // The texts must outlive it.
  explicit Numbers(std::vector<std::string_view> texts) : texts_(std::move(texts)) {}
  void define(const std::string& name, const std::string& value) { given_[name] = value; }

  // Of "8", "(0x10u)", "N". Too large ones are the largest. nullopt: nobody can tell, or it depends.
  std::optional<std::int64_t> value(std::string_view text) { return value(text, 0); }

 private:
  std::optional<std::int64_t> value(std::string_view text, unsigned depth);
  std::optional<std::int64_t> of_name(std::string_view name, unsigned depth);

  std::vector<std::string_view> texts_;
  std::map<std::string, std::string, std::less<>> given_;
  std::map<std::string, std::optional<std::int64_t>, std::less<>> known_;
};

struct Unrolling {
  struct Ignored {
    std::size_t line = 0;
    std::string why;
  };
  std::vector<Ignored> ignored;
  bool counts = false;  // pragmas remain with more than a few copies, which nobody has counted in full
  bool many = false;    // and some have thousands of instructions
};

constexpr std::int64_t any_copies = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t few_copies = 16;  // of one loop: the compiler may take as long as it does

// Blanks pragmas that are to be ignored, so that every character behind them keeps its place.
// most: copies that a pragma may wish; if there is a limit, those of an unknown number are ignored, too.
Unrolling blank_unrolling(std::string& text, Numbers& numbers, std::int64_t most = any_copies);

}  // namespace simtlab::compile
