"""The view of runs: live widget, standalone page, still picture, text."""

import functools
import pathlib
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msnb.insight.runs import Run, Runs
from msnb.insight.runs.condition_query import Match
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
_AT_ONCE = 200  # with more runs the random forest for the importance is only fitted on demand, not for the saved form
_CURVES = 12  # maximum curves in a comparison
_EVERY = 1.0  # seconds between two refreshes
_PATIENCE = 40  # minimum pause between refreshes, as a multiple of the duration of the last refresh


def runs(
    folder: str | Path = "runs", target: str | None = None, goal: str | None = None, height: int = _HEIGHT
) -> "RunsView":
    """Return a view of the runs of a folder: table, parallel coordinates, scatter plot, importance, and differences.

    A selection of runs applies to all of these.

    Args:
        folder (Union[str, Path]): the folder with the runs of `msnb.record`, `SummaryCollector`, or MindSpore. Default:
            "runs".
        target (str): the metric that ranks the runs. Default: None, a metric that most runs have.
        goal (str): "minimize" or "maximize". Default: None, derived from the metric's name.
        height (int): height in pixels of the saved form; the live form is as high as its content. Default: 800.

    Returns:
        RunsView.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If no run has the metric `target`, `goal` is another word, or `height` is not a positive int.

    Examples:
        >>> import tempfile
        >>> import msnb
        >>> len(msnb.runs(tempfile.mkdtemp()).runs)
        0
    """
    folder_runs = Runs(folder)
    if target is not None and len(folder_runs) and target not in folder_runs.table():
        there = ", ".join(column.name for column in folder_runs.table().of_group("metric")) or "none"
        raise ValueError(f"For 'runs', no run has the metric {target!r}; there are: {there}.")
    return RunsView(folder_runs, target, goal, height)


_widget_class = widget_kind(
    "RunsWidget", _MODULE, lambda t: {"payload": t.Bytes(), "kept": t.Dict(), "chosen": t.List(t.Unicode())}
)


class RunsView(Renewed):
    """The result of `runs`; it can be saved as .html, .svg, .png or .txt.

    Args:
        runs (Runs): the runs.
        target (str): the metric that ranks the runs; runs may lack it. Default: None, a metric that most runs have.
        goal (str): "minimize" or "maximize". Default: None, derived from the metric's name.
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
        self._displayed_version = runs.changes
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._lock = threading.RLock()  # the background thread and the cell both read the folder
        self._last_comparison: dict[str, Any] | None = None
        # (number of runs, importance) of the last computation
        self._last_importance: tuple[int, dict[str, Any] | None] = (0, None)
        self._cached_content: dict[str, Any] | None = None  # content for the forms of one output, else None

    @property
    def selected(self) -> list[Run]:
        """The runs that the user has selected in the view."""
        names = [] if self._widget is None else self._widget.chosen
        return [self.runs[name] for name in names if name in self.runs]

    def where(self, condition: Any, nodes: str | Sequence[str] = "*") -> list[Match]:
        """Return the first step of each run in which a condition is met by a recorded value; see `Runs.where`.

        Args:
            condition (Union[str, tuple, Callable]): a condition of `msnb.watch`.
            nodes (Union[str, Sequence[str]]): names of recorded values, with wildcards. Default: "*".
        """
        return self.runs.where(condition, nodes)

    @property
    def payload(self) -> bytes:
        """The serialized data of the live view."""
        with self._lock:
            return packed(self._build_content())

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        return {"payload": self.payload}

    def _connect_widget(self, widget):
        widget.on_msg(functools.partial(_on_message, weakref.ref(self)))

    def refresh(self) -> bool:
        """Read new runs and new values, and show them. Return True if there were any."""
        with self._lock:
            self.runs.refresh()
            changed = self.runs.changes != self._displayed_version  # also detects a refresh by `msnb.tune`
            if changed:
                self._update_widget()
            return changed

    @property
    def live(self) -> bool:
        """True if a live widget exists, bool."""
        return self._widget is not None

    def _update_widget(self):
        self._displayed_version = self.runs.changes
        cell_views.changed(self)
        if self._widget is not None:
            self._widget.payload = packed(self._build_content())

    def svg(self) -> str:
        """Return the runs as a still picture: parallel coordinates, and the best of them."""
        with self._lock:
            return to_svg(self._build_content())

    def html(self) -> str:
        """Return the interactive view as a page that needs no kernel, no network and no other file."""
        return self._build_page(is_standalone=True).html()

    def close(self) -> None:
        """Close the view and stop polling the folder; its saved form remains."""
        self._closed.set()
        super().close()

    def __repr__(self) -> str:
        with self._lock:
            return to_text(self._build_content())

    _purpose = "explore the runs"
    _follows_files = True

    def _name(self):
        return f"Runs in {self.runs.folder}"

    def _build_mime_bundle(self, carries):
        with self._lock:
            self._cached_content = self._build_content()
            try:
                output = super()._build_mime_bundle(carries)
            finally:
                self._cached_content = None
        if self.live and front_end.is_interactive():
            self._start_polling_thread()
        return output

    def _build_content(self):
        return self._cached_content or of_runs(self.runs, self._target, self._goal)

    def _build_page(self, is_standalone=False):
        # A standalone file always includes the importance, although its computation is slow with many runs.
        with self._lock:
            content = dict(self._build_content())
            if content["target"] is not None and (is_standalone or len(self.runs) <= _AT_ONCE):
                content["importance"] = self._get_cached_importance(content["target"], is_standalone)
            content["compared"] = self._last_comparison
        return page.Page(
            "runs", _MODULE, {"data": packed(content)}, "made.still(view,parts.data)", "html,body{margin:0}"
        )

    # ------------------------------------------------------------------ live
    def _start_polling_thread(self):
        """Refresh the folder on a background thread while the view exists."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_poll_folder, args=(weakref.ref(self), self._closed), name="msnb-runs-view", daemon=True
            )
            self._thread.start()

    def _answer_question(self, question):
        """Return (answer, buffers) for a question of the page."""
        if "mark" in question:
            with self._lock:
                self.runs.marks.change({name: question["as"] for name in question["mark"]})
                self._update_widget()
            return {}, []
        if "delete" in question:
            with self._lock:
                self.runs.delete(*question["delete"])
                self._update_widget()
            return {}, []
        if "importance" in question:
            return self._compute_importance(question["importance"]), []
        if "compare" in question:
            self._last_comparison = self._compare_runs(question["compare"])
            return self._last_comparison, []
        if "graph" in question:
            graphs = self.runs.difference(*question["graph"]).graphs
            if graphs is None:
                raise ValueError("One of the two runs has no graph.")
            return {}, [GraphView(graphs).payload, page.packed(GRAPH_MODULE)]
        raise ValueError(f"The view asks for {', '.join(question)}, which this kernel does not know.")

    def _compute_importance(self, question):
        try:
            with self._lock:
                return self.runs.importance(question["target"], question["among"]).as_dict()
        except (ValueError, KeyError) as error:  # for example at the start of a tuning, when no run has the metric
            return {"target": question["target"], "problem": str(error.args[0])}

    def _get_cached_importance(self, target, must_compute):
        """Return the importance. The result is cached until the number of runs has grown by 10 %.

        To fit a random forest to many runs takes half a second. Without the cache each cell that changes the view would
        take this time, because its saved output is written at the end of the cell.
        """
        many, importance = self._last_importance
        if (
            must_compute
            or importance is None
            or importance["target"] != target
            or "problem" in importance
            or len(self.runs) > 1.1 * many
        ):
            self._last_importance = len(self.runs), self._compute_importance({"target": target, "among": None})
        return self._last_importance[1]

    def _compare_runs(self, names):
        """Return the curves of the runs `names`. For two runs, also return the differences of code and graph."""
        each = [self.runs[name] for name in names]
        curves_by_tag = curves(each)
        answer: dict[str, Any] = {
            "names": names,
            "curves": [
                {"tag": tag, "runs": [plain(c) for c in of]} for tag, of in list(curves_by_tag.items())[:_CURVES]
            ],
            "more": max(0, len(curves_by_tag) - _CURVES),
        }
        if len(names) == 2:
            difference = self.runs.difference(*names)
            code = difference.code
            answer["code"] = "The code of both is the same." if code == [] else code
            if difference.graph is not None:
                counts = ", ".join(f"{many} {kind}" for kind, many in difference.graph.counts().items() if many)
                answer["graph"] = {"said": f"Nodes: {counts}."}
        return answer


def _on_message(view, widget, message, buffers):
    """Answer a question of the page. Errors become answers, because a user does not see the log."""
    view_now = view()
    if view_now is None or "ask" not in message:
        return
    question = {key: value for key, value in message.items() if key != "ask"}
    try:
        answer, buffers_to_send = view_now._answer_question(question)
    except (OSError, ValueError, KeyError, TypeError) as error:
        answer, buffers_to_send = (
            {"problem": str(error.args[0] if isinstance(error, KeyError) and error.args else error)},
            [],
        )
    widget.send({**answer, "answer": message["ask"]}, buffers_to_send)


def _poll_folder(view, closed):
    """Refresh a view until it is closed or garbage-collected."""
    pause = _EVERY
    while not closed.wait(pause):
        view_now = view()
        if view_now is None:
            return
        begun = time.monotonic()
        try:
            view_now.refresh()
        except OSError:  # continue: a removed folder may be created again
            pass
        pause = max(_EVERY, _PATIENCE * (time.monotonic() - begun))
        del view_now
