"""simtlab check: findings, what fails, suppressions, baselines, the forms that CI services read, the action, the guide's page."""
import json
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:  # Debian: python3-jsonschema, of ./dev test
    jsonschema = None

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

BLOCK = re.compile(r"(?ms)^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$")
# A write beyond the end by the last thread of each block but the last, and nothing else.
BEYOND = """
#include <cstdio>
__global__ void fill(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i < n ? i : i + (1 << 20)] = i;
}
__global__ void clean(int* out) { out[threadIdx.x] = 1; }
int main(int argc, char**) {
  int* out;
  cudaMalloc(&out, 100 * sizeof(int));
  clean<<<1, 32>>>(out);
  fill<<<2, 64>>>(out, 100);
  cudaError_t e = cudaDeviceSynchronize();
  cudaFree(out);
  return argc > 1 ? 3 : e != cudaSuccess;
}
"""
# One of them hands on what it reads, the other computes with it.
COPIES = """
.version 6.0
.target sm_30
.address_size 64
.visible .entry move(.param .u64 a, .param .u64 b) {
  .reg .b64 %rd<3>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd2+8], %f1;
  ret;
}
.visible .entry sum(.param .u64 a, .param .u64 b) {
  .reg .b64 %rd<3>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd2+8], %f2;
  ret;
}
"""
CLEAN = BEYOND.replace("out[i < n ? i : i + (1 << 20)] = i;", "if (i < n) out[i] = i;")


class Check(Case):
    def check(self, code, *args, **kw):
        done = self.simtlab("check", *args, **kw)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}\n{done.stderr}")
        return done


class Words(Check):
    """What is wrong with a command line or a file is said before anything runs."""

    def test_options(self):
        self.file("no.ptx", "")
        for words, says in (
            (["--checks", "race"], "did you mean 'races'?"),
            (["--explore", "2", "--order", "7"], "--explore tries several"),
            (["--order", "a,b"], "no order that a finding names"),
            (["--github", "--sarif"], "would share stdout"),
            (["--sarif=a", "--junit=a"], "would write to the same file"),
            (["--level", "note"], "--level"),
            (["--coverage-min", "101"], "--coverage-min"),
            (["--text-like", "valgrind"], "--text-like"),
        ):
            self.fails(2, "check", *words, "no.ptx", says=says)
        self.fails(2, "check", "run.simt", says="is a trace")
        self.fails(2, "check", "--arg", "u32:1", "--", "./app", says="has no effect on the check of a program")

    def test_files(self):
        for text, says in (
            ('[[suppression]]\nrule = "race.shard"\nreason = "r"\n', "did you mean 'race.shared'?"),
            ('[[suppression]]\nrule = "race.*"\n', "no 'reason'"),
            ("<ComputeSanitizerOutput>", "does not end"),
            ("<other/>", "not ComputeSanitizerOutput"),
            ("[[", "toml-syntax"),
        ):
            self.file("s", text)
            self.fails(3, "check", "--suppressions", "s", "no.ptx", says=says)
        self.file("b", '[[finding]]\nfingerprint = "1"\n')
        self.fails(3, "check", "--baseline", "b", "no.ptx", says="no fingerprint")
        self.fails(3, "check", "--baseline", "none", "no.ptx", says="none")
        self.file("s", '[[suppression]]\nrule = "race.*"\nreason = "r"\n')
        self.fails(2, "check", "--suppressions", "s", "--sarif=s", "no.ptx", says="would overwrite")

    def test_the_list_of_rules(self):
        page = SOURCE / "docs/reference/checks.md"
        self.assertEqual(
            page.read_text(),
            self.ok("list", "checks", "--markdown").stdout,
            "stale: simtlab list checks --markdown > docs/reference/checks.md",
        )
        self.assertIn("race.shared", self.ok("list", "checks").stdout)


@needs_clang
class Programs(Check):
    def setUp(self):
        super().setUp()
        self.file("p.cu", BEYOND)

    def findings(self, name="r.json"):
        return json.loads((self.folder / name).read_text())["check"]["findings"]

    def test_a_bad_access_is_found_told_and_fails(self):
        done = self.check(8, "p.cu", "--json=r.json")
        found = self.findings()
        self.assertEqual([f["rule"] for f in found], ["memory.out-of-bounds"], done.stdout)
        place = found[0]["accesses"][0]["place"]
        self.assertEqual((place["line"], place["kernel"]), (5, "fill(int*, int)"))
        self.assertEqual(place["text"], "out[i < n ? i : i + (1 << 20)] = i;")
        self.assertIn("error: memory.out-of-bounds: ", done.stdout)
        self.assertIn("at p.cu:5", done.stdout)
        self.assertIn("1 error, 0 warnings in 2 kernels (2 launches)\n", done.stdout)
        if jsonschema is not None:
            schema = json.loads((SOURCE / "docs/reference/schema/result-1.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(json.loads((self.folder / "r.json").read_text()))
        again = self.ok("report", "r.json").stdout
        self.assertIn("error: memory.out-of-bounds: ", again)

    def test_a_clean_program_says_that_it_is_about_this_run(self):
        self.file("p.cu", CLEAN)
        done = self.check(0, "p.cu")
        self.assertRegex(done.stdout, r"no bad access, no race, .* in this run\n0 errors, 0 warnings in 2 kernels")
        self.assertNotIn("free of", done.stdout)

    def test_a_failure_of_the_program_keeps_its_code_unless_a_finding_explains_it(self):
        done = self.check(8, "p.cu", "--", "3")
        self.assertIn("ended with status 3", done.stderr)
        self.file("p.cu", CLEAN)
        self.check(5, "p.cu", "--", "3")
        self.check(0, "p.cu", "--coverage-min", "100", "--checks", "memory")
        never = "if (n < 0)\n    for (int k = 0; k < i; ++k)\n      atomicAdd(out, k * n);\n"
        self.file("p.cu", CLEAN.replace("if (i < n) out", never + "  if (i < n) out"))
        done = self.check(6, "p.cu", "--coverage-min", "100", "--checks", "memory")
        self.assertIn("less than the 100 % that --coverage-min asks for", done.stdout)
        self.check(0, "p.cu", "--coverage-min", "30")

    def test_results_of_earlier_checks_become_one(self):
        never = "if (n < 0)\n    for (int k = 0; k < i; ++k)\n      atomicAdd(out, k * n);\n"
        self.file("p.cu", BEYOND)
        self.file("q.cu", CLEAN.replace("if (i < n) out", never + "  if (i < n) out"))
        self.check(8, "p.cu", "--json=p.json")
        self.check(0, "q.cu", "--json=q.json")
        done = self.check(8, "p.json", "q.json", "--json=all.json", "--lcov=all.info")
        self.assertIn("1 error, 0 warnings in 2 kernels (4 launches)\n", done.stdout)  # of the same names
        self.assertEqual([f["rule"] for f in self.findings("all.json")], ["memory.out-of-bounds"])
        covered = (self.folder / "all.info").read_text()
        for name in ("p.cu", "q.cu"):
            self.assertIn(f"/{name}\n", covered)
        self.check(0, "q.json", "q.json")
        self.check(6, "q.json", "--coverage-min", "100")
        self.file("s.toml", '[[suppression]]\nrule = "memory.*"\nreason = "on purpose"\n')
        self.check(0, "p.json", "q.json", "--suppressions", "s.toml")
        self.fails(2, "check", "p.json", "--explore", "2", says="results of earlier checks")
        self.fails(2, "check", "p.json", "--gpu", "v100", says="results of earlier checks")
        self.fails(2, "check", "p.json", "--json=p.json", says="would overwrite")
        self.file("no.json", "{}")
        self.fails(3, "check", "no.json")
        self.simtlab("run", "--mode", "functional", "--json=run.json", "q.cu")
        self.fails(3, "check", "q.json", "run.json", says="run.json is no result of a check [check-result]")

    def test_suppressions_baselines_and_filters(self):
        self.file("s.toml", '[[suppression]]\nrule = "memory.*"\nkernel = "fill"\nreason = "on purpose"\n')
        self.assertIn("suppressed 1", self.check(0, "p.cu", "--suppressions", "s.toml").stdout)
        self.file("t.toml", '[[suppression]]\nrule = "race.*"\nreason = "r"\n')
        self.assertIn(
            "t.toml:1: the suppression matches nothing", self.check(8, "p.cu", "--suppressions", "t.toml").stdout
        )
        self.file(
            "s.xml",
            '<?xml version="1.0"?><ComputeSanitizerOutput><record><kind>Precise</kind><where><func>fill(int*, int)</func>'
            "</where></record></ComputeSanitizerOutput>",
        )
        self.check(0, "p.cu", "--suppressions", "s.xml")
        self.check(8, "p.cu", "--write-baseline", "b.toml")
        self.file("p.cu", "// A line above changes nothing.\n" + BEYOND)
        self.assertIn("known 1", self.check(0, "p.cu", "--baseline", "b.toml").stdout)
        self.file("p.cu", BEYOND.replace("out[threadIdx.x] = 1", "out[threadIdx.x + (1 << 20)] = 1"))
        self.assertIn("1 error", self.check(8, "p.cu", "--baseline", "b.toml").stdout)
        self.file("p.cu", BEYOND)
        done = self.check(0, "p.cu", "--kernel-name-exclude", "fill")
        self.assertIn("not checked: fill(int*, int)", done.stdout)
        self.check(0, "p.cu", "--kernel-name", "clean")
        self.check(8, "p.cu", "--kernel-name", "fi*")

    def test_the_forms_that_others_read(self):
        done = self.check(
            8, "p.cu", "--sarif=c.sarif", "--junit=c.xml", "--lcov=c.info", "--html=c.html", "--github", "-o", "c.txt"
        )
        self.assertRegex(done.stdout, r"(?m)^::error file=p\.cu,line=5(,col=\d+)?,title=[^:]*::.*$")
        self.assertNotIn("\n ", done.stdout)
        log = json.loads((self.folder / "c.sarif").read_text())
        validate_sarif(self, log)
        result = log["runs"][0]["results"][0]
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "p.cu")
        suite = xml.etree.ElementTree.parse(self.folder / "c.xml").getroot()
        cases = {(c.get("classname"), c.get("name")): c for c in suite.iter("testcase")}
        self.assertIsNotNone(cases["fill(int*, int)", "memory"].find("failure"))
        self.assertIsNone(cases["clean(int*)", "memory"].find("failure"))
        lines = dict(re.findall(r"(?m)^DA:(\d+),(\d+)$", (self.folder / "c.info").read_text()))
        self.assertGreater(int(lines["5"]), 0)
        self.assertIn("memory.out-of-bounds", (self.folder / "c.html").read_text())
        self.assertIn("1 error", (self.folder / "c.txt").read_text())
        like = self.check(8, "p.cu", "--text-like", "compute-sanitizer").stdout
        self.assertTrue(like.endswith("========= ERROR SUMMARY: 1 error\n"), like)
        only = self.check(8, "p.cu", "--sarif")
        json.loads(only.stdout)

    def test_processes_of_a_program_are_one_report(self):
        self.ok("build", "p.cu", "-o", "p")
        self.check(8, "--json=r.json", "--", "/bin/sh", "-c", "./p; ./p; true")
        found = self.findings()
        self.assertEqual(len(found), 1)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["check"]["launches"], 4)

    def test_a_process_that_leaves_early_is_no_silent_gap(self):
        self.file("p.cu", BEYOND.replace("cudaFree(out);", "if (argc > 1) _exit(0);").replace("<cstdio>", "<unistd.h>"))
        self.ok("build", "p.cu", "-o", "p")
        done = self.check(5, "--", "./p", "1")
        self.assertIn("not checked: the program ended without telling what was found in it", done.stdout)
        self.assertIn("[program-left]", done.stderr)
        done = self.simtlab("check", "--", "/bin/sh", "-c", "./p; ./p 1")
        self.assertIn(done.returncode, (5, 8))
        self.assertIn("not checked: a process of the program ended without telling", done.stdout)
        self.assertIn("memory.out-of-bounds", done.stdout)

    def test_a_kernel_without_a_host_program(self):
        self.saxpy()
        words = ["saxpy.ptx", "--grid", "65", "--block", "256", "--arg", "f32:2"]
        buffers = ["--arg", "buffer:16384:f32:iota", "--arg", "buffer:16384:f32:random"]
        self.check(0, *words, *buffers, "--arg", "u32:16384")
        self.check(8, *words, *buffers, "--arg", "u32:16640")

    def test_buffers_of_a_launch_that_nobody_wrote(self):
        self.file("k.ptx", COPIES)
        words = ["k.ptx", "--kernel"]
        ways = {
            ("move", "none", "zero"): "init.copied",
            ("move", "zero", "zero"): None,
            ("move", "zero", "none"): None,
            ("sum", "none", "zero"): "init.global",
        }
        for (kernel, source, target), rule in ways.items():
            with self.subTest(kernel=kernel, source=source, target=target):
                arguments = ["--arg", f"buffer:32:f32:{source}", "--arg", f"buffer:32:f32:{target}"]
                shape = ["--global", "1", "--local", "1", "--json=r.json", "--level", "warning"]
                self.check(8 if rule else 0, *words, kernel, *shape, *arguments)
                result = json.loads((self.folder / "r.json").read_text())
                self.assertEqual([f["rule"] for f in result["check"]["findings"]], [rule] if rule else [])


def validate_sarif(case, log):
    """What SARIF 2.1.0 demands of the parts that are written here."""
    case.assertEqual(log["version"], "2.1.0")
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        case.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for rule in rules:
            case.assertTrue(rule["shortDescription"]["text"])
        for invocation in run["invocations"]:
            case.assertIsInstance(invocation["executionSuccessful"], bool)
        for result in run["results"]:
            case.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            case.assertIn(result["level"], ("none", "note", "warning", "error"))
            case.assertTrue(result["message"]["text"])
            case.assertGreaterEqual(result["occurrenceCount"], 1)
            for location in result["locations"] + result.get("relatedLocations", []):
                if "physicalLocation" in location:
                    uri = location["physicalLocation"]["artifactLocation"]["uri"]
                    case.assertRegex(uri, r"^[A-Za-z0-9._~/%:-]+$")
                    case.assertGreaterEqual(
                        location["physicalLocation"].get("region", {"startLine": 1})["startLine"], 1
                    )
            for flow in result.get("codeFlows", []):
                for thread in flow["threadFlows"]:
                    case.assertTrue(thread["locations"])
            for suppression in result["suppressions"]:
                case.assertIn(suppression["kind"], ("inSource", "external"))


class Action(Check):
    """The steps of action.yml in bash, with their inputs put in as a runner does."""

    def steps(self, inputs):
        text = (SOURCE / "action.yml").read_text()
        defaults = dict(re.findall(r"(?m)^  ([a-z-]+):\n    description: .*\n    default: (.*)$", text))
        given = {name: value.strip("'") for name, value in defaults.items()} | inputs
        env = {
            name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: given[m[1]], value)
            for name, value in re.findall(r"(?m)^        ([A-Z]+): (\$\{\{.*)$", text)
        }
        scripts = re.findall(r"(?m)^      run: \|\n((?:        .*\n|\n)+)", text)
        self.assertEqual(len(scripts), 2)
        self.assertNotIn("${{", "".join(scripts), "inputs go by the environment")
        path = f"{pathlib.Path(SIMTLAB).parent}:{os.environ['PATH']}"
        files = {"GITHUB_OUTPUT": str(self.folder / "output"), "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}
        for script in scripts:
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", re.sub(r"(?m)^        ", "", script)],
                cwd=self.folder,
                env=self.environment(env | files | {"PATH": path}),
                capture_output=True,
                text=True,
                timeout=300,
            )
            if done.returncode != 0:
                break
        output = dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        return done, output

    @needs_clang
    def test_a_red_and_a_green_run(self):
        self.file("a test.cu", BEYOND)
        done, output = self.steps({"command": "'a test.cu'", "folder": "out put"})
        self.assertEqual(done.returncode, 8, done.stdout + done.stderr)
        self.assertEqual(output, {"exit-code": "8", "folder": "out put"})
        self.assertIn("::error file=a test.cu,line=5", done.stdout)
        for name in ("check.sarif", "check.xml", "device.info", "check.html", "check.txt"):
            self.assertTrue((self.folder / "out put" / name).exists(), name)
        self.assertIn("memory.out-of-bounds", (self.folder / "summary").read_text())
        self.file("a test.cu", CLEAN)
        self.file("s.toml", "")
        done, output = self.steps(
            {"command": "'a test.cu' -- $(touch evil)", "options": "--suppressions s.toml", "level": "warning"}
        )
        self.assertEqual((done.returncode, output["exit-code"]), (5, "5"), "it has arguments: status 3")
        self.assertFalse((self.folder / "evil").exists())
        done, output = self.steps({"command": "'a test.cu'"})
        self.assertEqual((done.returncode, output["exit-code"]), (0, "0"), done.stdout + done.stderr)


@needs_clang
class Guide(Check):
    def test_the_page_is_followed_line_by_line(self):
        said = []
        for language, name, body in BLOCK.findall((SOURCE / "docs/guide/check.md").read_text()):
            if name:
                self.file(name, body)
                continue
            self.assertEqual(language, "sh")
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", body],
                cwd=self.folder,
                env=self.environment({"PATH": f"{pathlib.Path(SIMTLAB).parent}:{os.environ['PATH']}"}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
            )
            self.assertEqual(done.returncode, 0, f"{body}\n{done.stdout}\n{done.stderr}")
            said.append(done.stdout)
        self.assertIn("exit code 8\n", said[0])
        self.assertIn("error: race.shared: ", said[0])
        self.assertIn("warning: memory.leak: ", said[0])
        self.assertIn("no race", said[1])
        validate_sarif(self, json.loads((self.folder / "check.sarif").read_text()))


if __name__ == "__main__":
    main()
