// Command lines as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simtlab {

// A word as it is typed into a shell, safe to print: control characters and bytes that are no UTF-8 stand as
// $'\x1b', which bash, zsh and ksh read (POSIX since 2024).
std::string shell_quoted(std::string_view word);
std::string shell_words(const std::vector<std::string>& words);

// The same for scripts of any /bin/sh: every byte stands for itself within '...'.
std::string script_words(const std::vector<std::string>& words);

// The words of a text that shell_words() wrote.
std::vector<std::string> unquoted(std::string_view command_line);

// A path in a text that must be UTF-8 (JSON): as it is, or, if it is none, as $'...'. path_of() gives the
// path again.
std::string path_text(std::string_view path);
std::string path_of(std::string_view text);

}  // namespace simtlab
