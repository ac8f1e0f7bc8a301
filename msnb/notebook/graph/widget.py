"""The widget of a graph view: what a running notebook and its page both hold."""

import functools
import pathlib
from typing import Any

from msnb.notebook import page

MODULE = pathlib.Path(__file__).with_name("widget.js")
HEIGHT = 560  # pixels


@functools.cache
def widget_class() -> Any:
    """The class, an `anywidget.AnyWidget`; None where that is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:  # a plain installation has no widgets; the page and the picture remain
        return None

    class GraphWidget(anywidget.AnyWidget):
        _esm = page.text_of(MODULE)
        payload = traitlets.Bytes().tag(sync=True)
        wanted = traitlets.Unicode("").tag(sync=True)
        columns = traitlets.Dict().tag(sync=True)
        colour = traitlets.Unicode("").tag(sync=True)
        selected = traitlets.Int(-1).tag(sync=True)
        stale = traitlets.Unicode("").tag(sync=True)
        waits = traitlets.Dict().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        cells = traitlets.Dict().tag(sync=True)

    return GraphWidget
