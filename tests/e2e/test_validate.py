"""validate: figures, JSON, checks, the kept rows and their gate, the page, and what it says when something is missing."""
import csv
import json
import pathlib
import re
import shutil

from harness import HAS_CLANG, SAXPY, SAXPY_LAUNCH, SIMTLAB, SOURCE, Case, long_test, main, needs_clang

KEPT = SOURCE / "data/validation"
HAS_NESTS = HAS_CLANG and (pathlib.Path(SIMTLAB).parent / "simtlab-loops").exists()


def rows_of(entry):
    """The rows of an area, from its entry in the JSON."""
    table = entry["tables"]["validation"]
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def kept(file):
    lines = [line for line in (KEPT / file).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class Validate(Case):
    def data(self, file, old, new):
        """A copy of the data files with one change."""
        folder = self.folder / "data"
        shutil.copytree(SOURCE / "data", folder)
        path = folder / "measured" / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        return {"SIMTLAB_DATA": str(folder)}

    def one_example(self):
        """A folder with one example program, which takes a second and not fifteen."""
        (self.folder / "one").mkdir()
        for name in ("saxpy.cu", "example.h"):
            shutil.copy(SOURCE / "examples" / name, self.folder / "one")
        return "one"

    @long_test
    @needs_clang
    def test_predictions_beside_what_was_published_of_them(self):
        env = self.data("resios.csv", "TLP=12,2.1667", "TLP=12,2.2667")
        done = self.simtlab(
            "validate",
            "predict",
            "--check",
            "--gpu",
            "gtx480",
            "--examples",
            self.one_example(),
            "--json=p.json",
            env=env,
        )
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("R067 (delay_madd; TLP=12)".replace(";", ","), done.stderr)
        self.assertIn("| R067 | 4.3.1 | delay_madd, TLP=12 | 2.2667 | 2.16667 | missed |", done.stdout)
        for kernel in ("mul", "madd", "memcpy", "convolution"):
            self.assertRegex(done.stdout, rf"(?m)^\| {kernel} .*\| met \|$")
        self.assertIn("## Loop nests: left out", done.stdout)
        result = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(
            [k["name"] for k in result["kernels"]],
            ["mul", "madd", "memcpy", "transpose", "transpose 4096", "convolution", "validation of predict"],
        )

    def test_levels_of_a_device_are_compared_and_meet_their_targets(self):
        out = self.ok("validate", "timing", "--gpu", "rtx2060", "--check").stdout
        self.assertRegex(
            out,
            r"\| rtx2060 \| Turing \(ppt19\) \| latency of levels \| L2 \| 1 \| 234\.0 cycles \| 23[34]\.\d cycles \|",
        )
        self.assertIn("All targets are met.", out)

    def test_the_json_has_every_level_and_the_total(self):
        result = json.loads(self.ok("validate", "timing", "--gpu", "rtx2060", "--json").stdout)
        names = [k["name"] for k in result["kernels"]]
        self.assertIn("rtx2060: latency of levels: DRAM", names)
        self.assertLess(result["total"]["validate.error.worst"]["value"], 0.03)
        self.assertEqual(result["total"]["validate.targets.missed"]["value"], 0)

    def test_a_missed_target_is_said_and_ends_with_6_only_with_check(self):
        env = self.data("levels.csv", "Turing (ppt19),,1024,234", "Turing (ppt19),,1024,334")
        out = self.ok("validate", "timing", "--gpu", "rtx2060", env=env).stdout
        self.assertIn("- rtx2060, latency of levels, L2: median error 29.9 % above 5 %", out)
        done = self.simtlab("validate", "timing", "--gpu", "rtx2060", "--check", env=env)
        self.assertEqual(done.returncode, 6)
        self.assertEqual(done.stdout, out)
        self.assertIn("validate-target", done.stderr)

    def test_a_device_without_measurements_is_refused_with_those_that_have_some(self):
        self.fails(3, "validate", "timing", "--gpu", "gtx480", says="v100")
        self.fails(3, "validate", "timing", "--gpu", "nothing", says="nothing")

    def test_a_broken_table_is_named_with_its_line(self):
        env = self.data("levels.csv", "Turing (ppt19),,1024,234", "Turing (ppt19),,1024,x")
        self.fails(3, "validate", "timing", "--gpu", "rtx2060", env=env, says="levels.csv:")

    def test_programs_that_were_not_run_are_left_out_with_a_note(self):
        done = self.simtlab("validate", "timing", "--gpu", "titanx-maxwell", "--results", "nowhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the kernels of srad are left out", done.stderr)

    def test_another_simulators_figures_are_printed_beside_ours_and_have_no_target(self):
        (self.folder / "saxpy.ptx").write_text(SAXPY)
        (self.folder / "results/gtx480").mkdir(parents=True)
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "gtx480", "--json=results/gtx480/saxpy.json")
        env = self.data("gpgpusim.csv", "_Z5saxpyifPKfPf,time_us,", "saxpy,time_us,1")  # far off
        arguments = ("validate", "timing", "--gpu", "gtx480", "--results", "results", "--check")
        out = self.ok(*arguments, env=env).stdout
        self.assertRegex(out, r"\| gtx480 \| saxpy \| saxpy \| time_us \| 1\d+\.\d+ \| \d\.\d+ \| -\d+\.\d % \|")
        self.assertIn("All targets are met.", out)
        kernels = json.loads(self.ok(*arguments, "--json", env=env).stdout)["kernels"]
        self.assertEqual(
            [k["name"] for k in kernels], ["gtx480: GPGPU-Sim: saxpy: saxpy: time_us", "validation of timing"]
        )
        self.assertEqual(rows_of(kernels[1])[0]["role"], "independent")
        self.assertLess(kernels[0]["metrics"]["validate.peer.difference"]["value"], -0.5)
        # Kept in the place of what they were; the rows of other programs stay.
        file = self.folder / "rows/timing.recorded.csv"
        file.parent.mkdir()
        head = (SOURCE / "data/validation/timing.recorded.csv").read_text().splitlines()
        other = next(line for line in head if line.startswith("kernels,"))
        file.write_text(
            "\n".join(
                [
                    next(line for line in head if line.startswith("group,")),
                    other,
                    "beside GPGPU-Sim,gtx480,saxpy: saxpy: time_us,,us,old,1,1,7,6,,,,independent,",
                ]
            )
            + "\n"
        )
        self.ok(*arguments[:-1], "--update", "--rows", "rows", env=env)
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        self.assertIn(other, lines)
        self.assertEqual(
            [line.split(",")[0] for line in lines],
            ["group", "kernels", "beside GPGPU-Sim", *["beside GPGPU-Sim"] * (len(lines) - 3)],
        )
        self.assertNotIn(",old,", file.read_text())
        self.assertFalse((file.parent / "timing.csv").exists())

    # ---- rows that are kept

    def test_no_quick_row_is_worse_than_the_kept_one(self):
        """The regression gate of this repository: about half a minute."""
        if HAS_NESTS:
            done = self.simtlab("validate", "--quick", "--gate", "--json=v.json", "--html=v.html", timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("No row is worse or gone.", done.stdout)
            entries = {
                k["name"]: k
                for k in json.loads((self.folder / "v.json").read_text())["kernels"]
                if k["name"].startswith("validation of ")
            }
            areas = ["timing", "cache", "dram", "probe", "corun", "predict"]
            self.assertEqual(list(entries), [f"validation of {a}" for a in areas])
            for area in areas:
                rows = rows_of(entries[f"validation of {area}"])
                self.assertGreater(len(rows), 15, area)
                self.assertTrue(
                    all(
                        r["role"] in ("tuned", "held out", "independent", "by construction") and r["source"]
                        for r in rows
                    ),
                    area,
                )
            groups = {r["group"] for r in rows_of(entries["validation of predict"])}
            self.assertEqual(groups, {"formulas of Resios", "kernels of Resios", "examples", "loop nests"})
            html = (self.folder / "v.html").read_text()
            for text in (
                "probe: ours over the reference, bytes",
                "ours over the reference, clocks",
                "stencil 64x1: miss rate",
            ):
                self.assertTrue(text in html, text)
        else:  # what needs no compiler
            for area in ("timing", "dram", "probe", "corun"):
                self.assertIn(
                    "No row is worse or gone.",
                    self.ok("validate", area, *(["--quick"] if area == "timing" else []), "--gate").stdout,
                )

    def test_the_gate_fails_where_a_row_is_worse_or_gone(self):
        shutil.copytree(KEPT, self.folder / "kept")
        path = self.folder / "kept/probe.csv"
        lines = path.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("sizes,v100,L1,"))
        self.assertIn(",0.071164,", lines[at])
        lines[at] = lines[at].replace(",0.071164,", ",0.061164,")
        lines.append(lines[at].replace("v100", "v99"))
        path.write_text("\n".join(lines) + "\n")
        done = self.simtlab("validate", "probe", "--gate", "--rows", "kept")
        self.assertEqual(done.returncode, 6)
        self.assertIn("[validate-gate]", done.stderr)
        self.assertIn(
            "- worse: probe: sizes: v100: L1: error 7.1 %, was 6.1 %\n- worse: probe: sizes: v99: L1: the row is gone\n",
            done.stdout,
        )
        self.assertIn("2 rows are worse than the kept ones or gone", done.stderr)

    def test_update_keeps_rows_and_the_gate_takes_them(self):
        (self.folder / "kept").mkdir()
        self.ok("validate", "probe", "--update", "--rows", "kept")
        self.assertIn(
            "No row is worse or gone.",
            self.ok("validate", "probe", "--gate", "--rows", "kept", "--tolerance", "0").stdout,
        )
        now, then = [
            [line for line in f.read_text().splitlines() if not line.startswith("#")]
            for f in (self.folder / "kept/probe.csv", KEPT / "probe.csv")
        ]
        self.assertEqual(now, then, "stale: simtlab validate probe --update")
        self.fails(3, "validate", "probe", "--gate", "--rows", "nowhere", says="nowhere/probe.csv")
        self.fails(2, "validate", "probe", "--gate", "--rows", "kept", "-o", "kept/probe.csv", says="probe.csv")

    def test_what_is_quick_and_whole_alike_is_kept_alike(self):
        for area, groups in (
            ("cache", ("published counters", "beside the cycle level")),
            ("predict", ("formulas of Resios", "kernels of Resios")),
        ):
            whole = kept(f"{area}.csv")
            for row in kept(f"{area}.quick.csv"):
                if row["group"] in groups:
                    self.assertIn(row, whole)

    def test_options_that_do_not_go_together(self):
        self.fails(2, "validate", "--quick", "probe", says="--quick stands before")
        self.fails(2, "validate", "probe", "--gate", "--update", says="--update replaces them")
        self.fails(2, "validate", "timing", "--gpu", "v100", "--gate", says="--gpu changes what is compared")
        self.fails(2, "validate", "probe", "--rows", "x", says="--rows is of no use")
        self.fails(2, "validate", "probe", "--gate", "--tolerance", "-1", says="points from 0 to 100")
        self.fails(2, "validate", "probe", "--quick", says="--quick")
        self.fails(2, "validate", "probe", "--html", "--json", says="stdout")

    def test_broken_rows_are_named_with_their_line(self):
        (self.folder / "kept").mkdir()
        head = "group,device,quantity,over,unit,source,low,high,ours,error,worst,target,worst_target,role,note\n"
        good = "sizes,v100,L1,,bytes,s,1,1,2,1,,,,tuned,\n"
        for content, says in (
            ("", "no line of column names"),
            ("a,b\n", "probe.csv:1: "),
            (head + "sizes,v100\n", "2 cells"),
            (head + good + good, "twice"),
            (head + good.replace("tuned", "x"), "no role 'x'"),
            (head + good.replace(",2,1,", ",2,nan,"), "no number"),
            (head + good.replace("sizes", '"sizes'), "quotation mark"),
            (head + good.replace(",2,1,", ",2,,"), "without an error"),
            ("\0", "text-encoding"),
        ):
            (self.folder / "kept/probe.csv").write_text(content)
            self.fails(3, "validate", "probe", "--gate", "--rows", "kept", says=says)

    # ---- the page

    def test_the_page_is_what_the_kept_rows_and_the_prose_give(self):
        out = self.ok("validate", "page", "--html=page.html").stdout
        self.assertEqual(
            out,
            (SOURCE / "docs/lab/validation.md").read_text(),
            "stale: simtlab validate page -o docs/lab/validation.md",
        )
        html = (self.folder / "page.html").read_text()
        self.assertTrue("timing: ours over the reference, cycles" in html)
        self.assertFalse(re.search(r"<(script|img|link|iframe)[^>]* (src|href)=.?https?:", html))

    def test_rows_that_the_page_would_lose_are_an_error(self):
        shutil.copytree(SOURCE / "docs/lab/validation.d", self.folder / "prose")
        path = self.folder / "prose/50-probe.md"
        text = path.read_text()
        for new, says in (
            ("", "the rows 'sizes' of probe are in no part of the page"),
            ("{{rows probe sizes}}\n{{rows probe sizes}}", "on the page twice"),
            ("{{rows probe size}}", "50-probe.md:"),
            ("{{rows nothing sizes}}", "areas: timing, cache"),
            ("{{table}}", "nothing that the page has"),
            ("{{rows probe sizes", "ends with }}"),
        ):
            path.write_text(text.replace("{{rows probe sizes}}", new))
            self.fails(3, "validate", "page", "--prose", "prose", says=("validation-page", says))
        self.fails(3, "validate", "page", "--prose", "nowhere", says="validation-page")
        self.fails(3, "validate", "page", "--rows", "nowhere", says="nowhere")


if __name__ == "__main__":
    main()
