"""The table of runs as a notebook shows it: live widget, self-contained page, still picture, text."""

import functools
import pathlib
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from msnb.insight.runs import Run, Runs
from msnb.insight.runs.difference import curves, plain
from msnb.notebook.display import page
from msnb.notebook.graph import GraphView
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE
from msnb.notebook.kernel import cell_views, front_end
from msnb.notebook.runs.payload import of_runs, packed
from msnb.notebook.runs.picture import to_svg, to_text
from msnb.notebook.view import Renewed, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 800
_AT_ONCE = 200  # runs of which the saved form says what matters; the forest over more is grown when it is asked for
_CURVES = 12  # of a comparison
_EVERY = 1.0  # seconds between two looks at the folder
_PATIENCE = 40  # how many times as long as a look took nobody looks again


def runs(
    folder: str | Path = "runs", target: str | None = None, goal: str | None = None, height: int = _HEIGHT
) -> "RunsView":
    """The runs of a folder, to look at in a notebook: a table to sort and filter, parallel coordinates, scatter, what
    matters, and how runs differ, with one selection for all of them.

    Args:
        folder (Union[str, Path]): where the runs are, of `msnb.record`, `SummaryCollector`, or MindSpore. Default:
            "runs".
        target (str): the metric that they are judged by. Default: None, one that most of them have.
        goal (str): "minimize" or "maximize" it. Default: None, as its name says.
        height (int): height in pixels of the saved form; the live one is as high as what it shows. Default: 800.

    Returns:
        RunsView.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If no run has the metric `target`, or `goal` or `height` is none.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import tempfile
        >>> import msnb
        >>> len(msnb.runs(tempfile.mkdtemp()).runs)
        0
    """
    found = Runs(folder)
    if target is not None and len(found) and target not in found.table():
        there = ", ".join(column.name for column in found.table().of_group("metric")) or "none"
        raise ValueError(f"For 'runs', no run has the metric {target!r}; there are: {there}.")
    return RunsView(found, target, goal, height)


_widget_class = widget_kind(
    "RunsWidget", _MODULE, lambda t: {"payload": t.Bytes(), "kept": t.Dict(), "chosen": t.List(t.Unicode())}
)


class RunsView(Renewed):
    """What `runs` returns; saved as .html, .svg, .png or .txt.

    Args:
        runs (Runs): the runs.
        target (str): the metric that they are judged by, which none of them need have yet. Default: None, one that most
            of them have.
        goal (str): "minimize" or "maximize" it. Default: None, as its name says.
        height (int): height in pixels of the saved form. Default: 800.

    Attributes:
        runs (Runs): the runs.
    """

    def __init__(self, runs: Runs, target: str | None = None, goal: str | None = None, height: int = _HEIGHT) -> None:
        super().__init__()
        self.height = checked_height("runs", height)
        if goal not in (None, "minimize", "maximize"):
            raise ValueError(f"For 'runs', 'goal' should be 'minimize' or 'maximize', but got {goal!r}.")
        self.runs: Runs = runs
        self._target, self._goal = target, goal
        self._seen = runs.changes
        self._looking: threading.Thread | None = None
        self._closed = threading.Event()
        self._lock = threading.RLock()  # of two who read the folder, the thread and a cell, one waits
        self._compared: dict[str, Any] | None = None
        self._mattered: tuple[int, dict[str, Any] | None] = (0, None)  # of how many runs, what was told
        self._said: dict[str, Any] | None = None  # what is told of the runs, while one output is made of it

    @property
    def selected(self) -> list[Run]:
        """The runs that the reader has ticked."""
        names = [] if self._widget is None else self._widget.chosen
        return [self.runs[name] for name in names if name in self.runs]

    @property
    def payload(self) -> bytes:
        """The bytes that the live view is drawn from."""
        with self._lock:
            return packed(self._made())

    _widget_class = staticmethod(_widget_class)

    def _initial_state(self):
        return {"payload": self.payload}

    def _start_widget(self, widget):
        widget.on_msg(functools.partial(_asked, weakref.ref(self)))

    def refresh(self) -> bool:
        """Look for new runs and new values, and show them; True if there were any."""
        with self._lock:
            self.runs.refresh()
            changed = self.runs.changes != self._seen  # `msnb.tune` looks at the same runs
            if changed:
                self._show()
            return changed

    @property
    def live(self) -> bool:
        """Whether somebody has a live form of it on screen, bool."""
        return self._widget is not None

    def _show(self):
        self._seen = self.runs.changes
        cell_views.changed(self)
        if self._widget is not None:
            self._widget.payload = packed(self._made())

    def svg(self) -> str:
        """The runs as a still picture: parallel coordinates, and the best of them."""
        with self._lock:
            return to_svg(self._made())

    def html(self) -> str:
        """The interactive view as a page that needs no kernel, no network and no other file."""
        return self._build_page(everything=True).html()

    def close(self) -> None:
        """Take the view away, and look at the folder no more; its saved form stays."""
        self._closed.set()
        super().close()

    def __repr__(self) -> str:
        with self._lock:
            return to_text(self._made())

    _purpose = "explore the runs"

    def _name(self):
        return f"Runs in {self.runs.folder}"

    def _ipython_display_(self):
        cell_views.install()
        super()._ipython_display_()
        cell_views.follow(self)

    def _build_bundle(self, carries):
        with self._lock:
            self._said = self._made()
            try:
                made = super()._build_bundle(carries)
            finally:
                self._said = None
        if self.live and front_end.is_interactive():
            self._follow()
        return made

    def _made(self):
        return self._said or of_runs(self.runs, self._target, self._goal)

    def _build_page(self, everything=False):
        # `everything`: a file of its own, which is made once and may take its time
        with self._lock:
            made = dict(self._made())
            if made["target"] is not None and (everything or len(self.runs) <= _AT_ONCE):
                made["importance"] = self._matters(made["target"], everything)
            made["compared"] = self._compared
        return page.Page("runs", _MODULE, {"data": packed(made)}, "made.still(view,parts.data)", "html,body{margin:0}")

    # ------------------------------------------------------------------ live
    def _follow(self):
        """Look at the folder from time to time, as long as the view is there."""
        if self._looking is None:
            self._looking = threading.Thread(
                target=_look, args=(weakref.ref(self), self._closed), name="msnb-runs-view", daemon=True
            )
            self._looking.start()

    def _answer(self, question):
        """(what the page is told, buffers) of what it asks."""
        if "mark" in question:
            with self._lock:
                self.runs.marks.change({name: question["as"] for name in question["mark"]})
                self._show()
            return {}, []
        if "delete" in question:
            with self._lock:
                self.runs.delete(*question["delete"])
                self._show()
            return {}, []
        if "importance" in question:
            return self._importance(question["importance"]), []
        if "compare" in question:
            self._compared = self._comparison(question["compare"])
            return self._compared, []
        if "graph" in question:
            graphs = self.runs.difference(*question["graph"]).graphs
            if graphs is None:
                raise ValueError("One of the two runs has no graph.")
            return {}, [GraphView(graphs).payload, page.packed(GRAPH_MODULE)]
        raise ValueError(f"The view asks for {', '.join(question)}, which this kernel does not know.")

    def _importance(self, question):
        try:
            with self._lock:
                return self.runs.importance(question["target"], question["among"]).as_dict()
        except (ValueError, KeyError) as error:  # a tuning begins before any run has its metric
            return {"target": question["target"], "problem": str(error.args[0])}

    def _matters(self, target, anew):
        """What matters, as it was told last while there are few more runs: a forest of many takes half a second, and
        the output of a notebook is written at the end of each cell."""
        many, told = self._mattered
        if anew or told is None or told["target"] != target or "problem" in told or len(self.runs) > 1.1 * many:
            self._mattered = len(self.runs), self._importance({"target": target, "among": None})
        return self._mattered[1]

    def _comparison(self, names):
        """Curves of the runs of these names; of two also code and graphs."""
        each = [self.runs[name] for name in names]
        found = curves(each)
        told: dict[str, Any] = {
            "names": names,
            "curves": [{"tag": tag, "runs": [plain(c) for c in of]} for tag, of in list(found.items())[:_CURVES]],
            "more": max(0, len(found) - _CURVES),
        }
        if len(names) == 2:
            difference = self.runs.difference(*names)
            code = difference.code
            told["code"] = "The code of both is the same." if code == [] else code
            if difference.graph is not None:
                counts = ", ".join(f"{many} {kind}" for kind, many in difference.graph.counts().items() if many)
                told["graph"] = {"said": f"Nodes: {counts}."}
        return told


def _asked(view, widget, message, buffers):
    """The page asks something; what goes wrong is told there, not in the log."""
    here = view()
    if here is None or "ask" not in message:
        return
    question = {key: value for key, value in message.items() if key != "ask"}
    try:
        told, made = here._answer(question)
    except (OSError, ValueError, KeyError, TypeError) as error:
        told, made = {"problem": str(error.args[0] if isinstance(error, KeyError) and error.args else error)}, []
    widget.send({**told, "answer": message["ask"]}, made)


def _look(view, closed):
    """Refresh a view until it is closed or nobody holds it any more."""
    pause = _EVERY
    while not closed.wait(pause):
        here = view()
        if here is None:
            return
        begun = time.monotonic()
        try:
            here.refresh()
        except OSError:  # the folder is gone, or comes back
            pass
        pause = max(_EVERY, _PATIENCE * (time.monotonic() - begun))
        del here
