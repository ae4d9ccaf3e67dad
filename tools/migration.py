#!/usr/bin/env python3
"""Writes the tables of docs/guide/migration.md that follow from the registry of metrics: what other tools call them.
usage: migration.py SIMTLAB PAGE   (rewrites the part of the page between the two marks)"""
import pathlib
import re
import subprocess
import sys

TOOLS = {"gpgpu-sim": "GPGPU-Sim and Accel-Sim", "nvprof": "nvprof", "ncu": "Nsight Compute"}
BEGIN, END = "<!-- tables: tools/migration.py -->\n", "<!-- end of the tables -->\n"


def metrics(simtlab):
    """[(name, unit, {tool: its name})] of the registry, in its order."""
    page = subprocess.run(
        [simtlab, "list", "stats", "--markdown"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    out = []
    for line in page.splitlines():
        if not line.startswith("| `"):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        aliases = dict(part.split(": ", 1) for part in cells[5].split("; ")) if cells[5] else {}
        out.append((cells[0].strip("`"), cells[1], aliases))
    return out


def tables(simtlab):
    known = metrics(simtlab)
    out = BEGIN
    for tool, title in TOOLS.items():
        rows = sorted((aliases[tool], name, unit) for name, unit, aliases in known if tool in aliases)
        out += f"\n### {title}\n\n| {title} | simtlab | unit |\n|---|---|---|\n"
        out += "".join(f"| `{theirs}` | `{ours}` | {unit} |\n" for theirs, ours, unit in rows)
    return out + "\n" + END


def main():
    simtlab, page = sys.argv[1], pathlib.Path(sys.argv[2])
    text = page.read_text()
    page.write_text(text[: text.index(BEGIN)] + tables(simtlab) + text[text.index(END) + len(END) :])


if __name__ == "__main__":
    main()
