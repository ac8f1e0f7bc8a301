"""A profile as a notebook shows it: live widget, self-contained page, still picture, text."""

import functools
import gzip
import json
import pathlib
from pathlib import Path
from typing import Any

from msnb.insight.profile import Profile
from msnb.insight.profile.payload import of_profile
from msnb.insight.profile.text import markdown
from msnb.notebook import cell_names, cell_views, page, still
from msnb.notebook.graph import GraphView
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE

from .picture import to_svg

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760


def view(profile: Profile, height: int = _HEIGHT) -> "ProfileView":
    """A profile, to look at in a notebook.

    Args:
        profile (Profile): as `msnb.insight.profile.profile` or `Profiler.analyse` returns it.
        height (int): height in pixels of the saved form; the live one is as high as what it shows. Default: 760.

    Returns:
        ProfileView.

    Raises:
        TypeError: If `profile` is none.
        ValueError: If `height` is not a positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, nn
        >>> from msnb.insight.profile import profile
        >>> from msnb.notebook.profile import view
        >>> view(profile(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))).profile.mode
        'PYNATIVE'
    """
    if not isinstance(profile, Profile):
        raise TypeError(
            f"For 'view', 'profile' should be a Profile, but got {type(profile).__name__}; take one with "
            f"msnb.insight.profile.profile(net, x)."
        )
    return ProfileView(profile, height)


class ProfileView:
    """What `view` returns.

    Args:
        profile (Profile): what was measured.
        height (int): height in pixels of the saved form. Default: 760.
    """

    def __init__(self, profile: Profile, height: int = _HEIGHT) -> None:
        if isinstance(height, bool) or not isinstance(height, int) or height < 1:
            raise ValueError(f"For 'view', 'height' should be a positive int (pixels), but got {height!r}.")
        self.profile = profile
        self.height = height
        self._widget = None

    @functools.cached_property
    def payload(self):
        """The bytes that the view is drawn from, but for the graph."""
        return gzip.compress(json.dumps(of_profile(self.profile), separators=(",", ":")).encode(), 9, mtime=0)

    @functools.cached_property
    def graph(self):
        """The step's graph, coloured by time; None where no program was traced."""
        profile = self.profile
        if profile.graph is None or not any(profile.times):
            return None
        notes = [None] * len(profile.times)
        for row in profile.rows:
            if row.program == profile.program.name:
                for ident in row.nodes:
                    notes[ident] = row.how + (f" with {', '.join(sorted(row.mates)[:3])}" if row.mates else "")
        column = {
            "label": "time",
            "unit": "s",
            "values": profile.times,
            "fold": "sum",
            "scale": "linear",
            "note": notes,
        }
        return GraphView(profile.graph, columns={"time": column}, colour="time")

    @property
    def widget(self) -> Any:
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = _widget_class()
            if kind is not None:
                graph = self.graph
                self._widget = kind(
                    payload=self.payload,
                    graph=graph.saved_payload if graph else b"",
                    code=page.packed(GRAPH_MODULE) if graph else b"",
                    cells=cell_names.ids(),
                )
        return self._widget

    def refresh(self) -> None:
        """Draw the profile anew, after it was replayed."""
        self.__dict__.pop("payload", None)
        self.__dict__.pop("graph", None)
        if self._widget is not None:
            graph = self.graph
            self._widget.graph = graph.saved_payload if graph else b""
            self._widget.payload = self.payload

    def svg(self) -> str:
        """The headline, the advice and the longest operators as a still picture."""
        return to_svg(self.profile)

    def markdown(self) -> str:
        """The same as Markdown."""
        return markdown(self.profile)

    def html(self) -> str:
        """The interactive view as a page that needs no kernel, no network and no other file."""
        return self._page().html()

    def save(self, path: str | Path) -> None:
        """Write the view to a file: .html (interactive), .svg, .png, .md, .txt, or .json (the timeline, for Perfetto).

        Args:
            path (str): where to.

        Raises:
            ValueError: If the suffix is none of these.
        """
        makers = {
            ".html": self.html,
            ".svg": self.svg,
            ".md": self.markdown,
            ".txt": lambda: self.profile.text(50),
            ".json": lambda: json.dumps(self.profile.timeline()),
        }
        page.save(path, makers, "ProfileView")

    def close(self) -> None:
        """Close the live widget; the saved form stays where it is."""
        cell_views.forget(self)
        if self._widget is not None:
            self._widget.close()
            self._widget = None

    def __repr__(self) -> str:
        return self.profile.text()

    def _repr_mimebundle_(self, include=None, exclude=None):
        cell_views.remember(self)
        return still.bundle(self, self._page(), f"Profile of {self.profile.name}", "explore the profile")

    def _page(self):
        graph = self.graph
        parts = {
            "data": self.payload,
            "graph": graph.saved_payload if graph else b"",
            "module": GRAPH_MODULE if graph else b"",
        }
        return page.Page(
            self.profile.name,
            _MODULE,
            parts,
            "made.still(view,parts.data,parts.graph,parts.module)",
            "html,body{margin:0;background:transparent}",
        )


@functools.cache
def _widget_class():
    try:
        import anywidget
        import traitlets
    except ImportError:  # a plain installation has no widgets; the page and the picture remain
        return None

    class ProfileWidget(anywidget.AnyWidget):
        _esm = page.text_of(_MODULE)
        payload = traitlets.Bytes().tag(sync=True)
        graph = traitlets.Bytes().tag(sync=True)
        code = traitlets.Bytes().tag(sync=True)
        cells = traitlets.Dict().tag(sync=True)

    return ProfileWidget
