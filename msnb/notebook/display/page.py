"""A view as a page of its own and as a file."""

import base64
import functools
import gzip
import hashlib
import html
import json
import pathlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb._util.atomic_file import writing
from msnb.notebook.display.png import to_png

FILLS = "html,body,main{margin:0;height:100%;background:transparent}#view,#view>div{height:100%!important}"
# a page that does not says how high it is, to whoever has it in a frame
_ENDS = (
    "new ResizeObserver(()=>parent.postMessage("
    '{height:Math.ceil(document.body.getBoundingClientRect().height)},"*")).observe(document.body);'
)
# for screen readers alone
_HEARD = "h1{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)}"


@functools.cache
def text_of(path):
    """Text of a file of a view, read once."""
    return path.read_text(encoding="utf-8")


@functools.cache
def packed(path):
    """The file as gzipped bytes: a third of its size in every saved notebook, and the same in every run."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


class Page:
    """A page that needs no kernel, no network and no other file.

    Args:
        title (str): of the page.
        module (Path): the ES module that the widget uses as well.
        parts (dict[str, Union[bytes, Path]]): what the page carries; `draw` finds it as ``parts.<name>``, in base64. A
            Path is a file that other pages carry too; it is gzipped.
        draw (str): JavaScript expression that draws into ``view`` with the exports of the module, ``made``, and returns
            the view, or a promise of it. ``bytes(text)`` decodes base64.
        style (str): CSS. Default: the view fills the page.
        sheet (Path): a style sheet that other pages have too. Default: None.
    """

    def __init__(
        self,
        title: str,
        module: Path,
        parts: dict[str, bytes | Path],
        draw: str,
        style: str = FILLS,
        sheet: Path | None = None,
    ) -> None:
        self.title, self.draw, self.style = title, draw, style
        self.parts = {**parts, **({"sheet": sheet} if sheet else {}), "code": module}

    def html(self) -> str:
        """The whole page, str."""
        return self._text(lambda path: base64.b64encode(packed(path)).decode())

    def loose(self) -> str:
        """The page without the files that it shares with others: ``@msnb:NAME`` stands for each, str."""
        return self._text(lambda path: f"@msnb:{_name(path)}")

    def shared(self) -> dict[str, bytes]:
        """{name: gzipped bytes} of the files that it shares with other pages."""
        return {_name(part): packed(part) for part in self.parts.values() if isinstance(part, pathlib.Path)}

    def _text(self, of_file):
        carried = {
            name: of_file(part) if isinstance(part, pathlib.Path) else base64.b64encode(part).decode()
            for name, part in self.parts.items()
        }
        # the page stays transparent until it has drawn, and says so: the picture that it lies over goes then
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f"<title>{html.escape(self.title)}</title>"
            f"<style>{self.style}{_HEARD}</style><body><main><h1>{html.escape(self.title)}</h1>"
            '<div id="view"></div></main><script type="module">'
            f"const parts={json.dumps(carried)};"
            "const bytes=text=>Uint8Array.from(atob(text),c=>c.charCodeAt(0));"
            "const unpacked=text=>new Response(new Blob([bytes(text)]).stream()"
            '.pipeThrough(new DecompressionStream("gzip"))).text();'
            "if(parts.sheet)document.head.append(Object.assign(document.createElement('style'),"
            "{textContent:await unpacked(parts.sheet)}));"
            "const made=await import(URL.createObjectURL("
            'new Blob([await unpacked(parts.code)],{type:"text/javascript"})));'
            f'const view=document.getElementById("view");const drawn=await {self.draw};'
            f"await (drawn.app??drawn).ready;{'' if self.style is FILLS else _ENDS}"
            'requestAnimationFrame(()=>requestAnimationFrame(()=>parent.postMessage("msnb:drawn","*")));'
            "</script></body></html>"
        )


# what a page calls, in which nothing but the exports of its module and its own parts have a name
_DRAW = r"made\.(?:still|mount)\(view,(?:parts\.\w+,?|\{(?:\w+:bytes\(parts\.\w+\),?)*\})*\)"
_WRITTEN = re.compile(
    r"<title>(?P<title>[^<]*)</title><style>(?P<style>[^<]*)</style>.*?<script type=\"module\">const parts="
    rf"(?P<parts>\{{[^<]*?\}});const bytes=.*?const drawn=await (?P<draw>{_DRAW});",
    re.DOTALL,
)
_SHARED = re.compile(r"@msnb:(\w+-\w+)-[0-9a-f]{8}")
_CODE = ("code", "module", "sheet")  # parts that run or that style
_GROWS = "html,body{margin:0;background:transparent}"  # of a page that is as high as what it shows


@functools.cache
def _own_files():
    """{name without its version: path} of the files that pages of msnb share."""
    folder = pathlib.Path(__file__).parent
    paths = [*folder.glob("*/widget.js"), *folder.glob("*/style.css")]
    return {f"{path.parent.name}-{path.stem}": path for path in paths}


def _read_part(text):
    """The file of this installation that a part of a page names, in whatever version, or the bytes that it carries."""
    shared = _SHARED.fullmatch(text)
    return _own_files()[shared[1]] if shared else base64.b64decode(text, validate=True)


def rebuild(loose: str) -> Page | None:
    """Return the page that `Page.loose` has given, with the code of this installation and the data of that page.

    Args:
        loose (str): Text that claims to be such a page. It may come from anywhere.

    Returns:
        Page. Of `loose` it has a title, bytes, and the name of a function of the view; all that runs is this
        installation's. None where `loose` does not say these as msnb does.
    """
    written = _WRITTEN.search(loose)
    if written is None:
        return None
    try:
        parts = {name: _read_part(text) for name, text in json.loads(written["parts"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    if any(not isinstance(parts.get(name, b""), pathlib.Path) and parts.get(name) for name in _CODE):
        return None
    module, sheet = parts.pop("code", None), parts.pop("sheet", None)
    if not isinstance(module, pathlib.Path):
        return None
    style = FILLS if "#view" in written["style"] else _GROWS
    return Page(html.unescape(written["title"]), module, parts, written["draw"], style, sheet or None)


def _name(path):
    """What a shared file is called: another version of it has another name."""
    return f"{path.parent.name}-{path.stem}-{hashlib.sha256(packed(path)).hexdigest()[:8]}"


def save(path: str | Path, makers: dict[str, Callable[..., Any]], who: str) -> None:
    """Write a form of a view to a file; what can be an SVG can be a PNG too.

    Args:
        path (Union[str, Path]): where to.
        makers (dict[str, Callable]): suffix -> what makes the text, or the bytes.
        who (str): class of the view, for the error.

    Raises:
        ValueError: If the suffix is none of these.
    """
    path = pathlib.Path(path)
    if ".svg" in makers:
        makers = {**makers, ".png": lambda: to_png(makers[".svg"]())}
    if path.suffix.lower() not in makers:
        raise ValueError(f"For '{who}.save', 'path' should end in one of {', '.join(makers)}, but got '{path}'.")
    made = makers[path.suffix.lower()]()
    with writing(path) as file:
        file.write(made if isinstance(made, bytes) else made.encode())
