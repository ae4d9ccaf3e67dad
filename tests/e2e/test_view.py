"""simtlab view: the server's manners, its pages in a headless Chromium, a run that is followed while it goes on."""
import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import browser
from harness import SAXPY_LAUNCH, SIMTLAB, Case, main, needs_clang

# Long enough to be followed, short enough to wait for.
SPIN = """
__global__ void spin(float *p, int n) {
  float x = threadIdx.x;
  for (int i = 0; i < n; i++) x = x * 1.0001f + 1;
  p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main() {
  float *p;
  cudaMalloc(&p, 4 * 64 * 256);
  for (int k = 0; k < 3; k++) spin<<<64, 256>>>(p, 8000);
  return cudaDeviceSynchronize();
}
"""


class Server:
    def __init__(self, folder, *words):
        self.process = subprocess.Popen(
            [SIMTLAB, "view", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.stderr.read()

    def get(self, path="", method="GET", **headers):
        """Status, headers, text."""
        request = urllib.request.Request(urllib.parse.urljoin(self.address, path), method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def text(self, path=""):
        """What a reader sees of a page, without its scripts and style."""
        return re.sub(r"(?s)<(script|style).*?</\1>", "", self.get(path)[2])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


class View(Case):
    def serve(self, *words):
        server = Server(self.folder, *words)
        self.addCleanup(lambda: server.process.poll() is None and server.stop())
        return server

    def results(self):
        self.saxpy()
        for gpu in ("v100", "gtx480"):
            self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", gpu, f"--json=r/{gpu}.json")

    def setUp(self):
        super().setUp()
        (self.folder / "r").mkdir()


class Manners(View):
    def test_who_does_not_know_the_secret_gets_nothing(self):
        self.results()
        server = self.serve("r")
        self.assertRegex(server.address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        status, headers, page = server.get()
        self.assertEqual(status, 200)
        self.assertIn("v100.json", page)
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        secret = server.address.split("/")[3]
        for path in ("/", "/" + "0" * 32 + "/", f"/{secret[:-1]}/", f"/{secret}0/", "/x/../"):
            self.assertEqual(server.get(path)[0], 404, path)
        self.assertEqual(server.get(Host="evil.example")[0], 403)
        self.assertEqual(server.get(method="HEAD")[0], 200)
        self.assertGreaterEqual(server.get(method="POST")[0], 400)
        code, _, err = server.stop()
        self.assertEqual(code, 0, err)

    def test_an_address_of_its_own_in_every_start(self):
        self.results()
        a, b = self.serve("r"), self.serve("r")
        self.assertNotEqual(a.address.split("/")[3], b.address.split("/")[3])

    def test_only_this_machine_reaches_it(self):
        self.results()
        server = self.serve("r")
        port = int(server.address.split(":")[2].split("/")[0])
        with open("/proc/net/tcp") as table:
            bound = [
                line.split()[1]
                for line in table
                if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
            ]
        self.assertEqual(bound, [f"0100007F:{port:04X}"])

    def test_bad_requests(self):
        self.results()
        server = self.serve("r")
        ids = re.findall(r'name="id" value="([0-9a-f]+)"', server.get()[2])
        self.assertEqual(len(ids), 2)
        for path, status in (
            ("result/none", 404),
            ("nothing", 404),
            (f"live/{ids[0]}", 404),
            (f"result/{ids[0]}/other", 404),
            ("compare", 400),
            (f"compare?id={ids[0]}", 400),
            ("compare?id=x&id=y", 404),
            ("?metric=no.such", 400),
            ("compare?" + "&".join(f"id={ids[0]}" for _ in range(17)), 400),
            (f"compare?id={ids[0]}&id={ids[1]}&metric=%00%ff", 400),
            ("result/../../etc/passwd", 404),
            ("a" * 4000, 404),
            ("?sort=%zz", 200),
        ):
            self.assertEqual(server.get(path)[0], status, path)
        self.assertIsNone(server.process.poll())

    def test_a_result_as_it_lies_there(self):
        self.results()
        server = self.serve("r/v100.json")
        (number,) = re.findall(r"result/([0-9a-f]+)\"", server.get()[2])[:1]
        status, headers, text = server.get(f"result/{number}/json")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        self.assertEqual(text, (self.folder / "r/v100.json").read_text())

    def test_what_changes_is_seen(self):
        self.results()
        (self.folder / "r/other.json").write_text("{}")
        (self.folder / "r/notes.txt").write_text("no result")
        server = self.serve("r")
        page = server.text()
        self.assertIn("1 others in these folders are not", page)
        before = server.get("version")[2]
        self.assertEqual(server.get("version")[2], before)
        (self.folder / "r/new.json").write_text((self.folder / "r/v100.json").read_text())
        self.assertNotEqual(server.get("version")[2], before)
        self.assertIn("new.json", server.text())
        (self.folder / "r/new.json").unlink()
        self.assertNotIn("new.json", server.text())

    def test_a_bad_file_that_was_named_is_shown_as_such(self):
        (self.folder / "bad.json").write_text("{\n  nonsense")
        server = self.serve("bad.json")
        page = server.text()
        self.assertIn("unreadable", page)
        self.assertIn("bad.json:2:", page)
        self.fails(3, "view", "none.json", says="file-missing")
        self.fails(2, "view", "bad.json", "--port", "70000", says="option-value")
        port = server.address.split(":")[2].split("/")[0]
        self.fails(1, "view", "bad.json", "--port", port, says="view-port")

    def test_many_results(self):
        self.results()
        text = (self.folder / "r/v100.json").read_text()
        for i in range(1000):
            (self.folder / f"r/{i:04}.json").write_text(text)
        server = self.serve("r")
        begin = time.monotonic()
        page = server.text()
        self.assertEqual(page.count('class="entry"'), 1002)
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_sweep(self):
        self.saxpy()
        self.ok(
            "sweep",
            "--axis",
            "sm.count=[2:6:2]",
            "--db",
            "s.db",
            "--",
            "run",
            "saxpy.ptx",
            *SAXPY_LAUNCH,
            "--gpu",
            "gtx480",
        )
        server = self.serve("s.db")
        (number,) = re.findall(r"study/([0-9a-f]+)", server.get()[2])
        status, _, page = server.get(f"study/{number}")
        self.assertEqual(status, 200)
        self.assertIn("3 points", page)


class Following(View):
    @needs_clang
    def test_a_program_says_how_far_it_is(self):
        self.file("spin.cu", SPIN)
        self.ok("run", "spin.cu", "--gpu", "gtx480", "--live", "r/spin.live", "--json=r.json")
        lines = [json.loads(line) for line in (self.folder / "r/spin.live").read_text().splitlines()]
        self.assertEqual(lines[0]["simtlab_live"], 1)
        self.assertEqual(lines[0]["device"], "gtx480")
        self.assertEqual(lines[-1]["end"], "done")
        last = lines[-2]
        self.assertEqual(last["launches"], 3)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(last["instructions"], result["total"]["gpu.instructions.warp"]["value"])
        for before, after in zip(lines[1:-1], lines[2:-1]):
            for name in ("seconds", "launches", "cycles", "instructions"):
                self.assertLessEqual(before[name], after[name])
        self.assertTrue(any(line["kernel"] == "spin" and line["of_blocks"] == 64 for line in lines[1:-1]), lines)

    def test_every_mode_and_what_ends_badly(self):
        self.saxpy()
        for mode in ("timing", "functional"):
            self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "gtx480", "--mode", mode, "--live", f"r/{mode}.live")
            lines = [json.loads(line) for line in (self.folder / f"r/{mode}.live").read_text().splitlines()]
            self.assertEqual((lines[0]["mode"], lines[-1]["end"], lines[-2]["launches"]), (mode, "done", 1))
        self.assertEqual(
            self.simtlab(
                "run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "gtx480", "--max-cycles", "10", "--live", "r/limit.live"
            ).returncode,
            1,
        )
        self.assertIn("limit", (self.folder / "r/limit.live").read_text().splitlines()[-1])
        self.fails(2, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--live", "-", says="option-value")
        self.fails(1, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--live", "none/x.live", says="file-write")
        self.fails(2, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--live", "x", "--json=x", says="option-conflict")
        server = self.serve("r")
        page = server.text()
        self.assertIn("timing.live", page)
        self.assertIn("limit", page)

    @needs_clang
    def test_lines_for_a_log(self):
        self.file("spin.cu", SPIN.replace("8000", "20000"))
        plain = self.ok("run", "spin.cu", "--gpu", "gtx480", "--progress", "plain", "--threads", "1").stderr
        self.assertRegex(
            plain,
            r"(?m)^simulating: kernel spin: \d+ of 64 blocks, [0-9.]+ M cycles, [0-9.]+ M warp instructions, [0-9.]+ M a second, \d+ s(, kernel done in about [^\n]+)?$",
        )

    def test_the_result_is_the_same_whoever_looks(self):
        self.saxpy()
        for mode in ("timing", "functional"):
            words = ["run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--mode", mode, "--csv"]
            plain, looked_at = (
                re.sub(r".*,host\..*\n", "", self.ok(*words, *more).stdout) for more in ([], ["--live", f"{mode}.live"])
            )
            self.assertEqual(looked_at, plain)

    def test_a_file_that_is_cut_or_foreign(self):
        self.file(
            "r/cut.live",
            '{"simtlab_live":1,"command":"c","device":"d","mode":"timing","process":0}\n{"seconds":1.0,"kern',
        )
        self.file(
            "bad.live", '{"simtlab_live":1,"command":"c","device":"d","mode":"timing","process":0}\n{"seconds":-1}\n'
        )
        self.file("newer.live", '{"simtlab_live":2,"command":"c"}\n')
        server = self.serve("r", "bad.live", "newer.live")
        page = server.text()
        self.assertIn("running, 0 s", page)
        self.assertIn("bad.live:2:", page)
        self.assertIn("newer form", page)

    @needs_clang
    def test_killed_outright(self):
        self.file("spin.cu", SPIN.replace("8000", "8000000"))
        with open(os.devnull, "w") as nowhere:
            run = subprocess.Popen(
                [SIMTLAB, "run", "spin.cu", "--gpu", "gtx480", "--live", "r/k.live"],
                cwd=self.folder,
                stdout=nowhere,
                stderr=nowhere,
                env=self.environment(),
            )
        server = self.serve("r")
        end = time.monotonic() + 120
        while "running," not in server.text() and time.monotonic() < end:
            time.sleep(0.1)
        run.kill()
        run.wait()
        self.assertIn("ended without a word", server.text())


@unittest.skipIf(browser.MISSING, browser.MISSING)
class InBrowser(View):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(1200, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def go(self, address, wait="return document.documentElement.dataset.ready"):
        self.browser.post("/url", {"url": address})
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if said := self.browser.run(wait):
                return said
            time.sleep(0.1)
        self.fail(f"{address} is not ready: {self.browser.log()}")

    def test_from_the_table_to_the_reasons(self):
        self.results()
        server = self.serve("r")
        self.assertEqual(self.go(server.address), "yes")
        run = self.browser.run
        self.assertEqual(run("return document.querySelectorAll('tr.entry').length"), 2)
        self.assertTrue(run("return document.getElementById('compare').disabled"))
        self.browser.type("#filter", "gtx")
        self.assertEqual(run("return document.querySelectorAll('tr.entry:not([hidden])').length"), 1)
        run(
            "document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))"
        )
        run("document.querySelectorAll('input[name=id]').forEach(function (b) { b.click(); })")
        self.assertEqual(run("return document.getElementById('chosen').textContent"), "2 chosen")
        self.picture("index")
        run("document.getElementById('compare').click()")
        self.go_on("compare")
        self.assertIn("2 results side by side", run("return document.querySelector('h1').textContent"))
        self.assertIn("Why", run("return document.querySelector('main').textContent"))
        self.assertGreaterEqual(run("return document.querySelectorAll('figure.chart[data-drawn=yes]').length"), 2)
        self.picture("compare")
        run("document.querySelector('header a').click()")
        self.go_on("tr.entry")
        run("document.querySelector('tr.entry a').click()")
        self.go_on("result/")
        self.assertIn("saxpy", run("return document.querySelector('h1').textContent"))
        self.assertEqual([line for line in self.browser.log() if line.startswith("SEVERE")], [])

    def go_on(self, what):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.browser.run(
                "return (location.href.indexOf(arguments[0]) >= 0 || !!(/^[a-z.]+$/.test(arguments[0]) && document.querySelector(arguments[0]))) && document.documentElement.dataset.ready === 'yes'",
                what,
            ):
                return
            time.sleep(0.1)
        self.fail(f"no {what}: {self.browser.run('return location.href')}")

    def picture(self, name):
        if folder := os.environ.get("SIMTLAB_PICTURES"):
            with open(f"{folder}/view-{name}.png", "wb") as out:
                out.write(self.browser.screenshot(whole=True))

    def test_sorted_and_with_a_metric(self):
        self.results()
        server = self.serve("r")
        self.go(server.address + "?metric=gpu.cycles&sort=-gpu.cycles")
        names = self.browser.run(
            "return Array.from(document.querySelectorAll('tr.entry a')).map(function (a) { return a.textContent; })"
        )
        cycles = [json.loads((self.folder / "r" / name).read_text())["total"]["gpu.cycles"]["value"] for name in names]
        self.assertEqual(cycles, sorted(cycles, reverse=True))
        self.assertEqual(
            self.browser.run(
                "return document.querySelector('th[aria-sort=descending]').textContent.indexOf('gpu.cycles')"
            ),
            0,
        )

    @needs_clang
    def test_a_run_is_followed_to_its_end(self):
        self.file("spin.cu", SPIN.replace("8000", "20000"))
        with open(os.devnull, "w") as nowhere:
            run = subprocess.Popen(
                [SIMTLAB, "run", "spin.cu", "--gpu", "gtx480", "--live", "r/s.live"],
                cwd=self.folder,
                stdout=nowhere,
                stderr=nowhere,
                env=self.environment(),
            )
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        server = self.serve("r")
        end = time.monotonic() + 120
        while not (ids := re.findall(r'href="live/([0-9a-f]+)"', server.get()[2])) and time.monotonic() < end:
            time.sleep(0.1)
        self.go(
            f"{server.address}live/{ids[0]}",
            "return document.querySelector('main').dataset.rows > 4 && document.querySelector('#state').textContent === 'running'",
        )
        self.picture("live")
        self.go_on_to("return document.querySelector('main').dataset.over === 'yes'")
        self.assertEqual(self.browser.run("return document.querySelector('#state').textContent"), "done")
        self.assertEqual(self.browser.run("return document.querySelector('#launches').textContent"), "3")
        self.assertEqual(self.browser.run("return document.querySelector('figure.chart').dataset.drawn"), "yes")
        self.picture("live-end")
        self.assertEqual([line for line in self.browser.log() if line.startswith("SEVERE")], [])

    def go_on_to(self, question):
        end = time.monotonic() + 120
        while not self.browser.run(question):
            self.assertLess(time.monotonic(), end, self.browser.log())
            time.sleep(0.1)


if __name__ == "__main__":
    main()
