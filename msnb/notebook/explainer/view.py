"""The view of explanations: live widget, standalone page, still picture, text."""

import os
import pathlib
import threading
import time
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

from msnb.formats.explanation_records import Explanations
from msnb.formats.text_files import BadFileError
from msnb.notebook.display import page
from msnb.notebook.explainer import payload, running_explainer
from msnb.notebook.explainer.picture import to_svg
from msnb.notebook.explainer.region import RegionQueries
from msnb.notebook.kernel import cell_views, front_end
from msnb.notebook.view import Renewed, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760
_EVERY = 0.5  # polling interval in seconds
_ENDINGS = {"interrupted": "The run was interrupted.", "failed": "The run has failed."}  # by status
_PATIENCE = 4  # a poll takes at most one of so many seconds


def explanations(
    folder: "str | Path", net: Any = None, inputs: Any = None, node: Any = None, height: int = _HEIGHT
) -> "ExplanationsView":
    """Return a view of the explanations that `mindspore.explainer.ImageClassificationRunner` has written to a folder.

    It shows pictures with saliency maps, the predictions as true and false positives and negatives, the methods side
    by side, and the scores of the methods. It follows a runner that is still writing.

    Args:
        folder (Union[str, Path]): the `summary_dir` of the runner.
        net (Union[Cell, Callable]): the network. With it, a region that is selected in a picture leads to the channels
            and nodes that carry it. Default: None.
        inputs (Union[Tensor, numpy.ndarray, Dataset]): inputs of the network in the order of the samples, of shape
            (N, C, H, W); of a data set, the first column. Default: None, the pictures of the folder, scaled to 0 to 1.
        node (Union[str, int, CNode]): the node whose channels are listed: a Cell's path or a query of the graph view.
            Default: None, the last convolution.
        height (int): height in pixels of the saved form; the live form is as high as its content. Default: 760.

    Returns:
        ExplanationsView. For a folder without explanations it says how to write some, and fills when they appear.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If `height` is not a positive int.
        TypeError: If `net` can't be called, or `inputs` or `node` are passed without `net`.
        BadFileError: If the file of explanations is damaged at its beginning.
    """
    return ExplanationsView(folder, net, inputs, node, height)


_widget_class = widget_kind(
    "ExplanationsWidget", _MODULE, lambda t: {"payload": t.Bytes(), "hasNet": t.Bool(), "state": t.Dict()}
)


class ExplanationsView(Renewed):
    """The result of `explanations`; it can be saved as .html, .svg, .png or .txt.

    Args:
        folder (Union[str, Path]): the folder, as for `explanations`.
        net (Union[Cell, Callable]): the network. Default: None.
        inputs (Any): the inputs of the network. Default: None.
        node (Any): the node whose channels are listed. Default: None.
        height (int): height in pixels of the saved form. Default: 760.

    Attributes:
        explanations (Explanations): samples, maps and scores.
    """

    def __init__(
        self, folder: "str | Path", net: Any = None, inputs: Any = None, node: Any = None, height: int = _HEIGHT
    ) -> None:
        super().__init__()
        self.height = checked_height("explanations", height)
        self.explanations: Explanations = Explanations(folder)
        self._problem = ""
        self._read_events()
        self._regions = RegionQueries(self.explanations, net, inputs, node)
        self._thumbnails = payload.Thumbnails(self.explanations)
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._file = self.explanations.path
        self._cached: bytes | None = None
        self._version = 0  # number of changes; a page that was opened again asks for what it has missed
        self._thumbnails.update()

    @property
    def title(self) -> str:
        """The name of the folder, str."""
        return self.explanations.folder.resolve().name

    @property
    def payload(self) -> bytes:
        """The serialized data of the view."""
        with self._lock:
            if self._cached is None:
                self._cached = payload.pack(self._build_content(), self._thumbnails)
            return self._cached

    def _build_content(self):
        content = payload.build_content(self.explanations, self.title)
        return {**content, "version": self._version, "note": self._problem, "waiting": self._waiting}

    @property
    def _waiting(self):
        """The sentence for a folder without explanations, "" for others."""
        if self.explanations.path is not None:
            return ""
        folder = os.fspath(self.explanations.folder)
        return (
            f"The folder {folder!r} has no explanations yet. mindspore.explainer.ImageClassificationRunner({folder!r}, "
            "(dataset, labels), net, nn.Softmax()) writes them: call its register_saliency and run."
        )

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        return {"payload": self.payload, "hasNet": self._regions.has_network}

    def _connect_widget(self, widget):
        view = weakref.ref(self)
        widget.on_msg(lambda widget, message, buffers: _answer(view, widget, message))
        self._stop_observing = running_explainer.follow(widget)

    # ------------------------------------------------------------------ following
    def refresh(self) -> bool:
        """Read new explanations, and show them.

        Returns:
            bool, True if there were any.
        """
        with self._lock:
            if not self._read_events():
                return False
            if self.explanations.path != self._file:  # a new run replaces the old one
                self._file = self.explanations.path
                self._thumbnails = payload.Thumbnails(self.explanations)
            before = set(self._thumbnails.encoded)
            new = self._thumbnails.update()
            self._cached = None
            self._version += 1
            cell_views.changed(self)
            if self._widget is not None:
                is_complete = not before <= set(self._thumbnails.encoded) or set(new) >= before
                paths = None if is_complete else new
                self._widget.send({"news": True}, [payload.pack(self._build_content(), self._thumbnails, paths)])
            return True

    def _read_events(self):
        try:
            return self.explanations.refresh()
        except (OSError, BadFileError) as error:
            if not self.explanations.samples and isinstance(error, BadFileError):
                raise
            has_changed, self._problem = self._problem != str(error), str(error)
            return has_changed

    def _start_polling_thread(self):
        if self._thread is None:
            self._thread = threading.Thread(
                target=_poll_folder, args=(weakref.ref(self), self._closed), name="msnb-explanations", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Close the view and stop polling the folder; its saved form remains."""
        self._closed.set()
        if self._widget is not None:
            self._stop_observing()
        super().close()

    # ------------------------------------------------------------------ questions of the page
    def answer(self, question: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Return (answer, buffers) for a question of the page."""
        if "files" in question:
            data, problems = [], {}
            for path in question["files"]:
                try:
                    data.append(self._thumbnails.read(path))
                except (OSError, BadFileError) as error:
                    problems[path] = payload.describe_problem(error)
            return {"files": [path for path in question["files"] if path not in problems]}, data
        if "region" in question:
            return self._regions.rank(**question["region"])
        if "since" in question:
            return {}, [] if question["since"] == self._version else [self.payload]
        raise ValueError(f"The view asks for {', '.join(question)}, which this kernel does not know.")

    # ------------------------------------------------------------------ forms
    def __repr__(self) -> str:
        if self._waiting:
            return self._waiting
        content = self._build_content()
        samples, labels = content["samples"], content["labels"]
        kinds = Counter(row["kind"] for sample in samples for row in sample["labels"] if row["kind"])
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in ("TP", "FP", "FN", "TN") if kinds[kind])
        head = f"{self.title}: {len(samples)} samples, {len(labels)} labels" + (f"; {counts}" if counts else "")
        lines = [head, f"methods: {', '.join(content['methods']) or 'none'}"]
        if content["status"]:
            lines.append(_ENDINGS[content["status"]])
        for score in content["scores"]:
            total = "NaN" if score["total"] is None else f"{score['total']:.4g}"
            lines.append(f"{score['benchmark']} of {score['method']}: {total}")
        return "\n".join(lines)

    def svg(self) -> str:
        """Return the first pictures with their maps, and the scores, as a still picture, str."""
        with self._lock:
            return to_svg(self._build_content(), self._thumbnails.encoded)

    _purpose = "look at the explanations"
    _follows_files = True

    def _name(self):
        return f"Explanations in {self.title}"

    def _build_mime_bundle(self, carries):
        output = super()._build_mime_bundle(carries)
        if self._widget is not None and front_end.is_interactive():
            self._start_polling_thread()
        return output

    def _build_page(self):
        return page.Page(
            self.title,
            _MODULE,
            {"data": self.payload},
            "made.still(view,parts.data)",
            "html,body{margin:0;background:transparent}",
        )


def _answer(view, widget, message):
    """Answer a question of the page. Errors become answers, because a user does not see the log."""
    view_now = view()
    if view_now is None or "ask" not in message:
        return
    question = {key: value for key, value in message.items() if key != "ask"}
    try:
        answer, buffers = view_now.answer(question)
    except Exception as error:  # the network is the user's, and the page waits for an answer
        answer, buffers = {"problem": f"{type(error).__name__}: {error}"}, []
    widget.send({**answer, "answer": message["ask"]}, buffers)


def _poll_folder(view, closed):
    """Refresh a view until it is closed or garbage-collected."""
    pause = _EVERY
    while not closed.wait(pause):
        view_now = view()
        if view_now is None:
            return
        begun = time.monotonic()
        view_now.refresh()
        pause = max(_EVERY, _PATIENCE * (time.monotonic() - begun))
        del view_now
