"""Kinds of labels: how a label is checked, stored as text and turned into targets of the classifier."""

import json
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

KINDS = ("class", "classes", "boxes", "text")


def check_kind(kind: Any) -> str:
    """Return `kind`, or raise a ValueError if it is not one of `KINDS`."""
    if kind not in KINDS:
        raise ValueError(
            f"For 'label', 'kind' should be 'class' (one class per picture), 'classes' (several), 'boxes' or 'text' "
            f"(one class per text), but got {kind!r}."
        )
    return kind


def check_classes(classes: Any) -> list[str]:
    """Return the classes as a list of str.

    Raises:
        TypeError: If `classes` is not a sequence of str.
        ValueError: If there is no name, an empty or a repeated one.
    """
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise TypeError(f"For 'label', 'classes' should be a list of names, but got {type(classes).__name__}.")
    wrong = [name for name in classes if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"For 'label', 'classes' should be a list of str, but it has the element {wrong[0]!r}.")
    if not classes or any(not name.strip() for name in classes):
        raise ValueError("For 'label', 'classes' should have at least one name, and no empty one.")
    repeated = sorted({name for name in classes if list(classes).count(name) > 1})
    if repeated:
        raise ValueError(f"For 'label', 'classes' should be different names, but has {', '.join(repeated)} twice.")
    return list(classes)


class LabelKind:
    """The labels of a session.

    Args:
        kind (str): one of `KINDS`.
        classes (Sequence[str]): names of the classes.

    A label is the name of a class for "class" and "text", a list of names for "classes", and a list of boxes
    ``[class, left, top, width, height]`` in pixels for "boxes".
    """

    def __init__(self, kind: str, classes: Sequence[str]) -> None:
        self.kind, self.classes = check_kind(kind), check_classes(classes)
        self.is_multilabel = kind in ("classes", "boxes")

    def check(self, label: Any) -> Any:
        """Return a label in its stored form. A class can be passed by its index, too.

        Raises:
            TypeError: If the label has another form.
            ValueError: If a class is unknown, or a box has no area.
        """
        if self.kind in ("class", "text"):
            return self._check_class(label)
        if isinstance(label, (str, bytes)) or not isinstance(label, (Sequence, np.ndarray)):
            form = "names of classes" if self.kind == "classes" else "boxes [class, left, top, width, height]"
            raise TypeError(f"For 'answer', 'label' should be a list of {form}, but got {label!r}.")
        if self.kind == "classes":
            names = {self._check_class(name) for name in label}
            return [name for name in self.classes if name in names]
        return [self._check_box(box) for box in label]

    def _check_class(self, name):
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(self.classes):
            return self.classes[int(name)]
        if not isinstance(name, str) or name not in self.classes:
            raise ValueError(f"For 'answer', the class should be one of {', '.join(self.classes)}, but got {name!r}.")
        return name

    def _check_box(self, box):
        if isinstance(box, str) or not isinstance(box, Sequence) or len(box) != 5:
            raise TypeError(f"For 'answer', a box should be [class, left, top, width, height], but got {box!r}.")
        name, *sides = box
        if any(isinstance(side, bool) or not isinstance(side, numbers.Real) for side in sides):
            raise TypeError(f"For 'answer', left, top, width and height should be numbers, but got {box!r}.")
        left, top, width, height = (round(float(side), 2) for side in sides)
        if (
            not (left >= 0 and top >= 0 and width > 0 and height > 0)
            or not np.isfinite([left, top, width, height]).all()
        ):
            raise ValueError(f"For 'answer', a box should lie in the picture and have an area, but got {box!r}.")
        return [self._check_class(name), left, top, width, height]

    def to_text(self, label: Any) -> str:
        """Return a checked label as text: the name of the class, or JSON."""
        return json.dumps(label, ensure_ascii=False) if self.is_multilabel else label

    def of_text(self, text: str) -> Any:
        """Return the label that `to_text` has written.

        Raises:
            ValueError: If `text` is no label of this session's kind and classes.
        """
        try:
            return self.check(json.loads(text) if self.is_multilabel else text)
        except TypeError as error:
            raise ValueError(str(error)) from None

    def to_targets(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the targets (labels, classes) of 0 and 1. For boxes: the classes that are in the picture."""
        targets = np.zeros((len(labels), len(self.classes)))
        for row, label in zip(targets, labels, strict=True):
            names = [label] if not self.is_multilabel else [x[0] if self.kind == "boxes" else x for x in label]
            for name in names:
                row[self.classes.index(name)] = 1
        return targets
