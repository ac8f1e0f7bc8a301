"""The gradient view: live widget, standalone page, still picture, text."""

import pathlib

from msnb.insight.gradients.monitor import GradientMonitor as _Monitor
from msnb.insight.gradients.recording import Recording
from msnb.notebook.display import page, static_output
from msnb.notebook.gradients.payload import pack, tensor_of
from msnb.notebook.gradients.picture import to_svg
from msnb.notebook.gradients.text import to_text
from msnb.notebook.graph.view import GraphView
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE
from msnb.notebook.kernel import cell_names, cell_views
from msnb.notebook.view import View, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_STYLE = pathlib.Path(__file__).with_name("style.css")
_HEIGHT = 620
_SAVED_GRAPH = 5000  # nodes; larger graphs are only shown by `view(net, x)`, not inside this view


class GradientMonitor(_Monitor):
    __doc__ = _Monitor.__doc__

    def view(self, height: int = _HEIGHT) -> "GradientView":
        """Return a view of the recording so far.

        Args:
            height (int): height in pixels. Default: 620.

        Returns:
            GradientView.
        """
        return GradientView(self.recording, height)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.view()._repr_mimebundle_(include, exclude)


_widget_class = widget_kind(
    "GradientWidget",
    _MODULE,
    lambda t: {
        "payload": t.Bytes(),
        "graph": t.Bytes(),
        "module": t.Bytes(),
        "step": t.Int(-1),
        "height": t.Int(_HEIGHT),
        "cells": t.Dict(),
    },
    _STYLE,
)


class GradientView(View):
    """A view of a recording, with a slider over the steps.

    It shows diagnoses in words, the gradient over the layers, the statistics as a table and on the graph, and recorded
    tensors. It can be saved as .html, .svg, .png or .txt.

    Args:
        recording (Recording): the recording of `GradientMonitor` or `inspect_gradients`.
        height (int): height in pixels. Default: 620.

    Raises:
        TypeError: If `recording` is no Recording.
        ValueError: If `height` is not a positive int.
    """

    def __init__(self, recording: Recording, height: int = _HEIGHT) -> None:
        if not isinstance(recording, Recording):
            raise TypeError(
                f"For 'GradientView', 'recording' should be a Recording, but got {type(recording).__name__}."
            )
        self.recording = recording
        self.height: int = checked_height("GradientView", height)
        self.findings = recording.findings()
        self._payload = self._graph = None

    @property
    def payload(self) -> bytes:
        """The serialized recording."""
        if self._payload is None:
            self._payload = pack(self.recording, self.findings)
        return self._payload

    @property
    def graph_payload(self) -> bytes:
        """The serialized graph of the program, empty without a graph."""
        if self._graph is None:
            graph = self.recording.graph
            self._graph = GraphView(graph).payload if graph is not None and len(graph) <= _SAVED_GRAPH else b""
        return self._graph

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        return {
            "payload": self.payload,
            "graph": self.graph_payload,
            "height": self.height,
            "module": page.packed(GRAPH_MODULE) if self.graph_payload else b"",
            "cells": cell_names.ids(),
        }

    def _connect_widget(self, widget):
        widget.on_msg(self._on_message)

    def _on_message(self, widget, message, buffers):
        """Send the page all values of a tensor in the last step."""
        kind, name = message["fetch"]
        try:
            widget.send({"tensor": tensor_of(self.recording, kind, name)})
        except KeyError:
            why = "a later look at gradients, or a later step, has taken its place"
            cure = f"Run this cell again, or name it: tensors=['{kind}:{name}']."
            widget.send({"problem": f"{name} is no longer in memory: {why}. {cure}"})

    def __repr__(self) -> str:
        return to_text(self.recording, self.findings)

    def svg(self) -> str:
        """Return a still picture: the findings, the gradient over the layers, and the table of the last step."""
        return to_svg(self.recording, self.findings)

    def _repr_mimebundle_(self, include=None, exclude=None):
        cell_views.remember(self)
        return static_output.bundle(self, self._build_page(), "gradients of a training", "explore the gradients")

    def _build_page(self):
        graph = self.graph_payload
        parts = {"data": self.payload, "graph": graph, "module": GRAPH_MODULE if graph else b""}
        draw = "made.mount(view,{payload:bytes(parts.data),graph:bytes(parts.graph),module:bytes(parts.module)})"
        return page.Page("gradients", _MODULE, parts, draw, sheet=_STYLE)
