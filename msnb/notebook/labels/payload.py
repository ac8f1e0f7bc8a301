"""The state of a labelling session as JSON, and its pictures as PNG."""

from collections import Counter
from typing import Any

from msnb.labelling.pool import encode_png
from msnb.labelling.session import Item, Session

THUMBNAIL = 160  # pixels of a side


def describe_state(session: Session) -> dict[str, Any]:
    """Return the counts, the learning curve and the progress of a session."""
    answers, curve, error = session.answers, session.last_curve, session.error
    kind = session.kind
    if kind.is_multilabel:
        counts = Counter(x[0] if kind.kind == "boxes" else x for label in answers.values() for x in label)
    else:
        counts = Counter(answers.values())
    return {
        "kind": kind.kind,
        "classes": kind.classes,
        "counts": [counts[name] for name in kind.classes],
        "total": len(session.pool),
        "labelled": len(answers),
        "keep": session.keep.name,
        "strategy": session.strategy.name,
        "features": session.features_description,
        "featuresRead": session.features_read,
        "canTrain": session.net is not None,
        "isTraining": session.is_training,
        "error": f"{type(error).__name__}: {error}" if error is not None else "",
        "curve": {
            "own": list(zip(curve.labels, curve.accuracy, strict=True)),
            "random": list(zip(curve.random_labels, curve.random_accuracy, strict=True)),
            "heldOut": curve.held_out,
            "advice": curve.advice,
        },
    }


def describe_item(session: Session, item: Item | None, largest: int = 640) -> tuple[dict[str, Any] | None, list[bytes]]:
    """Return an item as (JSON, PNG in a list). The text of an item is in the JSON.

    Args:
        session (Session): the session.
        item (Item): the item; None gives (None, []).
        largest (int): the largest side of the picture in pixels. Default: 640.
    """
    if item is None:
        return None, []
    described = {
        "index": item.index,
        "name": item.name,
        "drawn": item.drawn,
        "suggestion": item.suggestion,
        "probability": item.probability,
        "label": session.answers.get(item.index),
    }
    if session.pool.kind == "texts":
        return {**described, "text": session.pool.raw(item.index)}, []
    try:
        picture = session.pool.picture(item.index)
    except ValueError as error:  # the page shows it; the user can skip the item
        return {**described, "problem": str(error)}, []
    height, width = picture.shape[:2]
    return {**described, "width": width, "height": height}, [encode_png(picture, largest)]
