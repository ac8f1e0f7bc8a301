"""`Page`: a view as a standalone HTML page, with the scripts and styles that it needs."""

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
# This script reports the height of a page's content to the window that embeds the page.
_ENDS = (
    "new ResizeObserver(()=>parent.postMessage("
    '{height:Math.ceil(document.body.getBoundingClientRect().height)},"*")).observe(document.body);'
)
# A page that is embedded follows the theme of the window around it, which `wake.js` sends.
_THEME = "html[data-theme=dark]{color-scheme:dark}html[data-theme=light]{color-scheme:light}"
_FOLLOWS = (
    'addEventListener("message",({source,data})=>{'
    "if(source===parent&&data.theme)document.documentElement.dataset.theme=data.theme});"
)
# Style of the heading, which is invisible but read by screen readers.
_SCREEN_READER_ONLY = "h1{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)}"


@functools.cache
def text_of(path):
    """Return the text of a file of a view, cached."""
    return path.read_text(encoding="utf-8")


@functools.cache
def packed(path):
    """Return a file's gzipped bytes, the same in every run. Gzip reduces the files in saved notebooks to a third."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


class Page:
    """An HTML page that shows a view and needs no kernel, no network and no other file.

    Args:
        title (str): title of the page.
        module (Path): the ES module, which the widget uses as well.
        parts (dict[str, Union[bytes, Path]]): data embedded in the page in base64. `draw` accesses it as
            ``parts.<name>``. A Path is a gzipped file that several pages share.
        draw (str): JavaScript expression that draws into the element ``view`` and returns the view, or a promise of it.
            ``made`` is the imported module, and ``bytes(text)`` decodes base64.
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
        """Return the page with all its files, str."""
        return self._build_html(lambda path: base64.b64encode(packed(path)).decode())

    def loose(self) -> str:
        """Return the page, str, with ``@msnb:NAME`` in place of each shared file."""
        return self._build_html(lambda path: f"@msnb:{_format_versioned_name(path)}")

    def shared(self) -> dict[str, bytes]:
        """Return {name: gzipped bytes} of the files that other pages share."""
        return {
            _format_versioned_name(part): packed(part) for part in self.parts.values() if isinstance(part, pathlib.Path)
        }

    def _build_html(self, of_file):
        embedded = {
            name: of_file(part) if isinstance(part, pathlib.Path) else base64.b64encode(part).decode()
            for name, part in self.parts.items()
        }
        # The page is transparent until the view has drawn. Then it posts a message to the embedding window, which
        # removes the still picture behind the page.
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f"<title>{html.escape(self.title)}</title>"
            f"<style>{self.style}{_THEME}{_SCREEN_READER_ONLY}</style><body><main><h1>{html.escape(self.title)}</h1>"
            '<div id="view"></div></main><script type="module">'
            f"const parts={json.dumps(embedded)};"
            "const bytes=text=>Uint8Array.from(atob(text),c=>c.charCodeAt(0));"
            "const unpacked=text=>new Response(new Blob([bytes(text)]).stream()"
            f'.pipeThrough(new DecompressionStream("gzip"))).text();{_FOLLOWS}'
            "if(parts.sheet)document.head.append(Object.assign(document.createElement('style'),"
            "{textContent:await unpacked(parts.sheet)}));"
            "const made=await import(URL.createObjectURL("
            'new Blob([await unpacked(parts.code)],{type:"text/javascript"})));'
            f'const view=document.getElementById("view");const drawn=await {self.draw};'
            f"await (drawn.app??drawn).ready;{'' if self.style is FILLS else _ENDS}"
            'requestAnimationFrame(()=>requestAnimationFrame(()=>parent.postMessage("msnb:drawn","*")));'
            "</script></body></html>"
        )


# Pattern of the call that draws a view. For safety it only allows exports of the page's module and its own `parts`.
_DRAW = r"made\.(?:still|mount)\(view,(?:parts\.\w+,?|\{(?:\w+:bytes\(parts\.\w+\),?)*\})*\)"
_WRITTEN = re.compile(
    r"<title>(?P<title>[^<]*)</title><style>(?P<style>[^<]*)</style>.*?<script type=\"module\">const parts="
    rf"(?P<parts>\{{[^<]*?\}});const bytes=.*?const drawn=await (?P<draw>{_DRAW});",
    re.DOTALL,
)
_SHARED = re.compile(r"@msnb:(\w+-\w+)-[0-9a-f]{8}")
_CODE = ("code", "module", "sheet")  # parts with code or styles
_GROWS = "html,body{margin:0;background:transparent}"  # style of pages whose height is that of their content


@functools.cache
def _list_shared_file_paths():
    """Return {name without version: path} of the shared files of msnb's pages."""
    folder = pathlib.Path(__file__).parents[1]  # `notebook`, which has a folder for each view
    paths = [*folder.glob("*/widget.js"), *folder.glob("*/style.css")]
    return {f"{path.parent.name}-{path.stem}": path for path in paths}


def _decode_page_data(text):
    """Return this installation's file for a shared part, ignoring its version, or the decoded bytes of a data part."""
    shared = _SHARED.fullmatch(text)
    return _list_shared_file_paths()[shared[1]] if shared else base64.b64decode(text, validate=True)


def rebuild(loose: str) -> Page | None:
    """Parse the output of `Page.loose` and return the page, with this installation's code and the data of `loose`.

    Args:
        loose (str): Text that claims to be such a page. It may come from anywhere.

    Returns:
        Page. The title, bytes, and the name of a view's function come from `loose`; all code comes from this
        installation. None if `loose` does not have the form that msnb writes.
    """
    written = _WRITTEN.search(loose)
    if written is None:
        return None
    try:
        parts = {name: _decode_page_data(text) for name, text in json.loads(written["parts"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    if any(not isinstance(parts.get(name, b""), pathlib.Path) and parts.get(name) for name in _CODE):
        return None
    module, sheet = parts.pop("code", None), parts.pop("sheet", None)
    if not isinstance(module, pathlib.Path):
        return None
    style = FILLS if "#view" in written["style"] else _GROWS
    return Page(html.unescape(written["title"]), module, parts, written["draw"], style, sheet or None)


def _format_versioned_name(path):
    """Return the name of a shared file, which includes its version."""
    return f"{path.parent.name}-{path.stem}-{hashlib.sha256(packed(path)).hexdigest()[:8]}"


def save(path: str | Path, makers: dict[str, Callable[..., Any]], who: str) -> None:
    """Write a view to a file in one of its formats. A view with SVG can be saved as PNG too.

    Args:
        path (Union[str, Path]): path of the file.
        makers (dict[str, Callable]): suffix -> function that returns the text or bytes.
        who (str): class of the view, for the error message.

    Raises:
        ValueError: If the suffix is not in `makers`.
    """
    path = pathlib.Path(path)
    if ".svg" in makers:
        makers = {**makers, ".png": lambda: to_png(makers[".svg"]())}
    if path.suffix.lower() not in makers:
        raise ValueError(f"For '{who}.save', 'path' should end in one of {', '.join(makers)}, but got '{path}'.")
    content = makers[path.suffix.lower()]()
    with writing(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode())
