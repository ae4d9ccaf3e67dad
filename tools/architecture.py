#!/usr/bin/env python3
"""Keeps the page on the architecture true: its tables are made from tests/layers.py and from src/*/README.md.

    architecture.py          writes the tables into docs/concepts/architecture.md
    architecture.py --check  exit status 6 if they differ, or if a README lacks something or names a file that is not there

Python 3.11 and the standard library.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "concepts" / "architecture.md"
sys.path.insert(0, str(ROOT / "tests"))
from layers import LAYERS  # noqa: E402

PARTS = ("Start reading", "Add", "It must not know")


class Readme:
    """A folder's README.md: title, first paragraph, and its three points."""

    def __init__(self, folder):
        self.folder = folder
        text = (ROOT / "src" / folder / "README.md").read_text(encoding="utf-8")
        self.title = re.match(rf"# {folder}: (.+)\n", text)
        self.what = " ".join(text.split("\n\n")[1].split())
        points = re.findall(r"^- \*\*(.+?)\*\*: (.+(?:\n  .+)*)", text, re.M)
        self.points = {name: " ".join(point.split()) for name, point in points}
        self.names = re.findall(r"`([\w./*]+\.\w+|[\w.]+/[\w./]*)`", text)

    def problems(self):
        where = f"src/{self.folder}/README.md"
        if not self.title:
            yield f"{where}: its first line is not '# {self.folder}: what it is'"
        for part in PARTS:
            if part not in self.points:
                yield f"{where}: it has no point '- **{part}**: ...'"
        for name in self.names:
            if "NAME" in name:
                name = str(pathlib.PurePosixPath(name).parent)
            if not any(list(ROOT.glob(f"{base}{name}")) for base in (f"src/{self.folder}/", "src/", "")):
                yield f"{where}: it names {name}, which is not there"


def tables():
    readmes = {}
    lines = ["| line | folder | what |", "|---|---|---|"]
    for number, folders in enumerate(LAYERS, 1):
        for folder in folders:
            parent = folder.split("/")[0]
            if parent not in readmes and (ROOT / "src" / parent / "README.md").exists():
                readmes[parent] = Readme(parent)
            if not (ROOT / "src" / folder / "README.md").exists():
                lines.append(f"| {number} | {folder} | part of {folder.rpartition('/')[0]} |")
                continue
            readmes[folder] = readme = readmes.get(folder) or Readme(folder)
            lines.append(f"| {number} | [{folder}](../../src/{folder}/README.md) | {readme.what} |")
    lines += ["", "### Where a new thing goes", "", "| folder | what is added there, and where |", "|---|---|"]
    lines += [f"| {folder} | {readme.points.get('Add', '')} |" for folder, readme in readmes.items()]
    return "\n".join(lines), readmes


def main():
    table, readmes = tables()
    old = PAGE.read_text(encoding="utf-8")
    region = re.compile(r"(<!-- made by tools/architecture.py -->\n).*?(<!-- end -->)", re.S)
    if not region.search(old):
        print(
            f"{PAGE.relative_to(ROOT)}: the lines '<!-- made by tools/architecture.py -->' and '<!-- end -->' are missing"
        )
        return 6
    new = region.sub(lambda match: match[1] + table + "\n" + match[2], old)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    found = [problem for readme in readmes.values() for problem in readme.problems()]
    layers = {folder.split("/")[0] for folders in LAYERS for folder in folders}
    found += [
        f"src/{f.name}: it is no layer of tests/layers.py" for f in (ROOT / "src").iterdir() if f.name not in layers
    ]
    if new != old:
        found.append(f"{PAGE.relative_to(ROOT)} differs from the READMEs: run tools/architecture.py")
    print("\n".join(found), end="\n" if found else "")
    return 6 if found else 0


if __name__ == "__main__":
    sys.exit(main())
