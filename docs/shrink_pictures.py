"""Store the pictures of executed notebooks with 256 colours, which halves most plots: run it after `nbconvert`.

    python docs/shrink_pictures.py notebooks/25_diffusion.ipynb ...

A picture stays as it is if it is small, has a palette already, or would not shrink by a quarter.
"""

import base64
import io
import json
import sys
from pathlib import Path

from PIL import Image

SMALL = 12_000  # bytes
LARGEST_SHARE = 0.75  # of the size before


def shrink_png(data):
    """Return the bytes of a PNG with at most 256 colours, or `data` if they are not much smaller."""
    image = Image.open(io.BytesIO(data))
    if len(data) < SMALL or image.mode == "P":
        return data
    image = image.convert("RGBA")
    if image.getextrema()[3][0] < 255:  # the only method that supports transparency
        reduced = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    else:
        reduced = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    file = io.BytesIO()
    reduced.save(file, "PNG", optimize=True)
    return file.getvalue() if len(file.getvalue()) < LARGEST_SHARE * len(data) else data


def shrink_notebook(path):
    """Rewrite a notebook with smaller pictures, and return the number of bytes that this saves."""
    before = path.read_text(encoding="utf-8")
    notebook = json.loads(before)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            png = output.get("data", {}).get("image/png")
            if isinstance(png, str):
                text = base64.b64encode(shrink_png(base64.b64decode(png))).decode()
                output["data"]["image/png"] = text + "\n" * png.endswith("\n")
    after = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n" * before.endswith("\n")
    if len(after) < len(before):
        path.write_text(after, encoding="utf-8")
    return len(before) - len(after)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {shrink_notebook(Path(name)):,} bytes less")
