// The rows at the bottom of the terminal (stderr) that say how far a command is. They live beside everything
// else that is printed there: before any of it they are taken away, and they come back when the cursor stands
// at the beginning of a line again. The terminal is the process's only one, so what is on it is kept here,
// for the whole process; a command that serves somebody else's program never comes here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simtlab::studies {

bool can_move_cursor();  // whether TERM is of a terminal that can

struct Screen {
  bool terminal = false;      // stderr is one
  bool overwritable = false;  // and understands how to move the cursor (TERM is set and not dumb)
  unsigned columns = 80, rows = 24;
};
// As it is now: it may have been resized.
Screen screen();

// What a row may take: behind it the terminal shows the ^C of a Ctrl-C.
inline unsigned row_columns(const Screen& on) { return on.columns > 3 ? on.columns - 3 : 0; }

// Puts these in place of what is there, each cut to one row of the screen, as many as fit. Nothing happens
// while the process is in the background of its shell, or while a line that somebody else printed has not
// ended.
void show_status(const std::vector<std::string>& rows);
void clear_status();

// Writes all of it to a descriptor; if that is a terminal, where the rows were. False: errno says why not.
bool write_past_status(int descriptor, std::string_view text);

// Takes the rows away, from a signal handler.
void clear_status_in_handler() noexcept;

}  // namespace simtlab::studies
