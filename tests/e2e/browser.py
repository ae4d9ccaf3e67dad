"""A headless Chromium, driven through ChromeDriver's HTTP interface (W3C WebDriver) with the standard library alone; and what pictures have in common."""
import base64
import collections
import json
import re
import shutil
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
MISSING = (
    None
    if CHROMIUM and DRIVER
    else "chromium and chromedriver are not installed (./dev test installs the Debian packages chromium and chromium-driver)"
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    def __init__(self, width=1000, height=900):
        self._folder = tempfile.TemporaryDirectory(prefix="simtlab-browser-")
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._base = None
        while self._base is None:
            line = self._driver.stdout.readline()
            if not line:
                raise RuntimeError("chromedriver did not start")
            if match := re.search(r"started successfully on port (\d+)", line):
                self._base = f"http://127.0.0.1:{match.group(1)}"
        # No sandbox: containers lack the rights for it, and the page is ours.
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--no-first-run",
            f"--window-size={width},{height}",
            f"--user-data-dir={self._folder.name}",
        ]
        session = self._call(
            "POST",
            "/session",
            {
                "capabilities": {
                    "alwaysMatch": {
                        "browserName": "chrome",
                        "goog:loggingPrefs": {"browser": "ALL"},
                        "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
                    }
                }
            },
        )
        self._session = f"/session/{session['sessionId']}"

    def close(self):
        try:
            self._call("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)
            self._driver.stdout.close()
            self._folder.cleanup()

    def _call(self, method, path, body=None, timeout=120):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode(errors="replace")[:2000]) from error

    def post(self, path, body=None):
        return self._call("POST", self._session + path, body or {})

    def open(self, path, wait="return document.documentElement.dataset.ready", seconds=60):
        """Opens a file and waits until its page says that it is ready; returns what it said."""
        self.post("/url", {"url": path.resolve().as_uri()})
        return self.wait(wait, seconds)

    def wait(self, wait="return document.documentElement.dataset.ready", seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if said := self.run(wait):
                return said
            time.sleep(0.1)
        raise RuntimeError(f"the page is not ready after {seconds} s: {self.log()}")

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def log(self):
        return [f"{entry['level']}: {entry['message']}" for entry in self.post("/se/log", {"type": "browser"})]

    def element(self, selector):
        return self.post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def type(self, selector, keys):
        self.post(f"/element/{self.element(selector)}/value", {"text": keys})

    def press(self, key):
        """A key where the focus is."""
        self.post(
            "/actions",
            {
                "actions": [
                    {
                        "type": "key",
                        "id": "keyboard",
                        "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}],
                    }
                ]
            },
        )

    def clear(self, selector):
        self.post(f"/element/{self.element(selector)}/clear")

    def move_to(self, element):
        self.post(
            "/actions",
            {
                "actions": [
                    {
                        "type": "pointer",
                        "id": "mouse",
                        "parameters": {"pointerType": "mouse"},
                        "actions": [
                            {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: element}}
                        ],
                    }
                ]
            },
        )

    def media(self, scheme="light", medium=""):
        self.post(
            "/goog/cdp/execute",
            {
                "cmd": "Emulation.setEmulatedMedia",
                "params": {"media": medium, "features": [{"name": "prefers-color-scheme", "value": scheme}]},
            },
        )

    def size(self, width, height):
        self.post(
            "/goog/cdp/execute",
            {
                "cmd": "Emulation.setDeviceMetricsOverride",
                "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
            },
        )

    def screenshot(self, whole=False):
        if whole:
            return base64.b64decode(
                self.post(
                    "/goog/cdp/execute",
                    {
                        "cmd": "Page.captureScreenshot",
                        "params": {
                            "format": "png",
                            "captureBeyondViewport": True,
                            "clip": {
                                **self.run(
                                    "return {x: 0, y: 0, width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight}"
                                ),
                                "scale": 1,
                            },
                        },
                    },
                )["data"]
            )
        return base64.b64decode(self._call("GET", self._session + "/screenshot"))

    def picture_of(self, selector):
        return base64.b64decode(self._call("GET", f"{self._session}/element/{self.element(selector)}/screenshot"))

    def pdf(self):
        return base64.b64decode(self.post("/print", {}))


def pixels(png):
    """Width, height and rows of RGB bytes of an 8-bit PNG."""
    at, data, width, height, channels = 8, b"", 0, 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw, rows, before, stride = zlib.decompress(data), [], bytearray(width * channels), width * channels
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride if kind else 0):
            left, up, corner = (
                (line[i - channels] if i >= channels else 0),
                before[i],
                (before[i - channels] if i >= channels else 0),
            )
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 2:
                line[i] = (line[i] + up) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            else:
                guess = left + up - corner
                a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
                line[i] = (line[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        rows.append(line)
        before = line
    return width, height, channels, rows


def drawn(png):
    """Share of the pixels that are not of the most frequent colour: 0 of a blank picture."""
    width, height, channels, rows = pixels(png)
    colours = collections.Counter(bytes(row[i : i + 3]) for row in rows for i in range(0, width * channels, channels))
    return 1 - colours.most_common(1)[0][1] / (width * height)


def mosaic(png, columns=20, lines=10):
    """The picture as few cells of mean colour: what two renderings have in common whatever the edges of letters are."""
    width, height, channels, rows = pixels(png)
    out = []
    for j in range(lines):
        for i in range(columns):
            x0, x1, y0, y1 = (
                i * width // columns,
                max((i + 1) * width // columns, i * width // columns + 1),
                j * height // lines,
                max((j + 1) * height // lines, j * height // lines + 1),
            )
            cell = [0, 0, 0]
            for y in range(y0, min(y1, height)):
                row = rows[y]
                for c in range(3):
                    cell[c] += sum(row[x0 * channels + c : x1 * channels : channels])
            count = (min(y1, height) - y0) * (x1 - x0)
            out += [round(v / count) for v in cell]
    return {"width": width, "height": height, "cells": bytes(out).hex()}


def difference(a, b):
    """Mean difference of the colours, from 0 to 255."""
    p, q = bytes.fromhex(a["cells"]), bytes.fromhex(b["cells"])
    return sum(abs(x - y) for x, y in zip(p, q)) / len(p)
