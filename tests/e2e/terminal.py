"""A pseudo terminal with simtlab in it, and what a user sees on its screen.

Nothing here waits for a time: until() waits for what is to appear, and fails if it does not.
"""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

from harness import SIMTLAB

PATIENCE = 60  # seconds until a wait has failed, however slow the machine


class Screen:
    """As much of a terminal as simtlab uses: what stands where after all that was written."""

    PART = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)|(\x1b)")

    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column = [""], 0, 0
        self.wrapped = False  # a line that was too long went on in the next one
        self.above = False  # the cursor was to go above the screen

    def feed(self, text):
        for match in self.PART.finditer(text):
            number, command, back, down, plain, broken = match.groups()
            if plain:
                for letter in plain:
                    self.put(letter)
            elif back:
                self.column = 0
            elif down:
                self.next_row()
            elif broken:
                raise AssertionError(
                    f"an escape sequence that no terminal knows: {text[match.start():match.start() + 20]!r}"
                )
            else:
                self.control(number, command)

    def put(self, letter):
        if self.column == self.columns:
            self.wrapped = True
            self.column = 0
            self.next_row()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
        self.column += 1

    def next_row(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")

    def control(self, number, command):
        if command == "K":
            self.lines[self.row] = self.lines[self.row][: self.column]
        elif command == "J" and number in ("", "0"):
            self.lines[self.row] = self.lines[self.row][: self.column]
            del self.lines[self.row + 1 :]
        elif command == "J":
            self.lines, self.row = [""] * (self.row + 1), self.row
        elif command == "A":
            up = int(number or 1)
            # A terminal can't go back to what has left the screen.
            top = max(0, len(self.lines) - self.rows)
            self.above = self.above or self.row - up < top
            self.row = max(top, self.row - up)
        elif command == "H":
            self.row = self.column = 0
        elif command not in "mhl":
            raise AssertionError(f"a command of the terminal that simtlab should not use: ESC [ {number} {command}")

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")


class Session:
    """A process on a terminal of its own, which is its controlling one: Ctrl-C comes from the keyboard.

    streams: which of "0", "1", "2" are the terminal; of the others 0 is empty, and 1 and 2 are pipes: `piped` has what came through them when the process has ended.
    """

    def __init__(self, case, args, streams="012", columns=80, rows=24, env=None, program=SIMTLAB):
        try:
            self.ours, theirs = os.openpty()
        except OSError as reason:  # a bare chroot or container without /dev/pts
            raise unittest.SkipTest(f"no pseudo terminal: {reason}")
        self.case, self.bytes, self.raw = case, b"", ""
        self.columns, self.rows = columns, rows
        self.resize(columns, rows)
        end = lambda n, other: theirs if str(n) in streams else other
        self.process = subprocess.Popen(
            [program, *map(str, args)],
            cwd=case.folder,
            env=case.environment({"TERM": "xterm", **(env or {})}),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
            pass_fds=[theirs],
            stdin=end(0, subprocess.DEVNULL),
            stdout=end(1, subprocess.PIPE),
            stderr=end(2, subprocess.PIPE),
        )
        os.close(theirs)
        # Read as they come: a pipe takes 64 KiB, then who writes waits.
        self.pipes, self.received = [], {}
        for number, pipe in ((1, self.process.stdout), (2, self.process.stderr)):
            if pipe is not None:
                self.pipes.append(threading.Thread(target=self.drain, args=(number, pipe)))
                self.pipes[-1].start()
        case.addCleanup(self.close)

    def drain(self, number, pipe):
        self.received[number] = pipe.read()

    def piped(self, number):
        """All that came through stream 1 or 2, in bytes, when its last writer has gone."""
        for thread in self.pipes:
            thread.join(PATIENCE)
        return self.received[number]

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for thread in self.pipes:
            thread.join(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        if self.ours >= 0:
            os.close(self.ours)
            self.ours = -1

    def resize(self, columns, rows):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.columns, self.rows = columns, rows

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def read(self, seconds):
        """What comes within that time; False when nothing more can come."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.ours, 65536)
        except OSError:  # the last writer has gone
            return False
        self.bytes += piece
        self.raw = self.bytes.decode(errors="replace")
        return bool(piece)

    def until(self, pattern, of=0):
        """Waits until the text that came behind `of` matches; returns where the match ends."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = re.compile(pattern).search(self.raw, of)
            if found:
                return found.end()
            if time.monotonic() > deadline or not self.read(1):
                self.case.fail(f"{pattern!r} did not appear: {self.raw!r}")

    def end(self):
        """Waits for the end; returns the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.read(1):
            if time.monotonic() > deadline:
                self.case.fail(f"it did not end: {self.raw!r}")
        return self.process.wait(timeout=PATIENCE)

    def screen(self, text=None):
        screen = Screen(self.columns, self.rows)
        screen.feed(self.raw if text is None else text)
        return screen
