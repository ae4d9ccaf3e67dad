"""The result file: every command's JSON keeps to the published schema, every form of it has the same numbers, and hostile files are refused."""
import json
import random
import signal
import sqlite3
import subprocess
import time
import unittest

try:
    import jsonschema
except ImportError:  # Debian: python3-jsonschema, of ./dev test
    jsonschema = None

from harness import SAXPY_LAUNCH, SIMTLAB, SOURCE, Case, main, needs_clang

SCHEMAS = SOURCE / "docs/reference/schema"
SORT = ["--generate", "random", "--requests", "2000", "--dram", "ddr4-3200"]


@unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed (./dev test installs it)")
class Schema(Case):
    def check(self, name, text):
        schema = json.loads((SCHEMAS / f"{name}-1.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))

    def test_the_schemas_are_schemas(self):
        files = sorted(SCHEMAS.glob("*.json"))
        self.assertGreater(len(files), 5)
        for file in files:
            jsonschema.Draft202012Validator.check_schema(json.loads(file.read_text()))

    def test_of_kernels(self):
        self.saxpy()
        run = ["saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100"]
        self.check("result", self.ok("run", *run, "--json").stdout)
        self.ok("run", *run, "--lines", "--series", "500", "--json=r.json")
        self.check("result", (self.folder / "r.json").read_text())
        self.check("result", self.ok("report", "r.json", "--json").stdout)
        self.check("result", self.ok("run", *run, "--mode", "functional", "--json").stdout)
        self.check("result", self.ok("cache", *run, "--json").stdout)
        self.check("result", self.ok("predict", *run, "--json").stdout)
        self.check("sweep", self.ok("cache", *run, "--sweep", "l1.bytes=16 KiB,32 KiB", "--json").stdout)
        table = [
            "cache",
            *run,
            "--sweep",
            "l1.bytes=" + ",".join(f"{k} KiB" for k in range(16, 129, 4)),
            "l1.ways=" + ",".join(map(str, range(1, 65))),
            "--json=stopped.json",
        ]
        for seconds in (1, 4, 16):  # until a variant is done, however slow the machine
            with subprocess.Popen(
                [SIMTLAB, *map(str, table)],
                cwd=self.folder,
                env=self.environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as process:
                time.sleep(seconds)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(60), 130)
            if (self.folder / "stopped.json").exists():
                break
        stopped = (self.folder / "stopped.json").read_text()
        self.assertIs(json.loads(stopped)["interrupted"], True)
        self.check("sweep", stopped)
        self.check(
            "cache-compare", self.ok("cache", *run, "--compare", "l1.bytes=16 KiB", "l1.bytes=32 KiB", "--json").stdout
        )
        self.check("sweep", self.ok("predict", *run, "--sweep", "regs=32,64", "--json").stdout)
        self.check("explain", self.ok("explain", "r.json", "--json").stdout)
        self.ok("run", *run, "--set", "sm.count=20", "--record", "t.simt", "--json=s.json")
        self.check("compare", self.ok("compare", "r.json", "s.json", "--json").stdout)
        self.check("trace", self.ok("trace", "info", "t.simt", "--mix", "--json").stdout)
        failed = self.simtlab("run", *run, "--max-cycles", "100", "--json")
        self.assertNotEqual(failed.returncode, 0)
        self.check("result", failed.stdout)

    def test_of_memories_curves_and_configurations(self):
        self.check("result", self.ok("dram", *SORT, "--json").stdout)
        self.file(
            "c.csv", "size_bytes,cycles\n" + "".join(f"{1024 * (i + 1)},{30 if i < 32 else 200}\n" for i in range(64))
        )
        self.check("result", self.ok("probe", "--analyse", "c.csv", "--json").stdout)
        self.check("result", self.ok("probe", "--compare", "k40", "v100", "--json").stdout)
        self.check("configuration", self.ok("config", "show", "--json").stdout)
        self.check("configuration", self.ok("config", "show", "--dram", "ddr4-3200", "--json").stdout)
        self.check("result", self.ok("validate", "probe", "--json").stdout)
        self.check("doctor", self.ok("doctor", "--json").stdout)
        self.check("configuration-diff", self.ok("config", "diff", "v100", "a100", "--json").stdout)

    @needs_clang
    def test_of_programs(self):
        self.file(
            "app.cu",
            "#include <stdlib.h>\n__global__ void k(int* x) { *x = 1; }\nint main() { int* x; cudaMalloc(&x, 4); k<<<1, 1>>>(x); cudaDeviceSynchronize(); return 3; }\n",
        )
        result = self.simtlab("run", "app.cu", "--json=r.json")
        self.assertEqual(result.returncode, 5)
        self.check("result", (self.folder / "r.json").read_text())

    def test_a_file_that_breaks_it_is_noticed(self):
        self.saxpy()
        good = json.loads(self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json").stdout)
        for spoil in (
            lambda d: d.update(schema=2),
            lambda d: d.pop("total"),
            lambda d: d["kernels"][0].update(extra=1),
            lambda d: d["total"].update({"gpu.time": 3}),
            lambda d: d["manifest"].update(seed=-1),
        ):
            bad = json.loads(json.dumps(good))
            spoil(bad)
            with self.assertRaises(jsonschema.ValidationError):
                self.check("result", json.dumps(bad))


class Forms(Case):
    def setUp(self):
        super().setUp()
        self.saxpy()
        self.result = json.loads(
            self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "500", "--json=r.json")
            and (self.folder / "r.json").read_text()
        )

    def test_sqlite_has_every_number(self):
        self.ok("report", "r.json", "--sqlite=r.db")
        db = sqlite3.connect(self.folder / "r.db")
        self.addCleanup(db.close)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        self.assertEqual(db.execute("PRAGMA user_version").fetchone(), (1,))
        kernel = self.result["kernels"][0]
        self.assertEqual(
            dict(db.execute("SELECT name, value FROM metrics WHERE kernel = 0")),
            {name: m["value"] for name, m in kernel["metrics"].items()},
        )
        self.assertEqual(
            dict(db.execute("SELECT name, value FROM metrics WHERE kernel IS NULL")),
            {name: m["value"] for name, m in self.result["total"].items()},
        )
        self.assertEqual(
            dict(db.execute("SELECT reason, sum(slots) FROM line_slots GROUP BY reason")),
            {r: n for r, n in kernel["profile"]["slots"].items() if r != "no_warp"},
        )
        self.assertEqual(
            db.execute("SELECT count(*) FROM series").fetchone()[0],
            len(kernel["series"]["rows"]) * len(kernel["series"]["columns"]),
        )
        self.assertEqual(db.execute("SELECT value FROM manifest WHERE key = 'device'").fetchone(), ("v100",))
        self.assertEqual(
            db.execute("SELECT meaning FROM declarations WHERE name = 'gpu.ipc'").fetchone()[0],
            "Thread instructions executed per SM clock cycle, whole GPU.",
        )

    def test_sqlite_of_tables(self):
        self.ok("cache", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=c.json")
        self.ok("report", "c.json", "--sqlite=c.db")
        db = sqlite3.connect(self.folder / "c.db")
        self.addCleanup(db.close)
        table = json.loads((self.folder / "c.json").read_text())["kernels"][0]["tables"]["instructions"]
        rows = db.execute('SELECT * FROM "table_instructions"').fetchall()
        self.assertEqual([list(r[1:]) for r in rows], table["rows"])

    def test_markdown_is_a_page_with_every_metric(self):
        page = self.ok("report", "r.json", "--md").stdout
        self.assertTrue(page.startswith("# simtlab: timing on v100\n"))
        for name in self.result["kernels"][0]["metrics"]:
            self.assertIn(f"| `{name}` |", page)
        self.assertEqual(self.ok("report", "r.json", "--md=r.md").stdout, "")
        self.assertEqual((self.folder / "r.md").read_text(), page)

    def test_names_from_the_input_are_no_markup(self):
        self.result["kernels"][0]["demangled"] = "a|b<script>*c* `d` [e](f)"
        self.file("evil.json", json.dumps(self.result))
        page = self.ok("report", "evil.json", "--md").stdout
        self.assertIn(r"a\|b\<script\>\*c\* \`d\` \[e\](f)", page)

    def test_several_forms_at_once(self):
        self.ok("report", "r.json", "--md=r.md", "--sqlite=r.db", "--timeline=t.json", "--csv=r.csv", "-o", "r.txt")
        for name in ("r.md", "r.db", "t.json", "r.csv", "r.txt"):
            self.assertGreater((self.folder / name).stat().st_size, 100, name)

    def test_outputs_that_clash_or_cannot_be_written(self):
        self.fails(2, "report", "r.json", "--md=x", "--sqlite=x", says="[option-conflict]")
        self.fails(2, "report", "r.json", "--md", "--timeline", says="[option-conflict]")
        self.fails(2, "report", "r.json", "--sqlite=r.json", says="[option-conflict]")
        self.fails(1, "report", "r.json", "--md=/nowhere/x.md", says="[file-write]")
        self.fails(1, "report", "r.json", "--sqlite=/dev/full", says="[file-write]")


class Beside(Case):
    """Series and tables of many rows stand as compressed columns beside the file."""

    def setUp(self):
        super().setUp()
        self.run_words = [
            self.saxpy(),
            "--grid",
            "16384",
            "--block",
            "256",
            "--arg",
            "f32:2",
            "--arg",
            "buffer:16384:f32:iota",
            "--arg",
            "buffer:16384:f32:random",
            "--arg",
            "u32:16384",
            "--gpu",
            "v100",
            "--set",
            "sm.count=1",
            "--series",
            "64",
        ]
        self.ok("run", *self.run_words, "--json=r.json")
        self.result = json.loads((self.folder / "r.json").read_text())
        self.columns = self.folder / self.result["beside"]["file"]

    def inside(self):
        return json.loads(self.ok("report", "r.json", "--json").stdout)

    def test_is_whole_again_in_every_form(self):
        self.assertLess((self.folder / "r.json").stat().st_size, 90000)
        self.assertTrue(self.columns.name.startswith("r.json.") and self.columns.name.endswith(".npz"))
        rows = self.result["kernels"][0]["series"]["rows"]
        self.assertEqual(rows["beside"], "kernels.0.series")
        self.assertGreater(rows["count"], 4096)
        if jsonschema is not None:
            jsonschema.Draft202012Validator(json.loads((SCHEMAS / "result-1.schema.json").read_text())).validate(
                self.result
            )
        whole = self.inside()
        self.assertNotIn("beside", whole)
        series = whole["kernels"][0]["series"]
        self.assertEqual(len(series["rows"]), rows["count"])
        at = series["columns"].index("instructions.warp")
        self.assertEqual(
            sum(row[at] for row in series["rows"]), whole["kernels"][0]["metrics"]["gpu.instructions.warp"]["value"]
        )
        self.ok("report", "r.json", "--sqlite=r.db", "--html=r.html", "--timeline=t.json")
        self.assertEqual(
            sqlite3.connect(self.folder / "r.db").execute("SELECT count(*) FROM series").fetchone()[0],
            rows["count"] * len(series["columns"]),
        )
        self.assertLess((self.folder / "r.html").stat().st_size, 4 << 20)  # thinned: a screen has no more points
        self.ok("rerun", "r.json")
        self.ok("compare", "r.json", "r.json")
        self.ok("explain", "r.json")

    def test_a_new_result_takes_the_old_columns_along(self):
        self.ok("run", *self.run_words, "--json=r.json")  # the same again
        self.assertEqual(self.columns.name, json.loads((self.folder / "r.json").read_text())["beside"]["file"])
        self.assertTrue(self.columns.exists())
        self.ok("run", *self.run_words[:-2], "--json=r.json")
        self.assertEqual([p.name for p in self.folder.glob("r.json*")], ["r.json"])

    def test_missing_or_damaged_columns_are_said(self):
        good = self.columns.read_bytes()
        for content in (good[:-1], good + b"x", b"", bytes(len(good))):
            self.columns.write_bytes(content)
            self.fails(3, "report", "r.json", says=["[result-columns]", "is not what this result was written with"])
        self.columns.unlink()
        for command in (
            ["report", "r.json"],
            ["rerun", "r.json"],
            ["compare", "r.json", "r.json"],
            ["explain", "r.json"],
        ):
            self.fails(3, *command, says=["[result-columns]", "put the two files into one folder"])
        self.fails(3, "report", "-", stdin=(self.folder / "r.json").read_text(), says="[result-columns]")

    def test_of_programs_and_of_points_of_a_sweep(self):
        self.ok("sweep", "--axis", "sm.count=1,2", "--db", "s.db", "--", "run", *self.run_words[:-4], "--series", "64")
        point = json.loads(self.ok("report", "s.db", "--point", "1", "--json").stdout)
        self.assertGreater(len(point["kernels"][0]["series"]["rows"]), 2000)
        self.assertFalse(list(self.folder.glob("s.db.d/*")))


class Hostile(Case):
    """Corrupted, foreign and too new: exit code 3 with a position or the path of the member."""

    def refused(self, content, says=()):
        self.file("r.json", content)
        for command in (
            ["report", "r.json"],
            ["explain", "r.json"],
            ["rerun", "r.json"],
            ["compare", "r.json", "r.json"],
            ["config", "diff", "r.json", "v100"],
        ):
            self.fails(3, *command, says=says)

    def test_foreign_files(self):
        for content in (
            "",
            "[]",
            "null",
            "{}",
            '{"schema": "one"}',
            "PK\x03\x04",
            "<html>",
            '{"traceEvents": []}',
            "{" * 100000,
            "[" * 1000000,
            '{"schema": 1e999}',
        ):
            self.refused(content, says="[result-json]")
        self.refused(bytes(range(256)), says="[result-json]")

    def test_too_new(self):
        self.refused('{"schema": 2}', says=["[result-schema]", "schema 2 is newer than 1", "later one"])

    def test_cut_off_and_changed(self):
        self.saxpy()
        good = self.ok(
            "run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "500", "--json"
        ).stdout
        chance = random.Random(1)
        for i in range(60):
            text = good[: chance.randrange(len(good))] if i % 2 else good
            if i % 2 == 0:
                at = chance.randrange(len(good))
                text = (
                    good[:at]
                    + chance.choice(['"', "}", "]", "-", "9" * 40, "null", "\\", "\x00", "[", "{"])
                    + good[at + chance.randrange(1, 40) :]
                )
            self.file("r.json", text)
            result = self.simtlab("report", "r.json", "--sqlite=/dev/null", "--md=/dev/null", "--all")
            self.assertIn(result.returncode, (0, 3), result.stderr[:500])
            if i % 2:
                self.assertEqual(result.returncode, 3)
                self.assertIn("r.json", result.stderr)

    def test_members_of_the_wrong_kind(self):
        self.saxpy()
        good = json.loads(self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json").stdout)
        good["kernels"][0]["metrics"]["gpu.time"]["value"] = "soon"
        self.refused(json.dumps(good), says="kernels[0].metrics.gpu.time.value")


if __name__ == "__main__":
    main()
