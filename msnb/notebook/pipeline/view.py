"""The view of a running pipeline: a live widget while it runs, the same picture as HTML in the saved file."""

import functools
import pathlib
import threading
from typing import Any, Self

from msnb.dataset.engine.dataset import Dataset
from msnb.notebook.kernel import front_end
from msnb.notebook.pipeline import drawing

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_EVERY = 0.25  # seconds between updates
_MOST = 240  # maximum history entries; if there are more, every second one is dropped


def watch(dataset: Dataset) -> "PipelineView":
    """Show the activity of a pipeline while other code uses it.

    Args:
        dataset (Dataset): The pipeline.

    Returns:
        PipelineView, to use with ``with``.

    Raises:
        TypeError: If `dataset` is no Dataset.

    Examples:
        >>> from msnb.notebook.pipeline import watch
        >>> with watch(dataset):
        ...     model.train(1, dataset)
    """
    return PipelineView(dataset)


class PipelineView:
    """Time and throughput of every operator of a pipeline.

    Args:
        dataset (Dataset): The pipeline.

    Attributes:
        monitor (Monitor): The measured times and throughputs.
    """

    def __init__(self, dataset: Dataset) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"For 'PipelineView', 'dataset' should be a mindspore.dataset Dataset, but got "
                f"{type(dataset).__name__}."
            )
        self.monitor: Any = dataset.monitor()
        self.history: list[Any] = []
        self._widget = self._display_handle = self._thread = None
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self.monitor.__enter__()
        self._ended.clear()
        self._thread = threading.Thread(target=self._update_until_closed, name="msnb-pipeline-view", daemon=True)
        self._display_handle = _display_view(self)
        self._thread.start()
        return self

    def __exit__(self, *error: BaseException) -> None:
        self.monitor.__exit__(*error)
        self._ended.set()
        self._thread.join()
        self._thread = None
        self._update()
        if self._display_handle is not None:  # write the last picture to the saved output
            self._display_handle.update(self)

    def _update_until_closed(self):
        while not self._ended.wait(_EVERY):
            self._update()

    def _update(self):
        snapshot = self.monitor.snapshot()
        filled, places = snapshot["queue"]
        if self.history and snapshot["rows"] < self.history[-1][1]:
            self.history.clear()  # the row count has decreased: a new iterator has started
        self.history.append((snapshot["seconds"], snapshot["rows"], filled / places if places else 0.0))
        if len(self.history) > _MOST:
            del self.history[1::2]
        if self._widget is not None:
            self._widget.picture = drawing.picture(snapshot, self.history)

    def __repr__(self) -> str:
        return repr(self.monitor)

    def html(self) -> str:
        """Return the picture as standalone HTML."""
        return drawing.page(self.monitor.snapshot(), self.history)

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "text/html": self.html()}
        # A finished pipeline or a non-interactive session needs no widget.
        kind = _widget_class() if self._thread is not None and front_end.is_interactive() else None
        if kind is not None:
            if self._widget is None:
                self._widget = kind(picture=drawing.picture(self.monitor.snapshot(), self.history))
            bundle = self._widget._repr_mimebundle_()
            data = {**((bundle[0] if isinstance(bundle, tuple) else bundle) or {}), **data}
        return data, {}


def monitor_html(monitor: Any) -> str:
    """Return a monitor as HTML, without a view."""
    return drawing.page(monitor.snapshot())


def _display_view(view):
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display(view, display_id=True) if get_ipython() is not None else None


@functools.cache
def _widget_class():
    try:
        import anywidget
        import traitlets
    except ImportError:  # without anywidget the view is only a picture
        return None

    class PipelineWidget(anywidget.AnyWidget):
        _esm = _MODULE.read_text(encoding="utf-8")
        _css = drawing.style()
        picture = traitlets.Unicode("").tag(sync=True)

    return PipelineWidget
