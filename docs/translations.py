"""Chinese pages and notebooks name the text that they translate: `translates: docs/install.md@<first 12 of sha256>`.

    python docs/translations.py                              # lists translations whose source has changed
    python docs/translations.py --renew docs/zh/install.md   # after a translator has looked: the hash of today

A notebook has the line in its metadata, and its hash covers the text and code of its cells.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"translates(?:: |\": \")(\S+?)@([0-9a-f]+)")
BANNER = "**本页译文早于英文版的最近一次修改**，以[英文版]({})为准。"


def list_translations():
    """Return the paths of all translations."""
    return [ROOT / "README_CN.md", *sorted(ROOT.glob("docs/zh/*.md")), *sorted(ROOT.glob("notebooks/zh/*.ipynb"))]


def hash_text(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_source(path):
    """Return (path of the text that a translation translates, whether that text has its hash)."""
    name, written = LINE.search(path.read_text(encoding="utf-8")).groups()
    return ROOT / name, hash_text(ROOT / name) == written


def write_banner(path, text):
    """Return a translation as Markdown or JSON, with a banner if its source has changed."""
    source, is_current = read_source(path)
    if is_current:
        return text
    depth = "../" * len(path.relative_to(ROOT).parts[:-1])
    banner = BANNER.format(depth + source.relative_to(ROOT).as_posix())
    if path.suffix == ".ipynb":
        notebook = json.loads(text)
        notebook["cells"][0]["source"] = "".join(notebook["cells"][0]["source"]) + f"\n\n{banner}"
        return json.dumps(notebook)
    heading = re.search(r"^# .*\n", text, re.M)
    return f"{text[: heading.end()]}\n:::{{warning}}\n{banner}\n:::\n{text[heading.end() :]}"


def renew(path):
    """Write the hash of the source as it is now."""
    text = path.read_text(encoding="utf-8")
    source, _ = read_source(path)
    match = LINE.search(text)
    path.write_text(text[: match.start(2)] + hash_text(source) + text[match.end(2) :], encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--renew"]:
        for name in sys.argv[2:]:
            renew(ROOT / name)
    for path in list_translations():
        if not read_source(path)[1]:
            print(path.relative_to(ROOT), "is older than", read_source(path)[0].relative_to(ROOT))
