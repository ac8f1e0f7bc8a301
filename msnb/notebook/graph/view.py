"""The graph of a network as a notebook shows it: live widget, self-contained page, still picture, text."""
import base64
import functools
import gzip
import html
import json
import pathlib

from msnb.ir.api import dot, graph, text
from msnb.ir.hierarchy import Hierarchy
from msnb.ir.payload import pack, stage
from msnb.ir.picture import to_svg

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 560


def view(net, *inputs, height=_HEIGHT):
    """The graph of a Cell or a function, to look at in a notebook.

    Shown as the last expression of a notebook cell it is interactive: open and close scopes, search, see each node's
    attributes, shapes, costs and line of source. Where no widget can run it is a page of its own inside the notebook,
    and where no script can run, a picture.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): what to look at. It is traced, neither run nor compiled.
        inputs: the inputs `net` would be called with.
        height (int): height in pixels. Default: 560.

    Returns:
        GraphView.

    Raises:
        TypeError: If `net` is none of these.
        ValueError: If `height` is not a positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, nn
        >>> from msnb.notebook import graph
        >>> graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
        GraphView(Dense: 2 nodes)
    """
    return GraphView(graph(net, *inputs), height=height)


class GraphView:
    """What `view` returns.

    Args:
        func_graph (FuncGraph): the graph.
        height (int): height in pixels. Default: 560.
        columns (dict): values per node to colour by, in the order of ``func_graph.all_nodes()``:
            ``{"time": {"label": "time", "unit": "s", "values": [...]}}``; None for a node without one. Default: None.
        colour (str): what to colour by at first: ``"kind"``, ``"dtype"``, ``"flops"``, ``"bytes"`` or a key of
            `columns`. Default: "kind".
    """

    def __init__(self, func_graph, height=_HEIGHT, columns=None, colour="kind"):
        if isinstance(height, bool) or not isinstance(height, int) or height < 1:
            raise ValueError(f"For 'view', 'height' should be a positive int (pixels), but got {height!r}.")
        count = len(func_graph)
        for key, column in (columns or {}).items():
            if len(column["values"]) != count:
                raise ValueError(f"For 'GraphView', column '{key}' should have one value per node ({count}), but got "
                                 f"{len(column['values'])}.")
        known = ("kind", "dtype", "flops", "bytes", *(columns or {}))
        if colour not in known:
            raise ValueError(f"For 'GraphView', 'colour' should be one of {', '.join(known)}, but got {colour!r}.")
        self.graph = func_graph
        self.height = height
        self.columns = columns
        self.colour = colour
        self._widget = None

    def __repr__(self):
        return f"GraphView({self.graph.name}: {len(self.graph)} nodes)"

    @functools.cached_property
    def payload(self):
        """The bytes that the view is drawn from; the same graph gives the same bytes."""
        tree = Hierarchy(self.graph)
        return pack([stage(self.graph, tree=tree, columns=self.columns)], colour=self.colour)

    @property
    def widget(self):
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = _widget_class()
            self._widget = kind(payload=self.payload, height=self.height) if kind is not None else None
        return self._widget

    def text(self):
        """The graph as functional IR."""
        return text(self.graph)

    def dot(self):
        """The graph in the dot language."""
        return dot(self.graph)

    def svg(self, boxes=60):
        """The graph as a still picture, see `msnb.ir.svg`."""
        return to_svg(self.graph, boxes=boxes)

    def html(self):
        """The interactive view as a page that needs no kernel, no network and no other file."""
        return _page(self.payload, self.graph.name)

    def save(self, path):
        """Write the view to a file: .html (interactive), .svg, .dot or .ir (text), by its suffix.

        Args:
            path (str): where to.

        Raises:
            ValueError: If the suffix is none of these.
        """
        path = pathlib.Path(path)
        makers = {".html": self.html, ".svg": self.svg, ".dot": self.dot, ".ir": self.text, ".txt": self.text}
        if path.suffix not in makers:
            raise ValueError(f"For 'GraphView.save', 'path' should end in one of {', '.join(makers)}, but got '{path}'.")
        path.write_text(makers[path.suffix](), encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "image/svg+xml": self.svg(), "text/html": self._frame()}
        if self.widget is not None:
            bundle = self.widget._repr_mimebundle_()
            data.update((bundle[0] if isinstance(bundle, tuple) else bundle) or {})
            data["text/plain"], data["text/html"] = repr(self), self._frame()
        return data, {}

    def _frame(self):
        """The page inside an iframe of its own, which neither sees nor disturbs the notebook around it."""
        page = html.escape(self.html(), quote=True)
        return (f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" loading="lazy" allowfullscreen '
                f'title="{html.escape(repr(self), quote=True)}" '
                f'style="width:100%;height:{self.height}px;border:0;display:block"></iframe>')


@functools.cache
def _module():
    return _MODULE.read_text(encoding="utf-8")


@functools.cache
def _packed_module():
    # three times smaller in every saved notebook
    return base64.b64encode(gzip.compress(_module().encode(), 9, mtime=0)).decode()


def _page(payload, title):
    """A page that unpacks the same ES module the widget uses, and draws the payload with it."""
    data = base64.b64encode(payload).decode()
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<style>html,body{margin:0;height:100%;background:transparent}#view,#view>div{height:100%!important}</style>"
        '<body><div id="view"></div><script type="module">'
        f"const data={json.dumps(data)},code={json.dumps(_packed_module())};"
        "const raw=Uint8Array.from(atob(code),c=>c.charCodeAt(0));"
        'const source=await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).text();'
        'const {still}=await import(URL.createObjectURL(new Blob([source],{type:"text/javascript"})));'
        'still(document.getElementById("view"),data);'
        "</script></body></html>")


@functools.cache
def _widget_class():
    try:
        import anywidget
        import traitlets
    except ImportError:  # a plain installation has no widgets; the page and the picture remain
        return None

    class GraphWidget(anywidget.AnyWidget):
        _esm = _module()
        payload = traitlets.Bytes().tag(sync=True)
        selected = traitlets.Int(-1).tag(sync=True)
        height = traitlets.Int(_HEIGHT).tag(sync=True)

    return GraphWidget
