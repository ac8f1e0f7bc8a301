"""The graph of a network as a notebook shows it: live widget, self-contained page, still picture, text."""
import base64
import functools
import gzip
import html
import json
import pathlib

from msnb.core.compile import program_of
from msnb.ir.anf import FuncGraph
from msnb.ir.api import dot, graph, name_of, text
from msnb.ir.compare import compare
from msnb.ir.payload import difference, listings, pack, stage
from msnb.ir.picture import to_svg
from msnb.ir.stages import STAGES, stages_of

from . import cells

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 560
_LARGE = 5000  # nodes; larger graphs are saved with their repeated blocks left out


def view(net, *inputs, stages=("traced",), height=_HEIGHT):
    """The graph of a Cell or a function, to look at in a notebook.

    Shown as the last expression of a notebook cell it is interactive: open and close scopes, search, see each node's
    attributes, shapes, costs and line of source. Where no widget can run it is a page of its own inside the notebook,
    and where no script can run, a picture.

    Args:
        net (Union[Cell, Callable, Program, FuncGraph, ClosedJaxpr]): what to look at. It is traced, neither run nor
            compiled (but for the stage "optimised"). A Program is what `msnb.core.compile.on_compile` hands over.
        inputs: the inputs `net` would be called with.
        stages (tuple[str]): which stages to put into the view: ``"traced"`` (MindSpore's operators), ``"primitives"``
            (JAX's) and ``"optimised"`` (the kernels XLA makes of them). With two or more the first two are shown side
            by side, with their differences. In a running notebook the others are made when they are asked for.
            Default: ("traced",).
        height (int): height in pixels. Default: 560.

    Returns:
        GraphView.

    Raises:
        TypeError: If `net` is none of these.
        ValueError: If `height` is not a positive int, or a stage is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, nn
        >>> from msnb.notebook import graph
        >>> graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
        GraphView(Dense: 2 nodes)
    """
    traced = hasattr(net, "jaxpr") and hasattr(net, "inputs")
    if isinstance(net, FuncGraph) or not traced and (hasattr(net, "jaxpr") or not callable(net)):
        return GraphView(graph(net, *inputs), height=height)
    program, name = (net, net.name) if traced else (program_of(net, *inputs), name_of(net))

    def make(stage):
        return stages_of(program, name, (stage,))[stage]

    return GraphView({stage: make(stage) for stage in stages}, height=height, make=make, offered=STAGES)


def diff(old, new, *inputs, names=("old", "new"), height=_HEIGHT):
    """Two networks, or two versions of one, side by side: what is the same, changed, removed and added.

    Args:
        old (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): the one on the left.
        new (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): the one on the right.
        inputs: the inputs both would be called with.
        names (tuple[str]): what to call them. Default: ("old", "new").
        height (int): height in pixels. Default: 560.

    Returns:
        GraphView, whose `comparison` counts the differences.

    Raises:
        ValueError: If `names` are not two different words.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"For 'diff', 'names' should be two different words, but got {names!r}.")
    return GraphView(dict(zip(names, (graph(old, *inputs), graph(new, *inputs)), strict=True)), height=height)


class GraphView:
    """What `view` and `diff` return.

    Args:
        graphs (Union[FuncGraph, dict[str, FuncGraph]]): one graph, or several by name; two or more are compared.
        height (int): height in pixels. Default: 560.
        columns (dict): values per node of the first graph to colour by, in the order of ``all_nodes()``:
            ``{"time": {"label": "time", "unit": "s", "values": [...]}}``; None for a node without one. Default: None.
        colour (str): what to colour by at first: ``"kind"``, ``"dtype"``, ``"flops"``, ``"bytes"`` or a key of
            `columns`. Default: "kind".
        make (Callable): makes the graph of a stage that is asked for later, from its name. Default: None.
        offered (tuple[str]): stages that `make` can make. Default: ().
    """

    def __init__(self, graphs, height=_HEIGHT, columns=None, colour="kind", make=None, offered=()):
        if isinstance(height, bool) or not isinstance(height, int) or height < 1:
            raise ValueError(f"For 'view', 'height' should be a positive int (pixels), but got {height!r}.")
        self.graphs = graphs if isinstance(graphs, dict) else {"traced": graphs}
        if not self.graphs:
            raise ValueError("For 'view', 'stages' should name at least one stage, but is empty.")
        count = len(self.graph)
        for key, column in (columns or {}).items():
            if len(column["values"]) != count:
                raise ValueError(f"For 'GraphView', column '{key}' should have one value per node ({count}), but got "
                                 f"{len(column['values'])}.")
        known = ("kind", "dtype", "flops", "bytes", *(columns or {}))
        if colour not in known:
            raise ValueError(f"For 'GraphView', 'colour' should be one of {', '.join(known)}, but got {colour!r}.")
        self.height = height
        self.columns = columns
        self.colour = colour
        self._make = make
        self._offered = offered
        self._payload = self._saved = None
        self._widget = None

    @property
    def graph(self):
        """The (first) FuncGraph."""
        return next(iter(self.graphs.values()))

    @property
    def comparison(self):
        """How the first two graphs differ, None where there is only one."""
        several = list(self.graphs.values())
        return compare(*several[:2]) if len(several) > 1 else None

    def __repr__(self):
        return f"GraphView({self.graph.name}: {len(self.graph)} nodes)"

    @property
    def payload(self):
        """The bytes that the view is drawn from; the same graphs give the same bytes."""
        if self._payload is None:
            self._payload = self._pack(False)
        return self._payload

    @property
    def saved_payload(self):
        """What a notebook file keeps: all of it, but for a large graph, whose repeated blocks are left out."""
        if len(self.graphs) > 1 or len(self.graph) <= _LARGE:
            return self.payload
        if self._saved is None:
            self._saved = self._pack(True)
        return self._saved

    def _pack(self, folded):
        graphs = list(self.graphs.values())
        stages = [stage(made, name, columns=self.columns if index == 0 else None, folded=folded)
                  for index, (name, made) in enumerate(self.graphs.items())]
        pairs = [(a, b) for b in range(len(graphs)) for a in range(b)]
        diffs = [difference(a, b, compare(graphs[a], graphs[b])) for a, b in pairs]
        return pack(stages, colour=self.colour, offered=list(self._offered), diffs=diffs, files=listings(graphs[:1]),
                    beside=list(self.graphs)[1] if len(graphs) > 1 else "", folded=int(folded))

    @property
    def widget(self):
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = _widget_class()
            if kind is not None:
                self._widget = kind(payload=self.saved_payload, height=self.height, cells=cells.ids())
                self._widget.observe(self._wanted, "wanted")
                self._widget.on_msg(self._asked)
        return self._widget

    def _asked(self, widget, content, buffers):
        """The page wants the repeats that the saved form leaves out."""
        if isinstance(content, dict) and content.get("kind") == "whole":
            widget.send({"kind": "whole"}, buffers=[self.payload])

    def _wanted(self, change):
        """The reader chose a stage that is not there yet: make it, then show it."""
        name = change["new"]
        if self._make is None or name in self.graphs or name not in self._offered:
            return
        self.graphs[name] = self._make(name)
        self._payload = self._saved = None
        self._widget.payload = self.saved_payload

    def update(self, func_graph):
        """Show another graph in this view's place; what was open stays open.

        Args:
            func_graph (FuncGraph): the graph to show now.
        """
        self.graphs = {next(iter(self.graphs)): func_graph}
        self.columns = self._payload = self._saved = None
        if self._widget is not None:
            self._widget.payload = self.saved_payload

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
            raise ValueError(f"For 'GraphView.save', 'path' should end in one of {', '.join(makers)}, "
                             f"but got '{path}'.")
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
        page = html.escape(_page(self.saved_payload, self.graph.name), quote=True)
        return (f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" allow="clipboard-write; fullscreen" '
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
        wanted = traitlets.Unicode("").tag(sync=True)
        selected = traitlets.Int(-1).tag(sync=True)
        height = traitlets.Int(_HEIGHT).tag(sync=True)
        cells = traitlets.Dict().tag(sync=True)

    return GraphWidget
