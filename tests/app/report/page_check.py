#!/usr/bin/env python3
"""page_check.py FOLDER: the headline of the page in each folder of FOLDER is that of report.txt there.
page_check.py --blocks REPORT.html: a network of more than 60 layers has its graph in blocks, by keyboard, too.
page_check.py --axe AXE.js PAGE...: axe-core finds nothing by its rules for WCAG 2 A and AA, light and dark.
page_check.py REPORT.html GRID: the page in a headless Chromium, from its file, driven through
chromedriver: everything is drawn, a wheel zooms, clicks choose a layer, nothing is on the console,
nothing was loaded from elsewhere, light and dark differ, and a screenshot, a pixel for 40 of its
own, is near the one in GRID (UPDATE=1 writes it). Exit status 77: a program is missing."""
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zlib

SCALE = 40


class Browser:
    def __init__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                urllib.request.urlopen(self.base + "/status")
                break
            except OSError:
                time.sleep(0.05)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1240,1000",
                     "--force-device-scale-factor=1"]
        options = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                   "goog:chromeOptions": {"args": arguments}}
        self.session = ""
        self.session = "/session/" + self.post("/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def post(self, path, body):
        request = urllib.request.Request(self.base + self.session + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.post("/execute/sync", {"script": script, "args": []})

    def devtools(self, command, **values):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": values})

    def width(self, pixels):
        self.devtools("Emulation.setDeviceMetricsOverride", width=pixels, height=1000, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def grid(self):
        """The whole page as rows of luminances, 0 to 255, SCALE times smaller."""
        height = self.run("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": 1240, "height": height, "scale": 1 / SCALE}
        return luminance(base64.b64decode(self.devtools("Page.captureScreenshot", captureBeyondViewport=True,
                                                        clip=clip)["data"]))

    def close(self):
        request = urllib.request.Request(self.base + self.session, method="DELETE")
        urllib.request.urlopen(request, timeout=60)
        self.driver.terminate()
        self.driver.wait()


def luminance(png):
    at, data = 8, b""
    while at < len(png):
        n, kind = int.from_bytes(png[at:at + 4], "big"), png[at + 4:at + 8]
        body = png[at + 8:at + 8 + n]
        if kind == b"IHDR":
            width, channels = int.from_bytes(body[:4], "big"), {2: 3, 6: 4}[body[9]]
        data += body if kind == b"IDAT" else b""
        at += 12 + n
    raw, rows, before = zlib.decompress(data), [], bytearray(width * channels)
    for first in range(0, len(raw), width * channels + 1):
        how, line = raw[first], bytearray(raw[first + 1:first + 1 + width * channels])
        for i in range(len(line)):
            left = line[i - channels] if i >= channels else 0
            corner = before[i - channels] if i >= channels else 0
            guess = left + before[i] - corner
            paeth = min((left, before[i], corner), key=lambda v: abs(guess - v))
            line[i] = (line[i] + (0, left, before[i], (left + before[i]) // 2, paeth)[how]) & 255
        rows.append([sum(line[i:i + 3]) // 3 for i in range(0, len(line), channels)])
        before = line
    return rows


def difference(a, b):
    """Mean over the common part, and of the heights."""
    pairs = [(x, y) for p, q in zip(a, b) for x, y in zip(p, q)]
    return sum(abs(x - y) for x, y in pairs) / len(pairs), abs(len(a) - len(b)) / len(b)


def check(browser, page, grid):
    browser.post("/url", {"url": pathlib.Path(page).resolve().as_uri()})
    browser.scheme("light")
    assert "GOPS/kLUT4" in browser.run("return document.getElementById('figures').textContent"), "no GOPS/kLUT4"
    empty = browser.run("""return ['head', 'figures', 'timeline', 'layers', 'graph', 'roofline', 'memory', 'traffic', 'energy']
        .filter(id => document.getElementById(id).textContent.trim().length < 8)""")
    assert not empty, f"nothing in {empty}"
    assert browser.run("return document.querySelector('#drawing svg .node') !== null"), "no graph"
    assert browser.run("return document.querySelector('.verdict').textContent").startswith("match: "), "no verdict"
    light = browser.grid()

    full = browser.run("return timeline.to - timeline.from")
    browser.run("""const c = document.querySelector('canvas'), b = c.getBoundingClientRect();
        c.dispatchEvent(new WheelEvent('wheel', {deltaY: -100, clientX: b.left + 400, clientY: b.top + 40, cancelable: true}))""")
    assert browser.run("return timeline.to - timeline.from") < full, "the wheel does not zoom"
    for what in ("tbody tr:not(.group)", "#drawing .node"):
        browser.run(f"document.querySelector({what!r}).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        assert browser.run("return !document.getElementById('detail').hidden"), f"a click on {what} shows no layer"
        browser.run("document.querySelector('#detail button').click()")
        assert browser.run("return document.getElementById('detail').hidden"), "the layer does not close"

    browser.run("document.querySelector('tbody tr[data-layer=\"1\"]').click()")
    tiles = browser.run("return document.querySelector('#detail pre').textContent")
    assert re.match(r"01_conv2d: \d+ tiles? of \d+ rows", tiles), f"tiles: {tiles}"
    browser.run("document.querySelector('#detail button').click()")
    width = "return document.querySelector('#drawing svg').getBoundingClientRect().width"
    before = browser.run(width)
    browser.run("document.querySelector('#graph .tools button').click()")
    assert browser.run(width) > 1.2 * before, "the graph does not zoom"
    browser.run("[...document.querySelectorAll('#graph .tools button')].find(b => b.textContent === 'Fit').click()")
    assert abs(browser.run(width) - before) < 1, "the graph does not fit again"
    fills = browser.run("return new Set([...document.querySelectorAll('#drawing rect')].map(r => r.style.fill)).size")
    assert fills > 3, f"{fills} colours of boxes: expected one for each time"
    left = browser.run("""const s = document.getElementById('search'); s.value = 'conv'; s.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('#layers tbody tr')].filter(r => !r.hidden).map(r => r.textContent)""")
    assert left and all("conv" in t for t in left), f"search: {left}"
    browser.run("""const s = document.getElementById('search'); s.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
        s.value = ''; s.dispatchEvent(new Event('input'))""")
    assert "conv" in browser.run("return document.querySelector('#detail h3').textContent"), "Enter chooses no layer"
    browser.run("document.querySelector('#detail button').click()")

    browser.scheme("dark")
    dark = browser.grid()
    mean = [sum(map(sum, g)) / sum(map(len, g)) for g in (light, dark)]
    assert mean[0] > 200 and mean[1] < 80, f"mean luminance: light {mean[0]:.0f}, dark {mean[1]:.0f}"
    log = browser.post("/se/log", {"type": "browser"})
    assert not log, f"on the console: {log}"
    loaded = browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert not loaded, f"loaded: {loaded}"
    assert not browser.run("return window.hit === 1 || document.querySelector('img') !== null"), "a name was executed"

    if os.environ.get("UPDATE"):
        pathlib.Path(grid).write_text("\n".join(" ".join(f"{v:02x}" for v in row) for row in light) + "\n", encoding="ascii")
    kept = [[int(v, 16) for v in row.split()] for row in pathlib.Path(grid).read_text(encoding="ascii").splitlines()]
    far, taller = difference(light, kept)
    assert far < 6 and taller < 0.06, f"screenshot: {far:.1f} of 255 off in the mean, height {100 * taller:.0f} % off"
    print(f"as expected; screenshot {far:.1f} of 255 off, height {100 * taller:.0f} %")


def narrow(browser):
    """At 700 pixels per hint states that there are more columns, and they can be scrolled into view."""
    shown = "return document.querySelector('#layers .more').getClientRects().length > 0"
    last = """const s = document.querySelector('#layers .scroll'), b = s.getBoundingClientRect();
        s.scrollLeft = %d;
        return [...s.querySelectorAll('th')].at(-1).getBoundingClientRect().left < b.right - 60"""
    assert not browser.run(shown), "a hint to scroll a table that is whole"
    browser.width(700)
    for _ in range(100): # until the page has heard of it
        if browser.run(shown):
            break
        time.sleep(0.05)
    assert browser.run(shown), "no hint to scroll the table at 700 pixels"
    assert not browser.run(last % 0), "the table is not wider than 700 pixels"
    assert browser.run(last % 9999), "the last column cannot be scrolled to"


def blocks(browser, page):
    browser.post("/url", {"url": pathlib.Path(page).resolve().as_uri()})
    most, named = browser.run("""const d = [...document.querySelectorAll('#drawing details')];
        return [Math.max(...d.map(e => e.querySelectorAll('.node').length)), d.filter(e => / layers, .* of the time/.test(
            e.querySelector('summary').textContent)).length === d.length && d.length > 4]""")
    assert named and most <= 12, f"blocks: up to {most} layers, named: {named}"
    hidden = browser.run("""const n = [...document.querySelectorAll('#drawing .node')].at(-1);
        const before = n.checkVisibility(); choose(Number(n.id.slice(5)));
        return [before, n.checkVisibility(), n.classList.contains('chosen')]""")
    assert hidden == [False, True, True], f"a layer that is chosen: {hidden}"
    browser.run("""document.querySelector('#detail button').click();
        document.querySelector('#drawing .node').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))""")
    assert browser.run("return !document.getElementById('detail').hidden"), "Enter on a box shows no layer"
    print("as expected")


def accessible(browser, page, axe):
    browser.post("/url", {"url": pathlib.Path(page).resolve().as_uri()})
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.run(pathlib.Path(axe).read_text(encoding="utf-8"))
        browser.run("""axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']}).then(r => { window.said = r.violations.map(
            v => v.id + ': ' + v.nodes.length + ' of ' + v.nodes[0].html.slice(0, 120)); window.passed = r.passes.length; });""")
        for _ in range(400):
            said = browser.run("return window.said")
            if said is not None:
                break
            time.sleep(0.1)
        assert said == [], f"{page}, {scheme}: {said}"
        assert browser.run("return window.passed") > 10, "axe-core ran few rules"
        browser.run("window.said = null")


def headline(browser, folder):
    """The page's cycles of an inference equal those of the text's "in all"; figures not measured are called estimates."""
    text = (folder / "report.txt").read_text(encoding="utf-8")
    about, in_all = re.search(r": (about )?([\d.]+) in all", text).groups()
    browser.post("/url", {"url": (folder / "report.html").resolve().as_uri()})
    label, value = browser.run("""return [...document.querySelectorAll('.figure')].map(f => [f.children[0].textContent,
        f.children[1].textContent]).find(f => f[0].startsWith('Cycles of an inference'))""")
    value = re.sub(r"\D", "", value)
    assert abs(float(value) - float(in_all)) <= 0.5, f"{folder}: page {value}, report.txt {in_all}"
    assert label.endswith("estimate") == bool(about), f"{folder}: {label}, report.txt: {about}{in_all}"
    keys = browser.run("return document.querySelector('#layers .key').textContent")
    measured = re.search(r"about \d+ cycles each on the accelerator|none on the accelerator", text) is None
    assert ("measured" in keys) == measured, f"{folder}: {keys}"
    bars = browser.run("""return rows.filter(r => !r.member && !known(r.of.cycles) && r.of.estimated_cycles).length
        === document.querySelectorAll('#layers .guess').length""")
    assert bars, f"{folder}: an estimate is drawn as measured, or the other way round"
    print(f"{folder}: {label} {value}")


def main(page, *more):
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            print(f"SKIPPED: {program} is not installed")
            return 77
    browser = Browser()
    try:
        if page == "--blocks":
            blocks(browser, *more)
        elif page == "--axe":
            for each in more[1:]:
                accessible(browser, each, more[0])
        elif more:
            check(browser, page, *more)
            narrow(browser)
        else:
            for folder in sorted(pathlib.Path(page).iterdir()):
                headline(browser, folder)
    finally:
        browser.close()
    return 0


sys.exit(main(*sys.argv[1:]))
