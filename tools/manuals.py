#!/usr/bin/env python3
"""Writes the man pages and completions that the tool prints, as they are installed.
usage: manuals.py SIMTLAB FOLDER   (FOLDER/share/man/man1/*.1, FOLDER/share/bash-completion/..., and FOLDER/done)"""
import pathlib
import re
import subprocess
import sys

COMPLETIONS = {
    "bash": "bash-completion/completions/simtlab",
    "zsh": "zsh/vendor-completions/_simtlab",
    "fish": "fish/vendor_completions.d/simtlab.fish",
}


def printed(simtlab, *words):
    return subprocess.run([simtlab, *words], check=True, stdout=subprocess.PIPE).stdout


def commands(simtlab):
    text = printed(simtlab, "--help").decode()
    return re.findall(r"^  ([a-z]+) {2,}\S", text[text.index("Subcommands:") :], re.M)


def main():
    simtlab, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    found = commands(simtlab)
    if "run" not in found:
        sys.exit(f"{simtlab} --help names no command 'run', only {found}")
    pages = {"simtlab.1": printed(simtlab, "man")}
    pages.update({f"simtlab-{name}.1": printed(simtlab, "man", name) for name in found})
    for name, text in pages.items():
        path = folder / "share/man/man1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    for shell, name in COMPLETIONS.items():
        path = folder / "share" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(printed(simtlab, "completion", shell))
    (folder / "done").touch()


if __name__ == "__main__":
    main()
