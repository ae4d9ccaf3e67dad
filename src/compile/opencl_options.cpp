// Options of clBuildProgram, which are also those of `simtlab run kernel.cl`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/shown.h"
#include "compile/opencl.h"

namespace simtlab::compile {
namespace {

constexpr std::size_t kMostWords = 4096;

[[noreturn]] void refuse(const std::string& option, const std::string& what, const std::string& hint = {}) {
  throw Error(ExitCode::usage, "opencl-option",
              fmt::format("OpenCL build option {}: {}", shown(option), what),
              hint.empty() ? "docs/guide/opencl.md lists the options" : hint);
}

// What clang takes as it is.
constexpr std::string_view passed_on[] = {"-w",
                                          "-Werror",
                                          "-cl-single-precision-constant",
                                          "-cl-denorms-are-zero",
                                          "-cl-fp32-correctly-rounded-divide-sqrt",
                                          "-cl-mad-enable",
                                          "-cl-no-signed-zeros",
                                          "-cl-unsafe-math-optimizations",
                                          "-cl-finite-math-only",
                                          "-cl-fast-relaxed-math"};
// What changes nothing here.
constexpr std::string_view without_effect[] = {"-cl-strict-aliasing", "-cl-uniform-work-group-size",
                                               "-cl-nv-verbose",      "-cl-nv-arch",
                                               "-cl-no-subgroup-ifp", "-g"};

int whole(const std::string& option, std::string_view digits, int most, int least = 1) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || value < least ||
      value > most)
    refuse(option, fmt::format("'{}' is not a number of {} to {}", shown(digits), least, most));
  return value;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  OpenClOptions parse() {
    if (words_.size() > kMostWords) refuse(words_.front(), "too many options");
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word.starts_with("-cl-std=")) {
        language(word);
      } else if (word.starts_with("-unroll=")) {
        unroll(word);
      } else if (const auto count = value_of(word, "-cl-nv-maxrregcount")) {
        out_.max_registers = whole(word, *count, 65535);
      } else if (word == "-cl-kernel-arg-info") {
        out_.argument_info = true;
      } else if (word == "-cl-opt-disable") {
        out_.level = 0;
      } else if (word == "-O0" || word == "-O1" || word == "-O2" || word == "-O3") {
        out_.level = word[2] - '0';
      } else if (const auto level = value_of(word, "-cl-nv-opt-level")) {
        out_.level = whole(word, *level, 3, 0);
      } else if (std::ranges::find(passed_on, word) != std::end(passed_on)) {
        out_.clang.push_back(word);
      } else if (!ignored(word) && !preprocessor(word)) {
        refuse(word, "not known");
      }
    }
    out_.clang.insert(out_.clang.begin(), "-cl-std=CL1.2");
    return std::move(out_);
  }

 private:
  // -NAME=VALUE or -NAME VALUE.
  std::optional<std::string> value_of(const std::string& word, std::string_view name) {
    if (word == name) {
      if (next_ == words_.size()) refuse(word, "its value is missing");
      return words_[next_++];
    }
    if (word.starts_with(name) && word[name.size()] == '=') return word.substr(name.size() + 1);
    return std::nullopt;
  }

  // Older ones are compiled as 1.2, which contains them, and are only told that they are older: as vendors'
  // compilers do, which take `static` in OpenCL C 1.1, too.
  void language(const std::string& word) {
    const std::string version = word.substr(8);
    if (version == "CL1.2") return;
    if (version != "CL1.0" && version != "CL1.1")
      throw Error(ExitCode::unsupported, "opencl-version",
                  fmt::format("OpenCL C {}: simtlab compiles OpenCL C 1.0 to 1.2", shown(version)),
                  "leave out -cl-std, or write -cl-std=CL1.2, if the kernels need nothing newer");
    out_.clang.insert(out_.clang.end(),
                      {"-Wno-builtin-macro-redefined", "-U__OPENCL_C_VERSION__",
                       version == "CL1.0" ? "-D__OPENCL_C_VERSION__=100" : "-D__OPENCL_C_VERSION__=110"});
  }

  void unroll(const std::string& word) {
    const int factor = whole(word, std::string_view(word).substr(8), 1024);
    out_.unrolls = true;
    if (factor == 1) {
      out_.clang.push_back("-fno-unroll-loops");
      return;
    }
    for (const std::string& o : {fmt::format("-unroll-count={}", factor),
                                 std::string("-unroll-allow-remainder"), std::string("-unroll-runtime")})
      out_.clang.insert(out_.clang.end(), {"-mllvm", o});
  }

  bool ignored(const std::string& word) {
    for (const std::string_view name : without_effect) {
      if (word != name && !(word.starts_with(name) && word[name.size()] == '=')) continue;
      if (word != "-g") out_.notes.push_back(fmt::format("{} has no effect", shown(word)));
      return true;
    }
    return false;
  }

  // -D and -I with their value in the same word or in the next one.
  bool preprocessor(const std::string& word) {
    for (const std::string name : {"-D", "-U", "-I", "-include"}) {
      if (!word.starts_with(name)) continue;
      std::string value = word.substr(name.size());
      if (value.empty()) {
        if (next_ == words_.size()) refuse(word, "its value is missing");
        value = words_[next_++];
      } else if (name == "-include") {
        continue;
      }
      out_.clang.insert(out_.clang.end(), {name, value});
      return true;
    }
    return false;
  }

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  OpenClOptions out_;
};

}  // namespace

OpenClOptions parse_opencl_options(const std::vector<std::string>& options) {
  return Parser(options).parse();
}

std::vector<std::string> split_opencl_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // of a word: "" is one
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != '\0') refuse(std::string(text.substr(0, 200)), "a quote is not closed");
  if (inside) words.push_back(std::move(word));
  return words;
}

}  // namespace simtlab::compile
