"""Look at each page of the site in Chromium: light, dark, toggled, on a desktop and on 390 pixels.

    make docs && python docs/check_site.py [folder for screenshots [beginning of the paths to look at]]

Nothing may be asked of a network, go wrong, or be wider than the page, and each stored view has to be live.
"""

import contextlib
import functools
import http.server
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "notebook")]

from browsing import chromium  # noqa: E402 - its folder joins the path above

SIZES = (1300, 390)
SWITCH = "document.documentElement.dataset.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# One page of each kind. They are photographed, and `make bench` checks them alone.
SOURCES = ["docs/index.md", "docs/tutorials.md", "docs/from_torch.md", "docs/api/nn-c.rst"]
SOURCES += ["notebooks/02_reading_a_graph.ipynb"]
SAMPLE = [Path(source).with_suffix(".html").as_posix() for source in SOURCES]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def copyfile(self, source, outputfile):
        with contextlib.suppress(ConnectionError):  # a page was closed while it loaded
            super().copyfile(source, outputfile)


def start_server(site=SITE):
    """Serve the site on a free port. Returns its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def awaken(page):
    """Scroll to each view until it is live: a frame draws when it is seen. Returns how many are not."""
    lazy = page.locator(".lazy-view")
    for number in range(lazy.count()):
        lazy.nth(number).scroll_into_view_if_needed()
        page.wait_for_function("n => !document.querySelectorAll('.lazy-view')[n].querySelector('template')", arg=number)
    views = page.locator(".msnb-view")
    for number in range(views.count()):
        views.nth(number).scroll_into_view_if_needed()
        try:
            page.wait_for_function("n => document.querySelectorAll('.msnb-view')[n].matches('.live')", arg=number)
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
    return views.count() - page.locator(".msnb-view.live").count()


def read_themes(page):
    return {frame.evaluate("document.documentElement.dataset.theme") for frame in page.frames[1:]}


def check(browser, address, path, dark, width, pictures):
    """Return what is wrong with a page, as sentences."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    page, wrong = context.new_page(), []
    page.set_default_timeout(20000)
    own = (address, "blob:", "data:", "about:")
    page.on("request", lambda r: None if r.url.startswith(own) else wrong.append(f"asks {r.url}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(address + path)
    still, theme = awaken(page), "dark" if dark else "light"
    if still:
        wrong.append(f"{still} views are not live")
    if page.evaluate(WIDER) > 0:
        wrong.append(f"{page.evaluate(WIDER)} pixels wider than {width}")
    if not read_themes(page) <= {theme}:
        wrong.append(f"views are {read_themes(page)}, not {theme}")
    if pictures and path in SAMPLE:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=Path(pictures) / f"{path.replace('/', '_')}_{theme}_{width}.png")
    page.evaluate(SWITCH)
    page.wait_for_timeout(100)
    if read_themes(page) & {theme}:
        wrong.append("a view does not follow the switch of the theme")
    context.close()
    return wrong


def list_pages(site=SITE):
    files = [*site.glob("docs/**/*.html"), *site.glob("notebooks/**/*.html"), *site.glob("*.html")]
    return sorted(file.relative_to(site).as_posix() for file in files)


def check_pages(browser, address, paths, pictures=None):
    """Yield a line for each defect of the pages. Pages of the API are alike: each is looked at in two modes of four."""
    for path in paths:
        modes = [(dark, width) for dark in (False, True) for width in SIZES]
        for dark, width in modes[::3] if path.startswith("docs/api/") else modes:
            for sentence in check(browser, address, path, dark, width, pictures):
                yield f"{path}, {'dark' if dark else 'light'}, {width} px: {sentence}"


def main(pictures=None, beginning=""):
    running, failed = chromium(), False
    paths = [path for path in list_pages() if path.startswith(beginning)]
    for line in check_pages(next(running), start_server(), paths, pictures):
        print(line, flush=True)
        failed = True
    running.close()
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
