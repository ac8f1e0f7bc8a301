"""Helpers of tests in a browser: chromium, Jupyter servers with the extension, screenshots for the documentation."""

import contextlib
import functools
import importlib.util
import inspect
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from forked_kernels import Kernels
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "extensions" / "jupyterlab-msnb"
CHROMIUM = os.environ.get("MSNB_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = "no chromium found: the tests in a browser did not run (apt-get install chromium)"
TOKEN = "msnb"
PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}  # of a notebook


def missing(message):
    """Skip on a user's machine; in continuous integration what is missing is a failure."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def chromium():
    """One running chromium; a machine without one skips, and `conftest.py` says so in one loud line."""
    if CHROMIUM is None:
        missing(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=180000)
        yield running
        running.close()


class Window:
    """A page that shows one file after the other: a new page for each would take a second of CPU time.

    Args:
        browser (Browser): The result of `chromium`.
        script (str): Runs in each document before its own; None for none.

    Attributes:
        asked (list): Addresses in the network that a document asked for, in vain.
        faults (list): Errors and complaints of the pages.
    """

    def __init__(self, browser, script=None):
        self.page, self.asked, self.faults = browser.new_page(), [], []
        self.page.route("http*://**", lambda route: (self.asked.append(route.request.url), route.abort()))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.set_default_timeout(60000)
        if script is not None:
            self.page.add_init_script(script)

    def show(self, path, ready, width, height, dark):
        """Return the page with a file in it, once there is what the selector `ready` says."""
        page = self.page
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto("about:blank")  # also a file that is shown again is loaded again
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        return page

    def complaints(self):
        """Return requests to the network and errors since the last call."""
        results = [*self.asked, *self.faults]
        self.asked.clear()
        self.faults.clear()
        return results


def until(page, holds, tries=1200):
    """Look at a page again and again until `holds()` is true; a busy machine is given a minute."""
    for _ in range(tries):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("This does not come true: " + inspect.getsource(holds).strip())


def frames(page):
    """Wait until the page has drawn what it was going to draw: views do so when the browser asks for the next frame."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


DRAWS = os.environ.get("MSNB_DOCS") == "1"


def picture(target, name, folder, docs=True, **options):
    """With MSNB_DOCS=1 in the environment a screenshot, the one in docs/images, or one of those that nobody prints, in
    `folder`. Without it none, which takes chromium half a second without a graphics card.
    """
    if DRAWS:
        target.screenshot(path=(ROOT / "docs" / "images" if docs else Path(folder)) / f"{name}.png", **options)


def paper(image):
    """Brightness of what a picture is drawn on, 0 to 255; `image` is its element on a page."""
    shot = Image.open(io.BytesIO(image.screenshot())).convert("L")
    return shot.getpixel((6, shot.height // 2))


def needs(module):
    """Skip, loudly, where a front end is not installed."""
    if importlib.util.find_spec(module) is None:
        missing(f"{module} is not installed: its tests did not run (pip install {module})")


class Jupyter:
    """A server of JupyterLab and Notebook 7 with the extension; to start one takes five seconds, and tests share it.

    Args:
        home (Path): An empty folder.

    Attributes:
        address (str): Where it is.
    """

    def __init__(self, home):
        self.home = home
        (home / "share" / "labextensions").mkdir(parents=True)
        (home / "share" / "labextensions" / "jupyterlab-msnb").symlink_to(EXTENSION / "labextension")
        kernel = home / "share" / "kernels" / "python3"
        kernel.mkdir(parents=True)
        self.kernels = Kernels() if hasattr(os, "fork") else None
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        argv = self.kernels.argv if self.kernels else argv
        (kernel / "kernel.json").write_text(
            json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"})
        )
        quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
        (home / "config" / "labconfig").mkdir(parents=True)
        (home / "config" / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(quiet))
        (home / "work").mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.process = self._started(port)
        self._wait()
        if self.kernels:
            self.kernels.ready()

    def _started(self, port):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_PATH": str(self.home / "share"),
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "IPYTHONDIR": str(self.home / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
        }
        options = [
            "--no-browser",
            "--allow-root",
            f"--port={port}",
            "--ServerApp.ip=127.0.0.1",
            f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={self.home / 'work'}",
            "--LabApp.news_url=",
            "--LabApp.expose_app_in_browser=True",
        ]
        with open(self.home / "log", "w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *options], env=environment, stdout=log, stderr=log, cwd=self.home
            )

    def _wait(self):
        for _ in range(900):  # three minutes at least
            try:
                self._ask("")
                return
            except OSError:
                time.sleep(0.2)
        self.close()
        pytest.fail((self.home / "log").read_text()[-2000:])

    def _ask(self, what, method="GET"):
        """Return the answer of the server under /api, as text."""
        asked = urllib.request.Request(
            f"{self.address}/api{what}", method=method, headers={"Authorization": f"token {TOKEN}"}
        )
        return urllib.request.urlopen(asked, timeout=60).read().decode()

    def _end(self, what):
        """Delete a session or a kernel; one that is just being restarted answers with an error until it runs."""
        for attempt in range(100):
            try:
                self._ask(what, "DELETE")
                return
            except urllib.error.HTTPError as error:
                if error.code == 404:  # it went with its session
                    return
                if error.code != 500 or attempt == 99:
                    raise
                time.sleep(0.2)

    @contextlib.contextmanager
    def project(self, folder, name, notebooks):
        """Yield a folder `name` of the server with notebooks, {file name: [text of a cell]}; `folder / "work"` leads to
        it.

        Within, nothing else is there: no kernel of another test, and no setting that one has changed.
        """
        place = self.home / "work" / name
        place.mkdir()
        (folder / "work").symlink_to(place)
        for file, cells in notebooks.items():
            nbformat.write(new_notebook(cells=[new_code_cell(text) for text in cells], metadata=PYTHON), place / file)
        try:
            yield
        finally:
            for kind in ("sessions", "kernels"):
                for one in json.loads(self._ask(f"/{kind}")):
                    self._end(f"/{kind}/{one['id']}")
            for changed in ("user-settings", "workspaces"):
                shutil.rmtree(self.home / "config" / "lab" / changed, ignore_errors=True)
            shutil.rmtree(place, ignore_errors=True)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:  # its kernels take their time on a busy machine
            self.process.kill()
            self.process.wait()
        if self.kernels:
            self.kernels.close()


def kernels(page):
    """States of the kernels that the server of a page has."""
    server = "/".join(page.url.split("/")[:3])
    return [k["execution_state"] for k in json.load(urllib.request.urlopen(f"{server}/api/kernels?token={TOKEN}"))]


def menu(page, *path):
    """Choose from the menu bar. A plugin that registers late redraws the open menu: open it again."""
    for _ in range(12):
        page.click(f'li.lm-MenuBar-item:has-text("{path[0]}")')
        if all(comes(page.hover, f'.lm-Menu-item:has-text("{item}")') for item in path[1:-1]) and comes(
            page.click, f'.lm-Menu-item:has-text("{path[-1]}")'
        ):
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"The menu never had {' > '.join(path)}.")


def comes(wait, *arguments, **options):
    """Check that an event of one of Playwright's methods arrives within five seconds; if not, request it again."""
    try:
        wait(*arguments, timeout=5000, **options)
        return True
    except Exception as error:  # Playwright's own, which is not imported where it is missing
        if type(error).__name__ != "TimeoutError":
            raise
        return False


def run_all(page):
    """Run every cell. A front end whose kernel is not connected yet takes the command and does nothing: ask again."""
    begun = "() => /[0-9*]/.test(document.querySelector('.jp-CodeCell .jp-InputPrompt').innerText)"
    for _ in range(20):
        menu(page, "Run", "Run All Cells")
        if comes(page.wait_for_function, begun):
            return
    raise AssertionError("The cells do not run: the front end has no kernel.")


def palette(page, words, label):
    """Return the input of the command palette, once it lists the command `label` among what is found for `words`.

    A busy front end takes the shortcut before it has one, or opens the palette and gives it the focus later.
    """
    field = page.locator(".lm-CommandPalette-input")
    for _ in range(20):
        if not field.is_visible():
            page.keyboard.press("Control+Shift+C")
        if comes(field.fill, words) and comes(
            page.wait_for_selector, f'.lm-CommandPalette-itemLabel:has-text("{label}")'
        ):
            return field
    raise AssertionError(f"The command palette does not list {label!r}.")


def large_page(browser, height=1000):
    """Return a page that a front end fits on. It is looked at ten times a second; by default each look draws a
    frame."""
    page = browser.new_page(viewport={"width": 1500, "height": height})
    page.set_default_timeout(90000)
    page.wait_for_function = functools.partial(page.wait_for_function, polling=100)
    return page


def strangers(page, address):
    """Return a list that gets every address that the page asks for, from now on, and that is not of this server."""
    asked, own = [], (address, address.replace("http", "ws", 1), "blob:", "data:", "about:")
    page.on("request", lambda request: None if request.url.startswith(own) else asked.append(request.url))
    return asked


def opened(browser, url, ready, height=1000):
    """Return a page with a notebook in JupyterLab whose cells have run; `ready` is the selector of what they show."""
    page = large_page(browser, height)
    page.goto(f"{url}&reset")  # no other notebook, which a test before has left open
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    run_all(page)
    page.wait_for_selector(ready)
    return page


OPEN = """async path => {
    for (const shown of [...jupyterapp.shell.widgets('main')]) shown.dispose();
    await jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'}); }"""


def instead(page, path):
    """Open another notebook of the server in a JupyterLab that is there, in place of all that it shows: the front end
    is loaded once for several, which takes it some seconds.
    """
    page.evaluate(OPEN, path)


def line(where, text):
    """Return the first line of an editor that holds `text`, on a page or in a cell."""
    return where.locator(f'.cm-line:has-text("{text}")').first


# whether an editor has the focus, with its cursor behind the last character of a line that holds a text
BEHIND = """text => { const at = getSelection(), here = at.focusNode, rest = document.createRange();
    const line = (here?.nodeType === Node.TEXT_NODE ? here.parentElement : here)?.closest('.cm-line');
    if (!line?.textContent.includes(text) || !document.activeElement.contains(line)) return false;
    if (document.activeElement === document.body) return false;
    rest.setStart(here, at.focusOffset); rest.setEndAfter(line); return rest.toString() === ''; }"""


def behind(page, text, cell=None):
    """Put the cursor behind the first line, of all or of one cell, that holds `text`; what is typed then goes there."""
    for _ in range(20):
        line(cell or page, text).click()
        page.keyboard.press("End")
        if comes(page.wait_for_function, BEHIND, arg=text):
            return
    raise AssertionError(f"The cursor does not come to the line {text!r}.")


# Unreadable items of an element: texts that hardly differ from what is behind them (WCAG 2.1 asks for 4.5, for large
# ones 3), and things to press or to fill in without a name.
UNREADABLE = """root => {
    const numbers = text => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4),
        colour = text => text.startsWith('color(') ? numbers(text).map((v, i) => i < 3 ? 255 * v : v) : numbers(text),
        over = ([r, g, b, a], [s, h, c]) => [r * a + s * (1 - a), g * a + h * (1 - a), b * a + c * (1 - a)],
        above = one => one.parentElement ?? one.getRootNode().host;
    const behind = one => {
        const layers = [];
        for (let at = one; at; at = above(at))
            for (const part of at.matches('.msnb-view') ? ['::before', null] : [null]) {
                layers.push(colour(getComputedStyle(at, part).backgroundColor));
                if (layers.at(-1)[3] === 1) return layers.reverse().reduce((low, high) => over(high, low));
            }
        return layers.reverse().reduce((low, high) => over(high, low), [255, 255, 255]);
    };
    const light = rgb => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
        const v = rgb[i] / 255;
        return sum + share * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    }, 0);
    const things = 'button, input, select, textarea, a[href], [tabindex="0"], [role=tab], [role=img]',
        left = '[aria-hidden=true], style, script, option', found = new Set();
    for (const one of root.querySelectorAll('*')) {
        if (!one.checkVisibility({visibilityProperty: true}) || one.closest(left)) continue;
        const said = `<${one.tagName.toLowerCase()} class="${one.getAttribute('class')}"> ${one.textContent.trim()}`;
        const by = one.getRootNode().getElementById(one.getAttribute('aria-labelledby'));
        if (one.matches(things) && ![one.getAttribute('aria-label'), one.closest('label')?.textContent, one.textContent,
            one.title, by?.textContent].some(name => name?.trim())) found.add(`no name: ${said}`);
        if (one.disabled || ![...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
        const style = getComputedStyle(one), paper = behind(one),
            ink = colour(one.closest('svg') ? style.fill : style.color);
        for (let at = one; at; at = above(at)) ink[3] *= getComputedStyle(at).opacity;
        const [low, high] = [light(over(ink, paper)), light(paper)].sort((a, b) => a - b),
            size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < (large ? 3 : 4.5)) found.add(`${contrast.toFixed(2)}: ${said.slice(0, 90)}`);
    }
    return [...found];
}"""


def unreadable(view):
    """Return the accessibility problems of a view as sentences. `view` is its locator."""
    return view.evaluate(UNREADABLE)
