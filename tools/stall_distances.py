#!/usr/bin/env python3
"""How many cycles the vendor's compiler leaves between two instructions of a warp, by what they are.

Each PTX file is assembled by ptxas; `simtlab disasm` reads the cubin. Stall counts say in which cycle an instruction of
straight code may issue at the earliest. Two tables come of it:

  results  a result of fixed latency and the instruction that reads it: the smallest distances. What no code ever goes
           below is the latency that the compiler counts with. Results that a scoreboard guards are left out.
  pairs    an instruction and the next one, which does not depend on it: the smallest distances. Above 1 both need the
           same unit, which takes so long for the first of them.

Kinds of instructions are those of src/machine/latency.h; other names of --pairs are mnemonics. A distance counts if it
occurs at least as often as --least says: a few come of code whose flow this tool does not follow.

usage: stall_distances.py [--simtlab PATH] --ptxas PATH... [--arch sm_80,...] [--pairs] [--least N] [--markdown]
                          PTX|FOLDER...
Exit codes: 0 done, 2 wrong arguments, 7 a tool is missing.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import sys
import tempfile

from assembler_compare import ptx_files, run, table, target_text, tool

ROOT = pathlib.Path(__file__).resolve().parent.parent

KINDS = {
    "fma": {"FFMA", "FADD", "FMUL", "IMAD", "IDP", "XMAD", "FADD32I", "FMUL32I", "FFMA32I"},
    "half": {"HFMA2", "HADD2", "HMUL2", "HSET2", "HSETP2", "HMNMX2"},
    "fp64": {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"},
    "uniform_move": {"ULDC", "UMOV", "VOTEU"},
    "memory": set("LD LDG LDS LDL LDSM ST STG STS STL ATOM ATOMG ATOMS RED REDG SHFL BAR CCTL LDGSTS".split()),
    "variable": set(
        "MUFU POPC FLO BREV F2F F2I I2F FRND LDC S2R MATCH QSPC FCHK B2R BMOV R2UR S2UR I2I TEX TLD REDUX".split()
    ),
    "branch": {"BRA", "BRX", "BRXU", "JMP", "CALL", "RET", "WARPSYNC", "BREAK"},
}
OF_LATE_RESULTS = KINDS["memory"] | KINDS["variable"]
WITHOUT_RESULT = set(
    "ST STG STS STL RED REDG BAR BRA EXIT BSSY BSYNC CCTL NOP WARPSYNC RET CALL DEPBAR MEMBAR BREAK YIELD".split()
)
PREDICATES_TOO = set("ISETP FSETP DSETP PSETP IADD3 PLOP3 HSETP2 LEA LOP3 IMAD UISETP UIADD3 UPLOP3".split())
PAIRED = ("FFMA", "IMAD", "IMAD.WIDE", "IADD3", "LOP3", "ISETP", "VIADD", "HFMA2", "DFMA", "DMUL", "MUFU")
REGISTER = re.compile(r"(?<![A-Za-z_0-9])(U?[RP])(\d+)(\.64)?(?!\d)")
GUARD = re.compile(r"@!?(U?P[T\d]) ")


def kind(mnemonic, opcode):
    if mnemonic == "IMAD" and (".WIDE" in opcode or ".HI" in opcode):
        return "wide"
    if mnemonic == "HFMA2" and ".MMA" in opcode:
        return "half_pair"
    for name, members in KINDS.items():
        if mnemonic in members:
            return name
    return "uniform" if re.match(r"U[A-Z]", mnemonic) else mnemonic if mnemonic == "VIADD" else "alu"


def registers(text, wide=False):
    """(file, number) of each register that the operand names; of a pair both."""
    for file, number, pair in REGISTER.findall(text):
        yield file, int(number)
        if file.endswith("R") and (pair or wide):
            yield file, int(number) + 1


class Code:
    """An instruction: its kind, and the registers that it writes and reads."""

    def __init__(self, listed):
        text = listed["text"]
        guard = GUARD.match(text)
        self.guard = list(registers(guard[1])) if guard else []
        body = text[guard.end() :] if guard else text
        opcode, _, operands = body.partition(" ")
        parts = operands.split(", ") if operands else []
        self.mnemonic = opcode.partition(".")[0]
        self.kind = kind(self.mnemonic, opcode)
        self.name = "IMAD.WIDE" if opcode.startswith("IMAD.WIDE") else self.mnemonic
        self.stall = listed["control"]["stall"]
        self.late = listed["control"]["write_barrier"] is not None or self.mnemonic in OF_LATE_RESULTS
        doubles = self.kind == "fp64"
        self.writes, first = [], 0
        if parts and self.mnemonic not in WITHOUT_RESULT:
            pair = self.name == "IMAD.WIDE" or (doubles and self.mnemonic != "DSETP")
            self.writes, first = list(registers(parts[0], pair)), 1
            while first < len(parts) and self.mnemonic in PREDICATES_TOO and re.fullmatch(r"U?P[T\d]", parts[first]):
                self.writes += registers(parts[first])
                first += 1
        self.reads = []
        for place, part in enumerate(parts[first:]):
            self.reads += registers(part, doubles or (self.name == "IMAD.WIDE" and place == 2))

    def ends_flow(self):
        return not self.guard and (self.kind == "branch" or self.mnemonic in ("EXIT", "BSYNC"))

    def source(self, place):
        """The kind of a result: of a wide product its lower and upper half."""
        if self.name != "IMAD.WIDE":
            return self.kind
        return "wide_low" if place == self.writes[0] else "wide_high"


class Distances:
    def __init__(self):
        self.results = collections.defaultdict(collections.Counter)
        self.pairs = collections.defaultdict(collections.Counter)

    def kernel(self, kernel):
        labels = {label["address"] for label in kernel["labels"]}
        written, now, before = {}, 0, None
        for listed in kernel["instructions"]:
            if listed["address"] in labels or not listed.get("text"):
                written, before = {}, None
            if not listed.get("text"):
                continue
            code = Code(listed)
            for place in code.reads:
                self.result(written, place, code.kind, now)
            for place in code.guard:
                self.result(written, place, "branch" if code.kind == "branch" else "guard", now)
            if before and before.name in PAIRED and code.name in PAIRED:
                if not set(before.writes) & {*code.reads, *code.guard, *code.writes}:
                    self.pairs[before.name, code.name][before.stall] += 1
            for place in code.writes:
                written.pop(place, None)
                if not code.late:
                    written[place] = (code.source(place), now)
            now += code.stall
            before = code
            if code.ends_flow():
                written, before = {}, None

    def result(self, written, place, reader, now):
        if place in written:
            writer, then = written[place]
            file = {"R": "register", "P": "predicate"}.get(place[0], "uniform")
            self.results[file, writer, reader][now - then] += 1


def cubin_kernels(simtlab, assemblers, file, architecture, folder):
    """Of the first assembler that takes the file; none if no one does."""
    text = target_text(file.read_text(encoding="utf-8", errors="replace"), architecture)
    path, cubin = pathlib.Path(folder) / "kernel.ptx", pathlib.Path(folder) / "kernel.cubin"
    for ptxas in assemblers:
        for version in (None, "8.8", "8.4"):
            as_version = re.sub(r"^(\s*\.version\s+)[\d.]+", rf"\g<1>{version}", text, flags=re.M)
            path.write_text(as_version if version else text)
            if run([ptxas, f"-arch={architecture}", str(path), "-o", str(cubin)]).returncode:
                continue
            said = run([simtlab, "disasm", str(cubin), "--json"])
            try:
                return [k for image in json.loads(said.stdout)["images"] for k in image["kernels"]]
            except (ValueError, KeyError):
                return []
    return []


def smallest(counts, least):
    """The smallest distance that occurs often enough, and how often."""
    for distance in sorted(counts):
        if counts[distance] >= least:
            return f"{distance} ({counts[distance]} of {sum(counts.values())})"
    return "-"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PTX|FOLDER")
    parser.add_argument("--simtlab", help="default: that of the build folder")
    parser.add_argument(
        "--ptxas", action="append", required=True, help="may be given twice: each knows other generations"
    )
    parser.add_argument("--arch", default="sm_80", help="with commas between: sm_75,sm_80")
    parser.add_argument("--pairs", action="store_true", help="the table of pairs instead of that of results")
    parser.add_argument("--least", type=int, default=5, metavar="N")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if not options.simtlab:
        built = sorted(ROOT.glob("build/*/bin/simtlab"), key=lambda p: p.stat().st_mtime)
        options.simtlab = str(built[-1]) if built else "simtlab"
    options.simtlab = tool(options.simtlab)
    options.ptxas = [tool(path) for path in options.ptxas]
    return options


def main():
    options = arguments()
    architectures = options.arch.split(",")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for architecture in architectures:
            distances = found[architecture] = Distances()
            for file, _ in ptx_files(options.paths):
                for kernel in cubin_kernels(options.simtlab, options.ptxas, file, architecture, folder):
                    distances.kernel(kernel)
    tables = [d.pairs if options.pairs else d.results for d in found.values()]
    keys = sorted({key for t in tables for key in t})
    head = ["first", "next"] if options.pairs else ["of", "writer", "reader"]
    lines = [[*key, *(smallest(t[key], options.least) for t in tables)] for key in keys]
    print(table([*head, *architectures], lines, options.markdown))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(130)
