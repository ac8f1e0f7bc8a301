"""The dashboard view: live widget, standalone page, still picture, text."""

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
_FIRST = 0.3  # time limit, in seconds, of the first read; later values are read in the background
_EVERY = 0.25  # polling interval in seconds
_SELDOM = 2.0  # polling interval in seconds if no run is active


def dashboard(source: "str | Path | Run | Sequence[str | Path | Run]", height: int = _HEIGHT) -> "DashboardView":
    """Return a view of recorded trainings: curves, pictures, histograms, tensors, graphs.

    It follows running trainings of this and other processes, and new runs in the folder while it is open.

    Args:
        source (Union[str, Path, Run, list]): a run, the folder of a run, a folder of runs, or a list of these. Runs of
            one list are drawn into the same charts.
        height (int): height in pixels of the saved form; the live form is as high as its content. Default: 720.

    Returns:
        DashboardView. For a folder without runs it is empty, shows a message, and fills when runs appear.

    Raises:
        FileNotFoundError: If there is no such folder.
        TypeError: If `source` is of another type.
        ValueError: If `height` is not a positive int, or `source` an empty list.
    """
    return DashboardView(source, height)


_widget_class = widget_kind(
    "DashboardWidget",
    _MODULE,
    lambda t: {"payload": t.Bytes(), "code": t.Bytes(), "cells": t.Dict(), "live": t.Bool()},
)


class DashboardView(Renewed):
    """The result of `dashboard`; it can be saved as .html, .svg, .png, .txt, .json or .csv (all scalars).

    Args:
        source (Union[str, Path, Run, list]): the runs, as for `dashboard`.
        height (int): height in pixels of the saved form. Default: 720.
    """

    def __init__(self, source: "str | Path | Run | Sequence[str | Path | Run]", height: int = _HEIGHT) -> None:
        super().__init__()
        self.height: int = checked_height("dashboard", height)
        self._sources = Sources(source)
        self._looking: threading.Thread | None = None
        self._ended = threading.Event()
        self._sent_state: Any = ({}, {})
        self._lock = threading.RLock()
        share = _FIRST / max(1, len(self.runs))
        for run in self.runs:
            run.refresh(share)

    @property
    def runs(self) -> list[Run]:
        """The runs, oldest first. Runs that appear later are appended. Their order determines their colours."""
        return self._sources.runs

    @property
    def title(self) -> str:
        """The heading, str."""
        if not self.runs:
            return "no run yet"
        return self.runs[0].name if len(self.runs) == 1 else f"{len(self.runs)} runs"

    @property
    def payload(self) -> bytes:
        """The serialized data of the view."""
        return payload.full_state(self.runs, self.title, self._sources.waiting)

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        with self._lock:
            self._sent_state = payload.counted(self.runs)
            return {
                "payload": self.payload,
                "code": page.packed(GRAPH_MODULE),
                "cells": cell_names.ids(),
                "live": True,
            }

    def _connect_widget(self, widget):
        widget.on_msg(self._on_message)
        self._start_polling_thread()

    # ------------------------------------------------------------------ following
    def refresh(self) -> bool:
        """Read new values from the files, and show them.

        Returns:
            bool, True if there were new values.
        """
        new = self._find_new_runs()
        came = [run.refresh() for run in self.runs]  # a list: `any` over a generator would stop early
        if new or any(came):
            self._send_new_values(new)
        return new or any(came)

    def _find_new_runs(self):
        with self._lock:
            return self._sources.look()

    def _start_polling_thread(self):
        self._ended.clear()
        self._looking = threading.Thread(target=self._poll_files, name="msnb-dashboard", daemon=True)
        self._looking.start()

    def _poll_files(self):
        states = self._collect_run_states()
        while True:
            waiting = not all(run.complete for run in self.runs)
            under_way = not self.runs or not self.runs[0].meta or any(run.state == "running" for run in self.runs)
            if self._ended.wait(0 if waiting else _EVERY if under_way else _SELDOM):
                return
            self._find_new_runs()
            came = [run.refresh(_FIRST) for run in self.runs]
            now = self._collect_run_states()
            if any(came) or now != states:
                self._send_new_values(now != states)
            states = now

    def _collect_run_states(self):
        """Return (state, problems) of each run. They can change without a new value, for example if a process dies."""
        return [(run.state, run.problems) for run in self.runs]

    def _send_new_values(self, anyhow=False):
        cell_views.changed(self)
        with self._lock:
            message = self._widget and payload.news(self.runs, *self._sent_state, anyhow=anyhow)
            if message:
                self._widget.send({"news": True}, buffers=[message])

    def _on_message(self, widget, message, buffers):
        number = message.get("number")
        if "detail" in message:
            answer = payload.detail(self.runs, message["detail"], message["first"], message["last"])
        elif "tensor" in message:
            answer = self._read_tensor(*message["tensor"])
        elif "csv" in message:
            pack = payload.Pack()
            text = to_csv([self.runs[number] for number in message["runs"]], message["csv"])
            answer = pack.bytes({"kind": "csv", "values": pack.add("B", text.encode())})
        else:
            with self._lock:
                self._sent_state = payload.counted(self.runs)
                answer = self.payload
        if answer is not None:
            widget.send({"answer": number}, buffers=[answer])

    def _read_tensor(self, number, tag, step):
        run = self.runs[number]
        values = run.read("tensor", [place for place in run.places("tensor", tag) if place.step == step][-1:])
        if not values:
            return None
        pack = payload.Pack()
        return pack.bytes({"kind": "tensor", "values": payload.tensor_row(pack, run, values[0], is_complete=True)[-1]})

    def close(self) -> None:
        """Close the view and stop polling the files; its saved form remains."""
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
        """Return the first curves as a still picture, str."""
        return to_svg(self.runs, self.title, self._sources.waiting)

    def html(self) -> str:
        """Return the interactive view as a page that needs no kernel, no network and no other file, str."""
        self.refresh()  # read all values now, because a saved page can't read more of a long run later
        return super().html()

    def save(self, path: str | Path) -> None:
        self.refresh()
        super().save(path)

    save.__doc__ = Renewed.save.__doc__

    def _list_file_formats(self):
        return {**super()._list_file_formats(), ".json": lambda: to_json(self.runs), ".csv": lambda: to_csv(self.runs)}

    _purpose = "explore the curves"
    _follows_files = True

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
