#include "compile/launch_syntax.h"

#include <cstddef>

#include "compile/source_text.h"

namespace simtlab::compile {
namespace {

// If three times `c`, blanks allowed between, start at i: the position behind them, else 0.
std::size_t three(const std::string& s, std::size_t i, char c) {
  for (int k = 0; k < 3; ++k) {
    if (k > 0) i = skip_blanks(s, i);
    if (i >= s.size() || s[i] != c) return 0;
    ++i;
  }
  return i;
}

// `operator<< <T>` is a template's operator, not a launch.
bool follows_operator(const std::string& s, std::size_t i) {
  while (i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t')) --i;
  return i >= 8 && s.compare(i - 8, 8, "operator") == 0;
}

bool join(std::string& s, std::size_t begin, std::size_t end, char c) {
  if (end - begin == 3) return false;
  for (std::size_t i = begin; i < end; ++i) s[i] = i < begin + 3 ? c : ' ';
  return true;
}

}  // namespace

bool join_launch_brackets(std::string& s) {
  bool changed = false;
  bool open = false;
  int depth = 0;
  for (std::size_t i = 0; i < s.size();) {
    if (const std::size_t behind = skip_literal(s, i); behind != i) {
      i = behind;
      continue;
    }
    const char c = s[i];
    if (c == '<' && !open) {
      if (const std::size_t end = three(s, i, '<'); end != 0 && !follows_operator(s, i)) {
        changed |= join(s, i, end, '<');
        open = true;
        depth = 0;
        i = end;
        continue;
      }
    } else if (open && (c == '(' || c == '[' || c == '{')) {
      ++depth;
    } else if (open && (c == ')' || c == ']' || c == '}')) {
      --depth;
    } else if (open && c == '>' && depth <= 0) {
      if (const std::size_t end = three(s, i, '>')) {
        changed |= join(s, i, end, '>');
        open = false;
        i = end;
        continue;
      }
    }
    if (c == ';') open = false;  // not a launch after all
    ++i;
  }
  return changed;
}

}  // namespace simtlab::compile
