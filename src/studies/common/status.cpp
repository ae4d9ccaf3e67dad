#include "studies/common/status.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "report/format.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

constexpr unsigned fewest_columns = 12;  // on a narrower screen nothing would be left of a row

std::mutex terminal_mutex;
bool line_open = false;                   // what was printed last has no end of line
std::atomic<unsigned> rows_on_screen{0};  // a signal handler reads it
static_assert(std::atomic<unsigned>::is_always_lock_free);

bool write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The cursor stands in the last row.
std::string to_first_row(unsigned rows) { return rows > 1 ? fmt::format("\r\x1b[{}A", rows - 1) : "\r"; }

void take_away() {
  const unsigned rows = rows_on_screen.exchange(0);
  if (rows > 0) write_whole(STDERR_FILENO, to_first_row(rows) + "\x1b[J");
}

bool in_background() {
  const pid_t front = ::tcgetpgrp(STDERR_FILENO);  // -1: it is not the terminal of our session
  return front > 0 && front != ::getpgrp();
}

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  const unsigned long value = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  return value > 0 && value < 10000 ? static_cast<unsigned>(value) : otherwise;
}

}  // namespace

bool can_move_cursor() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

Screen screen() {
  Screen out;
  out.terminal = ::isatty(STDERR_FILENO) == 1;
  out.overwritable = out.terminal && can_move_cursor();
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  out.columns = known && size.ws_col > 0 ? size.ws_col : from_environment("COLUMNS", 80);
  out.rows = known && size.ws_row > 0 ? size.ws_row : from_environment("LINES", 24);
  return out;
}

void show_status(const std::vector<std::string>& rows) {
  const Screen on = screen();
  if (!on.overwritable || rows.empty()) return;
  leave_politely();
  const std::lock_guard lock(terminal_mutex);
  if (line_open || on.columns < fewest_columns || in_background()) {
    if (on.columns < fewest_columns) take_away();
    return;
  }
  // A screen of one row has no room for what the user types; rows that left it could not be taken back.
  const std::size_t shown = std::min<std::size_t>(rows.size(), std::max(1u, on.rows - 1));
  const unsigned before = rows_on_screen.load();
  std::string text = before > 0 ? to_first_row(before) : "\r";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}{}\x1b[K", i == 0 ? "" : "\r\n", report::shortened(rows[i], row_columns(on)));
  if (before > shown) text += "\x1b[J";
  // First, so that a signal in between takes away what may be there.
  rows_on_screen = static_cast<unsigned>(std::max<std::size_t>(before, shown));
  write_whole(STDERR_FILENO, text);
  rows_on_screen = static_cast<unsigned>(shown);
}

void clear_status() {
  const std::lock_guard lock(terminal_mutex);
  take_away();
}

bool write_past_status(int descriptor, std::string_view text) {
  if (text.empty()) return true;
  // A pipe whose reader is slow holds nobody up
  if (::isatty(descriptor) != 1) return write_whole(descriptor, text);
  const std::lock_guard lock(terminal_mutex);
  take_away();
  line_open = text.back() != '\n';
  return write_whole(descriptor, text);
}

void clear_status_in_handler() noexcept {
  const unsigned rows = rows_on_screen.exchange(0);
  if (rows == 0) return;
  char text[16];
  std::size_t size = 0;
  text[size++] = '\r';
  if (rows > 1) {
    text[size++] = '\x1b', text[size++] = '[';
    const unsigned up = std::min(rows - 1, 999u);
    if (up >= 100) text[size++] = static_cast<char>('0' + up / 100);
    if (up >= 10) text[size++] = static_cast<char>('0' + up / 10 % 10);
    text[size++] = static_cast<char>('0' + up % 10);
    text[size++] = 'A';
  }
  text[size++] = '\x1b', text[size++] = '[', text[size++] = 'J';
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, size);
}

}  // namespace simtlab::studies
