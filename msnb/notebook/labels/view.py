"""The labelling page: a session that a notebook shows as a live widget, and as a picture in the saved notebook."""

import json
import pathlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msnb.labelling.session import Item, Session
from msnb.nn.cell import Cell
from msnb.notebook.display import page
from msnb.notebook.kernel import cell_views
from msnb.notebook.labels.payload import THUMBNAIL, describe_item, describe_state
from msnb.notebook.labels.picture import to_svg
from msnb.notebook.view import Renewed, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 560
_BATCH = 12  # pictures of a grid


def label(
    images: Any,
    classes: Sequence[str],
    net: Cell | None = None,
    strategy: str | Callable[..., Any] = "margin",
    keep: str | Path = "labels.csv",
    *,
    kind: str = "class",
    features: Any = None,
    transform: Callable[..., Any] | None = None,
    held_out: float = 0.2,
    seed: int = 0,
) -> "LabelSession":
    """Label pictures or texts with suggestions that improve with each answer.

    In a notebook the session is a page with keys: 1 to 9 select a class, Enter takes the suggestion, s skips, z goes
    back. In code, `next`, `answer` and `undo` do the same. Each answer is on the disk at once; the same call goes on
    later.

    A linear classifier learns between answers, from the features before the last Dense of `net`. Without `net`, the
    features are edge directions and brightness of the picture at 32 x 32 pixels, or hashed words of a text.

    Args:
        images (Any): a folder of pictures, a list of their paths, an array (items, height, width), (items, height,
            width, channels) or (items, channels, height, width), a list of arrays, a Dataset, or a list of texts.
        classes (Sequence[str]): names of the classes.
        net (Cell): network for the features. Default: None.
        strategy (Union[str, Callable]): the item that is asked next: "least_confident", "margin", "entropy", "bald",
            "coreset", "diversity", "random", or a function of `msnb.labelling.Candidates` that returns a score per
            item. Default: "margin".
        keep (Union[str, Path]): the file of answers, CSV. Default: "labels.csv".
        kind (str): "class" (one class per picture), "classes" (several), "boxes", or "text" (one class per text).
            Default: "class".
        features (Union[numpy.ndarray, Callable]): features (items, size), or a function of an item (path, array or
            text), in place of `net`. Default: None.
        transform (Callable): function of a picture (uint8 array) that returns the network's input. Default: None,
            float32 (channels, height, width); uint8 is divided by 255.
        held_out (float): share of the answers that measure the accuracy and are not learned from. Default: 0.2.
        seed (int): seed of the random draws. Default: 0.

    Returns:
        LabelSession.

    Raises:
        TypeError: If an argument has another type, or an item has no picture.
        ValueError: If there is no item, a name is unknown, or `keep` belongs to other items or classes.
        FileNotFoundError: If a picture is missing.
        RuntimeError: If another session has `keep` open.

    Examples:
        >>> session = msnb.label(images, ["cat", "dog"])
        >>> item = session.next()
        >>> session.answer(item, "cat")
        >>> session.undo().index == item.index
        True
        >>> session.close()
    """
    for earlier in cell_views.list_earlier_views():  # a cell that runs again goes on with its file
        if isinstance(earlier, LabelSession) and earlier.keep.resolve() == Path(keep).resolve():
            earlier.close()
    session = LabelSession(images, classes, net, strategy, keep, kind, features, transform, held_out, seed)
    cell_views.remember(session)
    return session


_widget_class = widget_kind("LabelWidget", _MODULE, lambda t: {"state": t.Unicode(""), "live": t.Bool()})


class LabelSession(Session, Renewed):
    """The result of `msnb.label`: a labelling session with a page. `save` writes .html, .svg, .png or .txt."""

    _purpose = "see the accuracy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.height: int = _HEIGHT
        Renewed.__init__(self)
        Session.__init__(self, *args, **kwargs)

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        return {"state": json.dumps(describe_state(self)), "live": True}

    def _connect_widget(self, widget):
        widget.on_msg(self._on_message)

    def _report(self):
        widget = self._widget
        if widget is not None:
            widget.send({"state": describe_state(self)})

    def _on_message(self, widget, message, buffers):
        try:
            answer, pictures = self._act(message)
        except Exception as error:  # send every error as the answer, because the page waits for one
            answer, pictures = {"problem": f"{error}"}, []
        cell_views.changed(self)
        widget.send({"answer": message["number"], "state": describe_state(self), **answer}, buffers=pictures)

    def _act(self, message):
        """Do what the page asks for, and return (answer, pictures)."""
        action = message["do"]
        if action == "batch":
            return self._describe_items(self.batch(message["label"], _BATCH))
        if action == "faults":
            faults = self.faults()
            answer, pictures = self._describe_items([self.item(fault.index) for fault in faults[:_BATCH]])
            for described, fault in zip(answer["items"], faults, strict=False):
                described.update(suggestion=fault.suggestion, probability=fault.probability)
            return {**answer, "faults": len(faults)}, pictures
        if action == "train":
            self.train_net()
            return {}, []
        shown = None
        if action == "answer":
            drawn = message.get("drawn", "user")
            items = [Item(index, self.pool.names[index], drawn) for index in message["items"]]
            self.answer_all(items, message["label"])
        elif action == "skip":
            self.skip(message["items"][0])
        elif action == "undo":
            shown = self.undo()
        item, pictures = describe_item(self, shown or self.next())
        return {"item": item}, pictures

    def _describe_items(self, items):
        described, pictures = [], []
        for item in items:
            one, data = describe_item(self, item, THUMBNAIL)
            described.append({**(one or {}), "picture": len(pictures) if data else -1})
            pictures += data
        return {"items": described}, pictures

    # ------------------------------------------------------------------ forms
    def svg(self) -> str:
        """Return the counts and the learning curve as a still picture, str."""
        return to_svg(describe_state(self))

    def _name(self):
        return f"Labelling: {self!r}"

    def _build_page(self):
        parts: dict[str, bytes | Path] = {"data": json.dumps(describe_state(self)).encode()}
        style = "html,body{margin:0;background:transparent}"
        return page.Page("Labelling", _MODULE, parts, "made.still(view,parts.data)", style)

    def close(self) -> None:
        """End the session and close its page. `keep` can be opened by another session then."""
        Session.close(self)
        Renewed.close(self)
