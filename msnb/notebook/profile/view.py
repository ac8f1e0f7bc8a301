"""The profile view: live widget, standalone page, still picture, text."""

import functools
import gzip
import json
import pathlib

from msnb.insight.profile import Profile
from msnb.insight.profile.payload import of_profile
from msnb.insight.profile.text import markdown
from msnb.notebook.display import page, static_output
from msnb.notebook.graph import GraphView
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE
from msnb.notebook.kernel import cell_names, cell_views
from msnb.notebook.view import View, checked_height, widget_kind

from .picture import to_svg

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760


def view(profile: Profile, height: int = _HEIGHT) -> "ProfileView":
    """Return a notebook view of a profile.

    Args:
        profile (Profile): the result of `msnb.insight.profile.profile` or `Profiler.analyse`.
        height (int): height in pixels of the saved form; the live form is as high as its content. Default: 760.

    Returns:
        ProfileView.

    Raises:
        TypeError: If `profile` is no Profile.
        ValueError: If `height` is not a positive int.

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


_widget_class = widget_kind(
    "ProfileWidget",
    _MODULE,
    lambda t: {"payload": t.Bytes(), "graph": t.Bytes(), "code": t.Bytes(), "cells": t.Dict()},
)


class ProfileView(View):
    """The result of `view`; it can be saved as .html, .svg, .png, .md, .txt, or .json (the timeline, for Perfetto).

    Args:
        profile (Profile): the profile.
        height (int): height in pixels of the saved form. Default: 760.
    """

    def __init__(self, profile: Profile, height: int = _HEIGHT) -> None:
        self.profile = profile
        self.height = checked_height("view", height)

    @functools.cached_property
    def payload(self):
        """The serialized profile without the graph."""
        return gzip.compress(json.dumps(of_profile(self.profile), separators=(",", ":")).encode(), 9, mtime=0)

    @functools.cached_property
    def graph(self):
        """The step's graph, coloured by time; None if no program was traced."""
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

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        graph = self.graph
        return {
            "payload": self.payload,
            "graph": graph.saved_payload if graph else b"",
            "code": page.packed(GRAPH_MODULE) if graph else b"",
            "cells": cell_names.ids(),
        }

    def refresh(self) -> None:
        """Update the view after `profile` has been replayed."""
        self.__dict__.pop("payload", None)
        self.__dict__.pop("graph", None)
        if self._widget is not None:
            graph = self.graph
            self._widget.graph = graph.saved_payload if graph else b""
            self._widget.payload = self.payload

    def svg(self) -> str:
        """Return the headline, the advice and the slowest operators as a still picture."""
        return to_svg(self.profile)

    def markdown(self) -> str:
        """Return the profile as Markdown."""
        return markdown(self.profile)

    def _list_file_formats(self):
        return {
            **super()._list_file_formats(),
            ".md": self.markdown,
            ".txt": lambda: self.profile.text(50),
            ".json": lambda: json.dumps(self.profile.timeline()),
        }

    def __repr__(self) -> str:
        return self.profile.text()

    def _repr_mimebundle_(self, include=None, exclude=None):
        cell_views.remember(self)
        return static_output.bundle(self, self._build_page(), f"Profile of {self.profile.name}", "explore the profile")

    def _build_page(self):
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
