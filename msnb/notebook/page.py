"""The forms in which a view reaches its reader: a page of its own, a frame around that page, a notebook's bundle."""

import base64
import functools
import gzip
import html
import json
import pathlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb._atomic import writing

FILLS = "html,body{margin:0;height:100%;background:transparent}#view,#view>div{height:100%!important}"


@functools.cache
def text_of(path):
    """Text of a file of a view, read once."""
    return path.read_text(encoding="utf-8")


@functools.cache
def packed(path):
    """The file as gzipped bytes: a third of its size in every saved notebook, and the same in every run."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


def page(title: str, module: Path, parts: dict[str, bytes], draw: str, style: str = FILLS) -> str:
    """A page that needs no kernel, no network and no other file.

    Args:
        title (str): of the page.
        module (Path): the ES module that the widget uses as well.
        parts (dict[str, bytes]): what the page carries; `draw` finds it as ``parts.<name>``, in base64.
        draw (str): JavaScript that draws into ``view`` with the exports of the module, ``made``. ``bytes(text)``
            decodes base64.
        style (str): CSS. Default: the view fills the page.

    Returns:
        str, HTML.
    """
    carried = {name: base64.b64encode(part).decode() for name, part in {**parts, "code": packed(module)}.items()}
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<style>{style}</style><body><div id="view"></div><script type="module">'
        f"const parts={json.dumps(carried)};"
        "const bytes=text=>Uint8Array.from(atob(text),c=>c.charCodeAt(0));"
        "const source=await new Response(new Blob([bytes(parts.code)]).stream()"
        '.pipeThrough(new DecompressionStream("gzip"))).text();'
        'const made=await import(URL.createObjectURL(new Blob([source],{type:"text/javascript"})));'
        f'const view=document.getElementById("view");{draw}'
        "</script></body></html>"
    )


def frame(content: str, title: str, height: int) -> str:
    """A page inside an iframe of its own, which neither sees nor disturbs the notebook around it."""
    return (
        f'<iframe srcdoc="{html.escape(content, quote=True)}" sandbox="allow-scripts allow-downloads" '
        f'allow="clipboard-write; fullscreen" title="{html.escape(title, quote=True)}" '
        f'style="width:100%;height:{height}px;border:0;display:block"></iframe>'
    )


def bundle(widget: Any, plain: str, picture: str | None, framed: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a notebook shows and keeps: the widget where there is one, the page, the picture, and a line of text."""
    data = {}
    if widget is not None:
        made = widget._repr_mimebundle_()
        data.update((made[0] if isinstance(made, tuple) else made) or {})
    data.update({"text/plain": plain, "image/svg+xml": picture, "text/html": framed})
    return data, {}


def save(path: str | Path, makers: dict[str, Callable[..., Any]], who: str) -> None:
    """Write a form of a view to a file.

    Args:
        path (Union[str, Path]): where to.
        makers (dict[str, Callable]): suffix -> what makes the text.
        who (str): class of the view, for the error.

    Raises:
        ValueError: If the suffix is none of these.
    """
    path = pathlib.Path(path)
    if path.suffix not in makers:
        raise ValueError(f"For '{who}.save', 'path' should end in one of {', '.join(makers)}, but got '{path}'.")
    text = makers[path.suffix]()
    with writing(path, "w", encoding="utf-8") as file:
        file.write(text)
