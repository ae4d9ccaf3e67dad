#include "compile/rewritten.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "base/files.h"
#include "compile/build_cache.h"
#include "compile/launch_syntax.h"
#include "compile/source_text.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t largest_file = std::uintmax_t{16} << 20;

constexpr std::size_t longest_alignment = 4096;  // between its parentheses
// As long as the word that it replaces.
constexpr std::string_view alignment = "alignas", named_alignment = "_Algnas";
static_assert(alignment.size() == named_alignment.size());

std::string read_small(const fs::path& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > largest_file || ec) return {};
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> quoted_includes(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; (i = text.find('#', i)) != std::string::npos; ++i) {
    std::size_t j = skip_blanks(text, i + 1);
    if (text.compare(j, 7, "include") != 0) continue;
    j = skip_blanks(text, j + 7);
    if (j >= text.size() || text[j] != '"') continue;
    const std::size_t end = text.find_first_of("\"\n", j + 1);
    if (end != std::string::npos && text[end] == '"') names.push_back(text.substr(j + 1, end - j - 1));
  }
  return names;
}

std::vector<RewrittenFile> reached(const fs::path& source, const std::vector<fs::path>& folders) {
  std::vector<RewrittenFile> out;
  std::set<fs::path> seen;
  std::vector<fs::path> todo{fs::absolute(source).lexically_normal()};
  while (!todo.empty()) {
    const fs::path file = todo.back();
    todo.pop_back();
    if (!seen.insert(file).second) continue;
    std::string text = read_small(file);
    for (const std::string& name : quoted_includes(text)) {
      std::error_code ec;
      if (const fs::path beside = file.parent_path() / name; fs::exists(beside, ec)) {
        todo.push_back(beside.lexically_normal());
        continue;
      }
      for (const fs::path& folder : folders)
        if (const fs::path found = folder / name; fs::exists(found, ec)) {
          todo.push_back(fs::absolute(found).lexically_normal());
          break;
        }
    }
    out.push_back({file, std::move(text)});
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string q = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') q += '\\';
    q += c;
  }
  return q + "\"";
}

// Whether an alignment may be named where this stands before it. `)`: of another alignment.
bool comes_before_alignment(std::string_view token, bool named_one) {
  static constexpr std::string_view memories[] = {"__shared__", "__device__", "__constant__", "__managed__"};
  return std::ranges::find(memories, token) != std::end(memories) || (token == ")" && named_one);
}

}  // namespace

bool name_alignments(std::string& text) {
  bool changed = false;
  std::size_t named_until = 0;  // behind the last one that was named
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t behind = skip_literal(text, i); behind != i) {
      i = behind;
      continue;
    }
    if (text[i] != alignment.front() || word_at(text, i) != alignment) {
      ++i;
      continue;
    }
    const std::size_t before = text.find_last_not_of(" \t\r\n", i - 1);
    const bool adjoins = i > 0 && named_until > 0 && before + 1 == named_until;
    if (i > 0 && comes_before_alignment(token_before(text, i), adjoins)) {
      text.replace(i, alignment.size(), named_alignment);
      changed = true;
      int depth = 0;
      std::size_t end = skip_space(text, i + alignment.size());
      const std::size_t last = std::min(text.size(), end + longest_alignment);
      do {
        if (end < last && text[end] == '(') ++depth;
        if (end < last && text[end] == ')') --depth;
        ++end;
      } while (end < last && depth > 0);
      named_until = end;
    }
    i += alignment.size();
  }
  return changed;
}

void name_as_written(std::string& messages) {
  for (std::size_t at = 0; (at = messages.find(named_alignment, at)) != messages.npos; ++at)
    messages.replace(at, alignment.size(), alignment);
}

RewriteWish wish_of(const std::vector<std::string>& options) {
  RewriteWish out;
  for (std::size_t i = 0; i + 1 < options.size(); ++i) {
    const std::string& value = options[i + 1];
    if (options[i] == "-I" || options[i] == "-iquote") out.folders.emplace_back(value);
    if (options[i] != "-D") continue;
    const std::size_t equals = value.find('=');
    out.macros.emplace_back(value.substr(0, equals), equals == value.npos ? "1" : value.substr(equals + 1));
  }
  return out;
}

Rewritten rewrite(const fs::path& source, const RewriteWish& wish) {
  const std::vector<RewrittenFile> all = reached(source, wish.folders);
  std::vector<std::string_view> texts;
  for (const RewrittenFile& f : all) texts.push_back(f.text);
  Numbers numbers(texts);
  for (const auto& [name, value] : wish.macros) numbers.define(name, value);
  Rewritten out;
  for (const RewrittenFile& f : all) {
    RewrittenFile file = f;
    const Unrolling unrolling = blank_unrolling(file.text, numbers, wish.most_copies);
    for (const Unrolling::Ignored& i : unrolling.ignored)
      out.warnings.push_back(fmt::format("{}:{}: warning: #pragma unroll is ignored: {}\n",
                                         file.original.string(), i.line, i.why));
    out.counts |= unrolling.counts;
    out.many |= unrolling.many;
    bool changed = !unrolling.ignored.empty();
    if (wish.cuda) {
      changed |= join_launch_brackets(file.text);
      changed |= name_alignments(file.text);
    }
    if (changed) out.files.push_back(std::move(file));
  }
  return out;
}

std::vector<std::string> device_options(const Rewritten& rewritten) {
  // This pass looks at each pair of a block's loads and stores: at 4000 copies of one load and one store it
  // took nine of twelve seconds. What makes machine code of the PTX merges loads and stores itself.
  if (rewritten.many) return {"-mllvm", "-disable-nvptx-load-store-vectorizer"};
  return {};
}

std::vector<std::string> overlay_options(const Rewritten& rewritten, const ScratchFolder& folder) {
  if (rewritten.files.empty()) return {};
  std::string yaml =
      "{\"version\": 0, \"case-sensitive\": \"true\", \"use-external-names\": \"false\", \"roots\": [";
  for (std::size_t i = 0; i < rewritten.files.size(); ++i) {
    const fs::path copy = folder / fmt::format("rewritten-{}.txt", i);
    write_file_atomically(copy, rewritten.files[i].text);
    yaml += fmt::format("{}\n{{\"type\": \"file\", \"name\": {}, \"external-contents\": {}}}", i ? "," : "",
                        quoted(rewritten.files[i].original.string()), quoted(copy.string()));
  }
  const fs::path file = folder / "overlay.yaml";
  write_file_atomically(file, yaml + "\n]}\n");
  return {fmt::format("-D{}(...)=_Alignas(__VA_ARGS__)", named_alignment), "-ivfsoverlay", file.string()};
}

}  // namespace simtlab::compile
