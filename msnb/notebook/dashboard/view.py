"""Recorded trainings as a notebook shows them: live widget, self-contained page, still picture, text."""

import pathlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msnb.insight.runs import Run
from msnb.insight.runs.export import to_csv, to_json
from msnb.notebook.dashboard import payload
from msnb.notebook.dashboard.picture import to_svg
from msnb.notebook.dashboard.sources import Sources
from msnb.notebook.display import page
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE
from msnb.notebook.kernel import cell_names, cell_views
from msnb.notebook.view import Renewed, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 720
_FIRST = 0.3  # seconds that reading takes at most before something is shown; the rest comes by itself
_EVERY = 0.25  # between two looks at the files
_SELDOM = 2.0  # where no run is under way


def dashboard(source: "str | Path | Run | Sequence[str | Path | Run]", height: int = _HEIGHT) -> "DashboardView":
    """Recorded trainings, to look at in a notebook: curves, pictures, histograms, tensors, graphs.

    It follows trainings that are under way, of this kernel or of any other process, and those that begin in the folder
    while it is open.

    Args:
        source (Union[str, Path, Run, list]): a run, the folder of a run, a folder of runs, or a list of these. Runs of
            one list are drawn into the same charts.
        height (int): height in pixels of the saved form; the live one is as high as what it shows. Default: 720.

    Returns:
        DashboardView. Of a folder without runs it is empty, says what it waits for, and fills itself.

    Raises:
        FileNotFoundError: If there is no such folder.
        TypeError: If `source` is none of these.
        ValueError: If `height` is not a positive int, or `source` an empty list.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return DashboardView(source, height)


_widget_class = widget_kind(
    "DashboardWidget",
    _MODULE,
    lambda t: {"payload": t.Bytes(), "code": t.Bytes(), "cells": t.Dict(), "live": t.Bool()},
)


class DashboardView(Renewed):
    """What `dashboard` returns; saved as .html, .svg, .png, .txt, .json or .csv (all scalars).

    Args:
        source (Union[str, Path, Run, list]): what is drawn, as `dashboard` takes it.
        height (int): height in pixels of the saved form. Default: 720.
    """

    def __init__(self, source: "str | Path | Run | Sequence[str | Path | Run]", height: int = _HEIGHT) -> None:
        super().__init__()
        self.height: int = checked_height("dashboard", height)
        self._sources = Sources(source)
        self._looking: threading.Thread | None = None
        self._ended = threading.Event()
        self._known: Any = ({}, {})
        self._lock = threading.RLock()
        share = _FIRST / max(1, len(self.runs))
        for run in self.runs:
            run.refresh(share)

    @property
    def runs(self) -> list[Run]:
        """What is drawn, the oldest first and those that came later behind them; their order chooses their colours."""
        return self._sources.runs

    @property
    def title(self) -> str:
        """What is shown, str."""
        if not self.runs:
            return "no run yet"
        return self.runs[0].name if len(self.runs) == 1 else f"{len(self.runs)} runs"

    @property
    def payload(self) -> bytes:
        """The bytes that the view is drawn from."""
        return payload.whole(self.runs, self.title, self._sources.waiting)

    _widget_class = staticmethod(_widget_class)

    def _initial_state(self):
        with self._lock:
            self._known = payload.counted(self.runs)
            return {
                "payload": self.payload,
                "code": page.packed(GRAPH_MODULE),
                "cells": cell_names.ids(),
                "live": True,
            }

    def _start_widget(self, widget):
        widget.on_msg(self._asked)
        self._follow()

    # ------------------------------------------------------------------ following
    def refresh(self) -> bool:
        """Read what was written since, and show it.

        Returns:
            bool, whether something came.
        """
        new = self._newcomers()
        came = [run.refresh() for run in self.runs]  # of each run, whatever the others say
        if new or any(came):
            self._tell(new)
        return new or any(came)

    def _newcomers(self):
        with self._lock:
            return self._sources.look()

    def _follow(self):
        self._ended.clear()
        self._looking = threading.Thread(target=self._look, name="msnb-dashboard", daemon=True)
        self._looking.start()

    def _look(self):
        states = self._states()
        while True:
            waiting = not all(run.complete for run in self.runs)
            under_way = not self.runs or not self.runs[0].meta or any(run.state == "running" for run in self.runs)
            if self._ended.wait(0 if waiting else _EVERY if under_way else _SELDOM):
                return
            self._newcomers()
            came = [run.refresh(_FIRST) for run in self.runs]
            now = self._states()
            if any(came) or now != states:
                self._tell(now != states)
            states = now

    def _states(self):
        """What a run says beside its values: a process that died writes nothing, nor does a folder that is gone."""
        return [(run.state, run.problems) for run in self.runs]

    def _tell(self, anyhow=False):
        cell_views.changed(self)
        with self._lock:
            made = self._widget and payload.news(self.runs, *self._known, anyhow=anyhow)
            if made:
                self._widget.send({"news": True}, buffers=[made])

    def _asked(self, widget, message, buffers):
        number = message.get("number")
        if "detail" in message:
            made = payload.detail(self.runs, message["detail"], message["first"], message["last"])
        elif "tensor" in message:
            made = self._tensor(*message["tensor"])
        elif "csv" in message:
            pack = payload.Pack()
            text = to_csv([self.runs[number] for number in message["runs"]], message["csv"])
            made = pack.bytes({"kind": "csv", "values": pack.add("B", text.encode())})
        else:
            with self._lock:
                self._known = payload.counted(self.runs)
                made = self.payload
        if made is not None:
            widget.send({"answer": number}, buffers=[made])

    def _tensor(self, number, tag, step):
        run = self.runs[number]
        found = run.read("tensor", [place for place in run.places("tensor", tag) if place.step == step][-1:])
        if not found:
            return None
        pack = payload.Pack()
        return pack.bytes({"kind": "tensor", "values": payload.tensor_row(pack, run, found[0], whole=True)[-1]})

    def close(self) -> None:
        """Take the view away and stop looking at the files; its saved form stays."""
        self._ended.set()
        with self._lock:
            super().close()

    # ------------------------------------------------------------------ forms
    def __repr__(self) -> str:
        lines = []
        for run in self.runs:
            last = [f"{tag} {value:.4g}" for tag, value in list(run.summary.items())[:6]]
            lines.append(f"{run.name} ({run.state}): {', '.join(last) or 'nothing yet'}")
        return "\n".join(lines) or self._sources.waiting

    def svg(self) -> str:
        """The first curves as a still picture, str."""
        return to_svg(self.runs, self.title, self._sources.waiting)

    def html(self) -> str:
        """The interactive view as a page that needs no kernel, no network and no other file, str."""
        self.refresh()  # all that is written; on screen the rest of a long run comes by itself
        return super().html()

    def save(self, path: str | Path) -> None:
        self.refresh()
        super().save(path)

    save.__doc__ = Renewed.save.__doc__

    def _file_formats(self):
        return {**super()._file_formats(), ".json": lambda: to_json(self.runs), ".csv": lambda: to_csv(self.runs)}

    def _ipython_display_(self):
        cell_views.install()
        super()._ipython_display_()
        cell_views.follow(self)

    _purpose = "explore the curves"

    def _name(self):
        return f"Dashboard of {self.title}"

    def _build_page(self):
        graphs = any(run.tags["graph"] or "dataset" in run.lineage for run in self.runs)
        parts = {"data": payload.saved(self.payload), "module": GRAPH_MODULE if graphs else b""}
        return page.Page(
            self.title,
            _MODULE,
            parts,
            "made.still(view,parts.data,parts.module)",
            "html,body{margin:0;background:transparent}",
        )
