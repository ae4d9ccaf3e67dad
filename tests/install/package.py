#!/usr/bin/env python3
"""Makes the Debian packages and looks at what is in them: fields, files, owners, and that the unpacked tool runs.
usage: package.py BUILD_FOLDER SOURCE_FOLDER"""
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
MUST = [
    "usr/bin/simtlab",
    "usr/lib/libsimtlab.so",
    "usr/include/simtlab/simtlab.h",
    "usr/lib/cmake/simtlab/simtlabConfig.cmake",
    "usr/lib/simtlab/libcudart.so.12",
    "usr/share/simtlab/data/devices/h100.toml",
    "usr/share/man/man1/simtlab.1",
    "usr/share/doc/simtlab/copyright",
    "usr/share/doc/simtlab/CHANGELOG.md",
    "usr/share/doc/simtlab/CITATION.cff",
    "usr/share/doc/simtlab/examples/saxpy.ptx",
    "usr/share/bash-completion/completions/simtlab",
]
LIBRARIES = ["libc6", "libstdc++6", "libfmt9", "libsqlite3-0", "libzstd1", "zlib1g", "libxxhash0"]


def run(*words):
    return subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, text=True).stdout


def check(condition, what):
    if not condition:
        sys.exit(f"package.py: {what}")


def check_fields(package, version):
    depends = {d.split()[0] for d in run("dpkg-deb", "-f", package, "Depends").split(",")}
    check(set(LIBRARIES) <= depends, f"dependencies are missing: {set(LIBRARIES) - depends}")
    check(
        not [d for d in depends if "llvm" in d or "python" in d or "simtlab" in d], f"it depends on too much: {depends}"
    )
    check(run("dpkg-deb", "-f", package, "Version").strip() == version, "another version than the tool's")
    check("clang-19" in run("dpkg-deb", "-f", package, "Recommends"), "clang is not recommended")
    check(len(run("dpkg-deb", "-f", package, "Description").splitlines()) > 3, "no description")


def check_files(package):
    names = set()
    for line in run("dpkg-deb", "-c", package).splitlines():
        mode, owner, _, _, _, name = line.split(maxsplit=5)
        name = name.split(" -> ")[0]
        names.add(name.removeprefix("./").rstrip("/"))
        check(owner == "root/root" and (mode[0] == "l" or mode[5] != "w" and mode[8] != "w"), f"owner or mode: {line}")
        check(name.startswith("./usr/") or name == "./", f"outside /usr: {line}")
    check(set(MUST) <= names, f"files are missing: {set(MUST) - names}")
    if list((BUILD / "python/simtlab").glob("_simtlab*.so")):
        check(
            any(re.match(r"usr/lib/python3/dist-packages/simtlab/_simtlab.*\.so", n) for n in names),
            "Python's module is missing",
        )
    stray = [n for n in names if re.search(r"__pycache__|\.o$|\.a$|gtest|mockcuda|/test_", n)]
    check(not stray, f"files that belong to nobody: {stray}")


def check_tool(package, folder, version):
    run("dpkg-deb", "-x", package, folder)
    tool = folder / "usr/bin/simtlab"
    examples = folder / "usr/share/doc/simtlab/examples"
    check(run(tool, "--version").split()[1] == version, "version")
    check(
        "gpu.time" in run(tool, "run", examples / "saxpy.ptx", "--launch", examples / "saxpy.toml", "--json"),
        "it does not simulate",
    )


def main():
    version = re.search(r"project\(simtlab VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    cited = re.search(r"^version: (\S+)$", (SOURCE / "CITATION.cff").read_text(), re.M)[1]
    check(cited == version, f"CITATION.cff is of version {cited}, the tool of {version}")
    with tempfile.TemporaryDirectory(prefix="simtlab-package-") as folder:
        folder = pathlib.Path(folder)
        # Not compressed: that takes longer than everything else.
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
        packages = {p.name.split("_")[0]: p for p in folder.glob("*.deb")}
        expected = {"simtlab", "simtlab-loops"} if (BUILD / "bin/simtlab-loops").exists() else {"simtlab"}
        check(set(packages) == expected, f"packages {sorted(packages)}, not {sorted(expected)}")
        check_fields(packages["simtlab"], version)
        check_files(packages["simtlab"])
        check_tool(packages["simtlab"], folder / "root", version)
        if "simtlab-loops" in packages:
            check(
                "libllvm19" in run("dpkg-deb", "-f", packages["simtlab-loops"], "Depends"),
                "simtlab-loops does not depend on LLVM",
            )
    print("package: PASS")


if __name__ == "__main__":
    main()
