"""Changed values in a graph view: the answers to the page, and the column of relative differences."""

from typing import Any

import numpy as np

from msnb.insight.interventions.attributes import numeric_attributes
from msnb.insight.interventions.what_if import AttributeEdit, Edit, Outcome, WhatIf
from msnb.notebook.display.html import two_numbers
from msnb.notebook.graph.node_values import NodeValues

KEY = "change"  # name of the column
_CLASSES = 5  # maximum elements of a result that are shown


class ViewedEdits:
    """Runs of one view's network with a changed value."""

    def __init__(self, values: NodeValues) -> None:
        self._values = values
        self._replay: Any = None
        self._what_if: Any = None

    def run(self, edit: Edit | AttributeEdit) -> Outcome:
        """Return the outcome of an edit in the selected step.

        Raises:
            ValueError: If the value of the node can't be changed.
        """
        replay = self._values.replay
        if replay is not self._replay:
            self._replay, self._what_if = replay, WhatIf(replay.program, replay.inputs)
        return self._what_if.run(edit)

    def column(self, edit: Edit | AttributeEdit, outcome: Outcome) -> dict[str, Any]:
        """Return the relative differences as a column for `GraphView.set_column`."""
        nodes = list(self._values.replay.graph.all_nodes())
        moved = outcome.differences
        values = [moved[node.id] if np.isfinite(moved.get(node.id, np.nan)) else None for node in nodes]
        notes = [f"changed here: {edit}" if node.id == edit.node else None for node in nodes]
        return {"values": values, "label": "relative difference", "note": notes, "fold": "max"}


def describe_attributes(values: NodeValues, content: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request of the page for the attributes of a node that it can change.

    Each row is (name, value, True if a change of the value needs no compilation).
    """
    ident = int(content.get("node", -1))
    node = next((node for node in values.replay.graph.all_nodes() if node.id == ident), None)
    rows = [] if node is None or node.direction != "forward" else [list(row) for row in numeric_attributes(node)]
    return {"kind": "attributes", "node": ident, "rows": rows}


def describe_outcome(edit: Edit | AttributeEdit, outcome: Outcome) -> dict[str, Any]:
    """Return the results before and after an edit as data for JSON.

    Each entry has ``title`` and ``rows`` of (name, before, after). A result with axes shows the elements of its first
    example that are largest before or after the edit, such as the scores of classes.
    """
    results = []
    for index, (before, after) in enumerate(zip(outcome.before, outcome.after, strict=True)):
        title = "result" if len(outcome.before) == 1 else f"result {index}"
        if before is not None:
            results.append({"title": title, "rows": _format_result_rows(np.asarray(before), np.asarray(after))})
    note = ""
    if outcome.has_gradients:
        note = "Gradients and updates do not follow: msnb.intervene around the step computes them."
    return {"text": str(edit), "results": results, "note": note}


def _format_result_rows(before, after):
    if before.dtype.kind not in "fiub" and before.dtype.name != "bfloat16":
        return []
    before, after = before.astype(np.float64), after.astype(np.float64)
    if before.size <= 1:
        return [["value", *two_numbers(before.reshape(())[()], after.reshape(())[()])]] if before.size else []
    if before.ndim > 1:
        before, after = (a.reshape(-1, a.shape[-1])[0] for a in (before, after))
    order = {int(i) for a in (before, after) for i in np.argsort(-np.nan_to_num(a))[: (_CLASSES + 1) // 2]}
    rows = sorted(order, key=lambda i: -before[i])[:_CLASSES]
    return [[str(i), *two_numbers(before[i], after[i])] for i in rows]
