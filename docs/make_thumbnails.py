"""Draw a small picture of each tutorial, from the outputs that its notebook stores: `python docs/make_thumbnails.py`.

The picture is the output of the cell with the tag `thumbnail`, or the largest that the notebook has. Needs Playwright
and Chromium. A notebook without pictures gets none.
"""

import json
import re
import sys
from html import unescape
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "notebook")]

from browsing import chromium  # noqa: E402 - its folder joins the path above

FOLDER = ROOT / "msnb" / "_data" / "thumbnails"
WIDTH, HEIGHT = 320, 200
# A plot is centred. A graph or table begins at the top and is cut off below.
FRAME = "<body style='margin:0;background:#fff;height:100vh;display:grid;place-items:{}'><img src='{}' style='{}'>"
PLOT = ("center", "width:100vw;height:100vh;object-fit:contain")
VIEW = ("start center", "max-width:100vw")


def list_pictures(path):
    """Return [(is tagged, address)] of the pictures that a notebook stores."""
    pictures = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        is_tagged = "thumbnail" in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in ("image/png", "image/jpeg"):
                if kind in data:
                    pictures.append((is_tagged, f"data:{kind};base64," + "".join(data[kind]).replace("\n", "")))
            for address in re.findall(r'<img[^>]*?src="(data:image/svg[^"]*)"', "".join(data.get("text/html", ""))):
                pictures.append((is_tagged, unescape(address)))
    return pictures


def draw(page, address):
    """Return a picture as WebP of 320 x 200 pixels."""
    place, style = VIEW if address.startswith("data:image/svg") else PLOT
    page.set_content(FRAME.format(place, address.replace("'", "%27"), style))
    page.wait_for_function("document.images[0].complete && document.images[0].naturalWidth > 0")
    pixels = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    pixels = cv2.resize(pixels, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    return cv2.imencode(".webp", pixels, [cv2.IMWRITE_WEBP_QUALITY, 75])[1].tobytes()


def main():
    FOLDER.mkdir(exist_ok=True)
    running = chromium()
    page = next(running).new_page(viewport={"width": 2 * WIDTH, "height": 2 * HEIGHT})
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        if pictures := list_pictures(path):
            _, address = max(pictures, key=lambda picture: (picture[0], len(picture[1])))
            (FOLDER / f"{path.name[:2]}.webp").write_bytes(draw(page, address))
    running.close()
    print(sum(path.stat().st_size for path in FOLDER.iterdir()) // 1000, "kB in", FOLDER)


if __name__ == "__main__":
    main()
