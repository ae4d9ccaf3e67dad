"""A strict checker of timelines: JSON of the Chrome trace format, as Perfetto's trace processor takes it.

What it insists upon, since Perfetto drops or misdraws what breaks it:
- one object with a list `traceEvents`; every event an object with a known phase; numbers finite, no duplicate members
- `X` slices: name, pid, tid, ts, dur >= 0; slices of one row (pid, tid) nest or follow each other, they never cross. Times are compared as they are
  written, in decimal: what nests then nests in the nanoseconds that Perfetto cuts ts and dur down to
- `b`/`e` asynchronous slices: a category, an id, each begun once and ended once, not before it began
- `B`/`E` pairs balance on their row; `C` counters: numbers in args, and their time never runs backwards within a counter
- `M` metadata: process_name and thread_name with a name, once a process or row; every row that has slices has a name
Usage as a program: chrome_trace.py FILE...
"""
import json
import math
import sys
from decimal import Decimal

PHASES = {"X", "B", "E", "b", "e", "n", "C", "M", "i", "I", "s", "t", "f"}


class Malformed(Exception):
    pass


def members(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise Malformed(f"a member occurs twice: {sorted(n for n in set(names) if names.count(n) > 1)}")
    return dict(pairs)


def refuse_constant(name):
    raise Malformed(f"{name} is no JSON number")


def parse(text):
    try:
        document = json.loads(text, object_pairs_hook=members, parse_constant=refuse_constant, parse_float=Decimal)
    except ValueError as error:
        raise Malformed(f"no JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        raise Malformed("no object with a list traceEvents")
    return document


def number(event, name, least=None):
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or not math.isfinite(float(value)):
        raise Malformed(f"{name} of {event} is no finite number")
    if least is not None and value < least:
        raise Malformed(f"{name} of {event} is below {least}")
    return value


def whole(event, name):
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise Malformed(f"{name} of {event} is no whole number from 0 to 2^31")
    return value


def text(event, name):
    if not isinstance(event.get(name), str) or not event[name]:
        raise Malformed(f"{name} of {event} is no text")
    return event[name]


class Checker:
    def __init__(self):
        self.slices, self.open, self.async_, self.counters = {}, {}, {}, {}
        self.processes, self.threads, self.counts = {}, {}, {}

    def event(self, e):
        if not isinstance(e, dict):
            raise Malformed(f"{e} is no event")
        phase = e.get("ph")
        if phase not in PHASES:
            raise Malformed(f"unknown phase {phase!r} in {e}")
        self.counts[phase] = self.counts.get(phase, 0) + 1
        text(e, "name")
        pid = whole(e, "pid")
        if "args" in e and not isinstance(e["args"], dict):
            raise Malformed(f"args of {e} is no object")
        if phase == "M":
            return self.metadata(e, pid)
        ts = number(e, "ts", 0)
        if phase == "C":
            return self.counter(e, pid, ts)
        row = (pid, whole(e, "tid"))
        if phase == "X":
            self.slices.setdefault(row, []).append((ts, ts + number(e, "dur", 0), e["name"]))
        elif phase == "B":
            self.open.setdefault(row, []).append((ts, e["name"]))
        elif phase == "E":
            stack = self.open.get(row)
            if not stack or stack[-1][0] > ts:
                raise Malformed(f"{e} ends what was not begun")
            stack.pop()
        elif phase in "be":
            self.asynchronous(e, phase, ts)

    def metadata(self, e, pid):
        if e["name"] not in (
            "process_name",
            "thread_name",
            "process_sort_index",
            "thread_sort_index",
            "process_labels",
        ):
            raise Malformed(f"unknown metadata {e}")
        if not e["name"].endswith("_name"):
            return
        name = text(e.get("args", {}), "name")
        key, names = ((pid, whole(e, "tid")), self.threads) if e["name"] == "thread_name" else (pid, self.processes)
        if key in names:
            raise Malformed(f"{e} names what was named {names[key]!r}")
        names[key] = name

    def counter(self, e, pid, ts):
        args = e.get("args")
        if not args:
            raise Malformed(f"the counter {e} counts nothing")
        for name in args:
            number(args, name)
        key = (pid, e["name"])
        if ts < self.counters.get(key, 0):
            raise Malformed(f"the counter {e['name']} goes back in time")
        self.counters[key] = ts

    def asynchronous(self, e, phase, ts):
        if not isinstance(e.get("id"), (int, str)):
            raise Malformed(f"{e} has no id")
        key = (text(e, "cat"), e["id"], e["name"])
        if phase == "b":
            if key in self.async_:
                raise Malformed(f"{e} begins what runs already")
            self.async_[key] = ts
        else:
            if key not in self.async_ or self.async_[key] > ts:
                raise Malformed(f"{e} ends what was not begun")
            del self.async_[key]

    def finish(self):
        for row, slices in self.slices.items():
            if row not in self.threads or row[0] not in self.processes:
                raise Malformed(f"row {row} has slices and no name")
            enclosing = []
            for begin, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
                while enclosing and enclosing[-1][1] <= begin:
                    enclosing.pop()
                if enclosing and end > enclosing[-1][1]:
                    raise Malformed(
                        f"{name} ({begin} to {end} us) crosses {enclosing[-1][2]} ({enclosing[-1][0]} to {enclosing[-1][1]} us) on row {row}"
                    )
                enclosing.append((begin, end, name))
        for row, stack in self.open.items():
            if stack:
                raise Malformed(f"{stack[-1][1]} on row {row} never ends")
        if self.async_:
            raise Malformed(f"{next(iter(self.async_))} never ends")


def check(content):
    """Throws Malformed, or returns the number of events by phase."""
    document = parse(content)
    checker = Checker()
    for event in document["traceEvents"]:
        checker.event(event)
    checker.finish()
    return checker.counts


if __name__ == "__main__":
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as opened:
            print(file, check(opened.read()))
