"""What simtlab believes: commands that read run nothing, what is run again is the user's own, the cache is nobody else's (docs/reference/security.md)."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import unittest
import urllib.request

from harness import SAXPY_LAUNCH, SIMTLAB, Case, main, needs_clang
from test_view import Server

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
needs_root = unittest.skipUnless(IS_ROOT, "only root can become another user")
PROGRAM_CU = """
#include <cstdio>
__global__ void k(int* x) { atomicAdd(x, 1); }
int main() {
  int* x;
  cudaMalloc(&x, 4);
  k<<<4, 64>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Trap(Case):
    """A script, a plug-in and results that name them; whatever runs one of the two leaves a mark."""

    def setUp(self):
        super().setUp()
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "200", "--json=good.json")
        self.mark = self.folder / "MARK"
        self.script = self.file("trap.sh", f"#!/bin/sh\ntouch '{self.mark}'\n")
        self.script.chmod(0o755)

    def hostile(self, name="evil.json", **manifest):
        data = json.loads((self.folder / "good.json").read_text())
        data["manifest"].update(command=f"simtlab run --gpu v100 -- {self.script}", inputs=[])
        data["manifest"].update(manifest)
        return self.file(name, json.dumps(data)).name

    def plug_in(self):
        source = self.file(
            "trap.c",
            f'#include <stdio.h>\n__attribute__((constructor)) static void spring(void) {{ fclose(fopen("{self.mark}", "w")); }}\n',
        )
        library = self.folder / "trap.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def assert_nothing_ran(self, what):
        self.assertFalse(self.mark.exists(), f"{what} ran the trap")


class Reading(Trap):
    def variants(self):
        """Results that name the trap wherever a result names anything."""
        data = json.loads((self.folder / "good.json").read_text())
        trap = str(self.script)
        yield self.hostile("command.json")
        yield self.hostile("source.json", command=f"simtlab run {self.folder}/trap.cu --gpu v100")
        yield self.hostile(
            "shell.json",
            command=f"simtlab run x; {trap} `{trap}` $({trap}) | {trap}",
            device=f"$({trap})",
            host=f"`{trap}`",
        )
        if shutil.which("cc"):
            plug_in = f"plugin:{self.plug_in()}"
            device = self.file("evil.toml", f'inherits = "v100"\n[dram]\nmodel = "{plug_in}"\n')
            configuration = [
                c for c in data["manifest"]["configuration"] if c["key"] not in ("gpu", "dram.model", "dram")
            ]
            for key, value in (("gpu", str(device)), ("dram", plug_in), ("dram.model", plug_in)):
                configuration.append({"key": key, "value": value, "origin": "file", "source": ""})
            yield self.hostile(
                "plugin.json",
                configuration=configuration,
                device=str(device),
                command=f"simtlab run saxpy.ptx --dram {plug_in}",
            )

    # Of a file `r`, those that only read.
    READERS = (
        ["report"],
        ["report", "--all"],
        ["report", "--csv"],
        ["report", "--md"],
        ["report", "--html"],
        ["report", "--timeline"],
        ["report", "--sqlite=x.db"],
        ["report", "--json"],
        ["explain"],
        ["explain", "--json"],
        ["explain", "--kernel", "saxpy"],
    )

    def test_the_trap_works(self):
        self.simtlab("run", "--", self.script)
        self.assertTrue(self.mark.exists())
        self.mark.unlink()
        if shutil.which("cc"):
            self.simtlab("run", "saxpy.ptx", *SAXPY_LAUNCH, "--dram", f"plugin:{self.plug_in()}")
            self.assertTrue(self.mark.exists())

    def test_no_command_that_reads_results_runs_what_they_name(self):
        if shutil.which("cc"):  # nor what the project file does
            self.file("simtlab.toml", f'dram = "plugin:{self.plug_in()}"\n')
        for line in (["config", "show"], ["doctor"], ["list", "gpus"]):
            self.simtlab(*line)
            self.assert_nothing_ran(line)
        for file in self.variants():
            for command, *options in self.READERS:
                self.ok(command, file, *options)
                self.assert_nothing_ran([command, file, *options])
            for line in (
                ["compare", "good.json", file],
                ["compare", file, "good.json", "--json"],
                ["config", "diff", file, "v100"],
                ["config", "diff", "good.json", file],
                ["probe", "--compare", file, "good.json"],
                ["trace", "info", file],
                ["corun", "replay", file],
                ["corun", "profiles", "--profiles", file],
                ["predict", "--counts", file],
                ["probe", "--analyse", file],
                ["dram", "--check-commands", file, "--dram", "ddr4-3200"],
            ):
                self.simtlab(*line)
                self.assert_nothing_ran(line)

    def test_nor_do_folders_of_them_and_databases(self):
        folder = self.folder / "results"
        folder.mkdir()
        for file in self.variants():
            shutil.copy(self.folder / file, folder / file)
            shutil.copy(self.folder / file, folder / (file[:-5] + ".predict.json"))
        self.simtlab("validate", "predict", "--quick", "--results", folder)
        self.assert_nothing_ran("validate predict")
        self.ok("sweep", "--axis", "sm.count=1,2", "--db", "s.db", "--", "run", "saxpy.ptx", *SAXPY_LAUNCH)
        with sqlite3.connect(self.folder / "s.db") as db:
            evil = json.loads((self.folder / "command.json").read_text())["manifest"]
            db.execute("UPDATE study SET value = replace(value, 'saxpy.ptx', ?)", (str(self.script),))
            db.execute("UPDATE manifests SET manifest = ?", (json.dumps(evil),))
            db.execute(
                "UPDATE points SET host = ?, worker = ?, error = ?",
                (f"`{self.script}`", f"$({self.script})", str(self.script)),
            )
        for options in (
            [],
            ["--html=s.html"],
            ["--csv"],
            ["--json"],
            ["--md"],
            ["--timeline=t.json"],
            ["--point", "1"],
            ["--point", "1", "--html=p.html"],
        ):
            self.ok("report", "s.db", *options)
            self.assert_nothing_ran(["report", "s.db", *options])
        shutil.copy(self.folder / "s.db", folder / "s.db")
        server = Server(self.folder, "results")
        self.addCleanup(server.stop)
        page = server.get()[2]
        links = [part.split('"')[0] for part in page.split('href="')[1:] if part.startswith(("result/", "study/"))]
        self.assertGreater(len(links), 3)
        for link in links:
            self.assertEqual(server.get(link)[0], 200, link)
        self.assert_nothing_ran("view")

    def test_explain_says_what_it_did_not_do(self):
        text = self.ok("explain", "good.json").stdout
        self.assertIn("--rerun", text)
        self.assertIn("was not tried", " ".join(text.split()))
        self.assertNotIn("instead of", text)


class Again(Trap):
    """explain --rerun and rerun run the user's own file, and say it first."""

    BOTH = (["explain", "--rerun"], ["explain", "--try", "perfect-l1"], ["rerun"])

    def refused(self, file, says):
        for command, *options in self.BOTH:
            self.fails(7, command, file, *options, says=["[rerun-refused]", *says, "hint:"])
            self.assert_nothing_ran([command, file, *options])

    def test_a_program_that_is_not_among_the_inputs(self):
        self.refused(self.hostile(), ["is not among the inputs", "trap.sh"])
        self.file("trap.cu", PROGRAM_CU)
        self.refused(self.hostile(command="simtlab run trap.cu --gpu v100"), ["is not among the inputs", "trap.cu"])
        self.refused(
            self.hostile(command="simtlab run saxpy.ptx trap.cu", inputs=[{"path": "saxpy.ptx", "xxh64": "0"}]),
            ["is not among the inputs"],
        )

    def test_a_program_that_is_found_by_path(self):
        touch = shutil.which("touch")
        self.refused(
            self.hostile(command=f"simtlab run --gpu v100 -- touch {self.mark}"), ["is not among the inputs", touch]
        )

    def test_a_program_with_another_hash(self):
        file = self.hostile(inputs=[{"path": str(self.script), "xxh64": "0123456789abcdef"}])
        for command, *options in self.BOTH:
            self.fails(6, command, file, *options, says="[input-changed]")
            self.assert_nothing_ran(command)

    def test_a_file_that_others_may_write(self):
        (self.folder / "good.json").chmod(0o666)
        self.refused("good.json", ["others may write to it (mode 666)", "cp good.json mine.json"])
        shutil.copyfile(self.folder / "good.json", self.folder / "mine.json")
        (self.folder / "mine.json").chmod(0o644)
        self.ok("rerun", "mine.json")

    @needs_root
    def test_a_file_of_another_user(self):
        os.chown(self.folder / "good.json", NOBODY, NOBODY)
        self.refused("good.json", [f"it belongs to user {NOBODY}"])
        self.assertIn("saxpy takes", self.ok("explain", "good.json").stdout)

    def test_a_pipe(self):
        with open(self.folder / "good.json") as text:
            content = text.read()
        for command, *options in self.BOTH:
            result = self.simtlab(command, "/dev/stdin", *options, stdin=content)
            self.assertEqual(result.returncode, 7, result.stderr)
            self.assertIn("no plain file", result.stderr)

    def test_what_will_run_is_said_first(self):
        said = self.ok("rerun", "good.json").stderr
        self.assertRegex(said, r"note: running again once, about [0-9.]+ m?s, in .*: simtlab run saxpy.ptx ")
        self.assertEqual(self.ok("rerun", "good.json", "-q").stderr, "")
        said = self.ok("explain", "good.json", "--rerun").stderr
        self.assertRegex(said, r"note: running again (once|[23] times), about [0-9.]+ m?s( each)?, in ")
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=plain.json")
        self.assertRegex(
            self.ok("explain", "plain.json", "--rerun").stderr,
            r"note: running again up to 4 times, about [0-9.]+ m?s each, in ",
        )
        said = self.ok("explain", "plain.json", "--try", "perfect-l1", "--try", "alone")
        self.assertIn("note: running again 3 times, ", said.stderr)
        self.assertIn("What lifting a limit would gain", said.stdout)

    @needs_clang
    def test_ones_own_programs_are_run(self):
        self.file("app.cu", PROGRAM_CU)
        self.ok("build", "app.cu", "-o", "app")
        for words in (["app.cu"], ["--", "./app"]):
            self.ok("run", "--gpu", "v100", "--json=app.json", *words)
            self.ok("rerun", "app.json")
            self.assertIn("k takes", self.ok("explain", "app.json", "--rerun").stdout.replace("k(int*)", "k"))


@needs_clang
class Cache(Case):
    """Programs in it are run: it is the user's own, or none."""

    def setUp(self):
        super().setUp()
        self.file("app.cu", PROGRAM_CU)

    def environment(self, extra=None):
        env = super().environment(extra)
        for name in [n for n, value in env.items() if value is None]:
            del env[name]
        return env

    def refused(self, says, code=7, **env):
        result = self.fails(
            code,
            "run",
            "app.cu",
            "--gpu",
            "v100",
            env={"SIMTLAB_CACHE": None, **env},
            says=["[cache-folder]", says, "SIMTLAB_CACHE"],
        )
        self.assertNotIn("[internal]", result.stderr)

    def test_a_new_one_is_the_users_alone(self):
        self.ok("run", "app.cu", "--gpu", "v100", env={"SIMTLAB_CACHE": None})
        self.assertEqual((self.folder / ".cache/simtlab").stat().st_mode & 0o777, 0o700)

    def test_open_to_others(self):
        cache = self.folder / "cache"
        cache.mkdir()
        cache.chmod(0o777)
        self.refused("is open to others (mode 777)", SIMTLAB_CACHE=str(cache))
        self.assertEqual(list(cache.iterdir()), [])

    def test_a_link(self):
        (self.folder / "real").mkdir(mode=0o700)
        (self.folder / "cache").symlink_to("real")
        self.refused("'cache' is a symbolic link", SIMTLAB_CACHE=str(self.folder / "cache"))

    def test_what_cannot_be_made(self):
        self.refused("cannot be made", code=1, HOME="/proc")
        self.file("file", "")
        self.refused("Not a directory", code=1, HOME=str(self.folder / "file"))

    @needs_root
    def test_a_folder_of_another_user(self):
        cache = self.folder / "cache"
        cache.mkdir(mode=0o700)
        os.chown(cache, NOBODY, NOBODY)
        self.refused(f"belongs to user {NOBODY}", SIMTLAB_CACHE=str(cache))

    @needs_root
    def test_an_entry_of_another_user_is_not_used(self):
        cache = self.folder / "cache"
        env = {"SIMTLAB_CACHE": str(cache)}
        self.ok("run", "app.cu", "--gpu", "v100", env=env)
        entries = sorted(path for path in cache.rglob("*") if path.is_file())
        self.assertIn("code", [path.parent.name for path in entries])
        for planted in entries:
            os.chown(planted, NOBODY, NOBODY)
        self.ok("run", "app.cu", "--gpu", "v100", env=env)
        for entry in entries:  # compiled again, and put in their place
            self.assertEqual(entry.stat().st_uid, 0, entry.name)

    @needs_root
    def test_machine_code_in_a_folder_of_another_user_is_not_used(self):
        cache = self.folder / "cache"
        env = {"SIMTLAB_CACHE": str(cache)}
        self.ok("run", "app.cu", "--gpu", "v100", env=env)
        (kept,) = (cache / "code").iterdir()
        os.chown(cache / "code", NOBODY, NOBODY)
        kept.write_bytes(b"not ours")
        self.ok("run", "app.cu", "--gpu", "v100", env=env)
        self.assertEqual(kept.read_bytes(), b"not ours")

    def as_nobody(self, words, **env):
        """As a user without a home, in a folder that everybody may read."""
        folder = self.folder
        for parent in [folder, *folder.parents]:
            if parent == pathlib.Path("/tmp") or parent == pathlib.Path("/"):
                break
            parent.chmod(0o755)
        env = {k: v for k, v in {**self.environment({"SIMTLAB_CACHE": None}), **env}.items() if v is not None}

        try:
            return subprocess.run(
                [SIMTLAB, *words],
                cwd=folder,
                env=env,
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=300,
            )
        except PermissionError:
            self.skipTest(f"{SIMTLAB} lies where other users have no access")

    @needs_root
    def test_home_of_another_user(self):
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        done = self.as_nobody(["run", "app.cu", "--gpu", "v100"], HOME=str(home))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("[cache-folder]", done.stderr)
        self.assertIn("SIMTLAB_CACHE", done.stderr)
        home.chmod(0o755)
        (home / ".cache").mkdir(mode=0o755)
        (home / ".cache/simtlab").mkdir(mode=0o777)
        done = self.as_nobody(["run", "app.cu", "--gpu", "v100"], HOME=str(home))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("belongs to user 0", done.stderr)

    @needs_root
    def test_without_a_home_a_planted_program_is_not_run(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        temporary.chmod(0o1777)
        cache = temporary / f"simtlab-{NOBODY}"
        words = ["run", "app.cu", "--gpu", "v100"]
        done = self.as_nobody(words, HOME=None, TMPDIR=str(temporary))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((cache.stat().st_uid, cache.stat().st_mode & 0o777), (NOBODY, 0o700))
        # What somebody else makes first, so as to put programs into it.
        for plant in ("foreign", "open", "link"):
            shutil.rmtree(cache, ignore_errors=True)
            if plant == "link":
                (self.folder / "elsewhere").mkdir(mode=0o777)
                cache.symlink_to(self.folder / "elsewhere")
            else:
                cache.mkdir()
                cache.chmod(0o777)
                if plant == "open":
                    os.chown(cache, NOBODY, NOBODY)
            done = self.as_nobody(words, HOME=None, TMPDIR=str(temporary))
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("[cache-folder]", done.stderr)


if __name__ == "__main__":
    main()
