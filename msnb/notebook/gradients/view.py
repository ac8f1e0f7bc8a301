"""The gradients of a training as a notebook shows them: live widget, self-contained page, still picture, text."""
import base64
import functools
import gzip
import html
import json
import pathlib

from msnb.insight.gradients.monitor import GradientMonitor as _Monitor
from msnb.insight.gradients.recording import Recording
from msnb.notebook.gradients.payload import pack
from msnb.notebook.gradients.picture import to_svg
from msnb.notebook.gradients.text import to_text
from msnb.notebook.graph import cells, outputs
from msnb.notebook.graph.view import GraphView

_HERE = pathlib.Path(__file__).parent
_GRAPH_MODULE = _HERE.parent / "graph" / "widget.js"
_HEIGHT = 620
_SAVED_GRAPH = 5000  # nodes; a larger graph is shown by `view(net, x)`, not inside this view


class GradientMonitor(_Monitor):
    __doc__ = _Monitor.__doc__

    def view(self, height=_HEIGHT):
        """What was recorded so far, to look at in a notebook.

        Args:
            height (int): height in pixels. Default: 620.

        Returns:
            GradientView.
        """
        return GradientView(self.recording, height)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.view()._repr_mimebundle_(include, exclude)


class GradientView:
    """A recording to look at: what is wrong, in words; the gradient over the layers; every number of every step as a
    table, on the graph and as tensors, with a slider over the steps.

    Args:
        recording (Recording): what `GradientMonitor` or `inspect_gradients` recorded.
        height (int): height in pixels. Default: 620.

    Raises:
        TypeError: If `recording` is none.
        ValueError: If `height` is not a positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, recording, height=_HEIGHT):
        if not isinstance(recording, Recording):
            raise TypeError(f"For 'GradientView', 'recording' should be a Recording, but got "
                            f"{type(recording).__name__}.")
        if isinstance(height, bool) or not isinstance(height, int) or height < 1:
            raise ValueError(f"For 'GradientView', 'height' should be a positive int (pixels), but got {height!r}.")
        self.recording, self.height = recording, height
        self.findings = recording.findings()
        self._payload = self._graph = self._widget = None

    @property
    def payload(self):
        """The bytes that the view is drawn from."""
        if self._payload is None:
            self._payload = pack(self.recording, self.findings)
        return self._payload

    @property
    def graph_payload(self):
        """The bytes of the program's graph, empty where there is none."""
        if self._graph is None:
            graph = self.recording.graph
            self._graph = GraphView(graph).payload if graph is not None and len(graph) <= _SAVED_GRAPH else b""
        return self._graph

    @property
    def widget(self):
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = _widget_class()
            if kind is not None:
                self._widget = kind(payload=self.payload, graph=self.graph_payload, height=self.height,
                                    module=_packed(_GRAPH_MODULE) if self.graph_payload else b"", cells=cells.ids())
        return self._widget

    def close(self):
        """Take the view away and free what it holds; its saved form stays."""
        outputs.forget(self)
        if self._widget is not None:
            self._widget.close()
            self._widget = None

    def __repr__(self):
        return to_text(self.recording, self.findings)

    def svg(self):
        """A still picture: the findings, the gradient over the layers, and the table of the last step."""
        return to_svg(self.recording, self.findings)

    def html(self):
        """The interactive view as a page that needs no kernel, no network and no other file."""
        return _page(self.payload, self.graph_payload)

    def save(self, path):
        """Write the view to a file: .html (interactive), .svg or .txt, by its suffix.

        Args:
            path (str): where to.

        Raises:
            ValueError: If the suffix is none of these.
        """
        path = pathlib.Path(path)
        makers = {".html": self.html, ".svg": self.svg, ".txt": self.__repr__}
        if path.suffix not in makers:
            raise ValueError(f"For 'GradientView.save', 'path' should end in one of {', '.join(makers)}, but got "
                             f"'{path}'.")
        path.write_text(makers[path.suffix](), encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None):
        outputs.remember(self)
        data = {}
        if self.widget is not None:
            bundle = self.widget._repr_mimebundle_()
            data.update((bundle[0] if isinstance(bundle, tuple) else bundle) or {})
        data.update({"text/plain": repr(self), "image/svg+xml": self.svg(), "text/html": self._frame()})
        return data, {}

    def _frame(self):
        """The page inside an iframe of its own, which neither sees nor disturbs the notebook around it."""
        return (f'<iframe srcdoc="{html.escape(self.html(), quote=True)}" sandbox="allow-scripts" allow="fullscreen" '
                f'title="gradients" style="width:100%;height:{self.height}px;border:0;display:block"></iframe>')


@functools.cache
def _text(name):
    return (_HERE / name).read_text(encoding="utf-8")


@functools.cache
def _packed(path):
    return gzip.compress(path.read_bytes(), 9, mtime=0)


def _page(payload, graph):
    """A page that unpacks the same ES modules the widget uses, and draws the payload with them."""
    parts = {"data": payload, "code": _packed(_HERE / "widget.js"), "graph": graph,
             "module": _packed(_GRAPH_MODULE) if graph else b""}
    carried = {name: base64.b64encode(part).decode() for name, part in parts.items()}
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>gradients</title>'
        f"<style>html,body{{margin:0;height:100%;background:transparent}}#view,#view>div{{height:100%!important}}"
        f"{_text('style.css')}</style>"
        '<body><div id="view"></div><script type="module">'
        f"const parts={json.dumps(carried)};"
        "const bytes=t=>Uint8Array.from(atob(t),c=>c.charCodeAt(0));"
        "const source=await new Response(new Blob([bytes(parts.code)]).stream()"
        '.pipeThrough(new DecompressionStream("gzip"))).text();'
        'const {mount}=await import(URL.createObjectURL(new Blob([source],{type:"text/javascript"})));'
        'mount(document.getElementById("view"),{payload:bytes(parts.data),graph:bytes(parts.graph),'
        "module:bytes(parts.module)});"
        "</script></body></html>")


@functools.cache
def _widget_class():
    try:
        import anywidget
        import traitlets
    except ImportError:  # a plain installation has no widgets; the page and the picture remain
        return None

    class GradientWidget(anywidget.AnyWidget):
        _esm = _text("widget.js")
        _css = _text("style.css")
        payload = traitlets.Bytes().tag(sync=True)
        graph = traitlets.Bytes().tag(sync=True)
        module = traitlets.Bytes().tag(sync=True)
        step = traitlets.Int(-1).tag(sync=True)
        height = traitlets.Int(_HEIGHT).tag(sync=True)
        cells = traitlets.Dict().tag(sync=True)

    return GradientWidget
