"""The same numbers in PYNATIVE mode, taken operator by operator while the tape runs forth and back."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.core.errors.cell_path import attribute_path
from msnb.core.state import events, trace_state
from msnb.insight.gradients import rows as naming
from msnb.insight.gradients import summary
from msnb.insight.gradients.recording import NonFinite
from msnb.insight.gradients.rows import Row
from msnb.insight.gradients.step import StepNumbers, Values, nothing
from msnb.ir.read import is_library

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.eager.tape import Leaf, Node
    from msnb.core.state.events import Listener
    from msnb.core.tensor.parameter import ParameterTuple
    from msnb.insight.gradients.monitor import GradientMonitor


class Tape:
    """What one GradientMonitor is told by the tape, see `msnb.core.state.events`."""

    def __init__(self, monitor: "GradientMonitor") -> None:
        self.monitor = monitor
        self.held: dict[Any, Any] = {}  # parameter -> its array before the update
        self.seen: set[Any] = set()  # names of Parameters that a gradient was taken with respect to
        self._clear()

    def _clear(self):
        self.nodes, self.made_by, self.counts, self.around = {}, [], {}, None
        self.watched = []  # (Row, direction, array) in the order of execution

    # ------------------------------------------------------------------ what the tape tells
    def listen(self) -> "Listener":
        """Be told from now on. Returns the Listener."""
        return events.listen(
            recorded=self.recorded,
            pulled=self.pulled,
            differentiated=self.differentiated,
            name=type(self.monitor).__name__,
        )

    def recorded(self, node: "Node", boxes: Any) -> None:
        """An operator ran in the forward pass of a gradient."""
        if trace_state.thread.recording != 1 or trace_state.thread.frame is not None:
            return
        self.monitor.recording.take_ready()
        op = _operator(node.kernel)
        cell, source, self.around = _where(self.around)
        base = f"{cell}/{op}" if cell else op
        self.counts[base] = number = self.counts.get(base, 0) + 1
        name = base if number == 1 else f"{base} ({number})"
        place = len(self.made_by)
        self.made_by.append((node, op, cell, source))  # keeps the node, and so its id, until the gradient is complete
        array = boxes[0]._array
        self.nodes[id(node)] = row = Row(
            "output",
            name,
            tuple(array.shape),
            naming.dtype_name(array.dtype),
            op,
            cell,
            source,
            -1,
            place,
        )
        self._watch(row, array, "forward")

    def pulled(self, node: "Node", cotangents: Any) -> None:
        """The gradients of an operator's results are known."""
        like = self.nodes.get(id(node))
        if like is None or not cotangents or cotangents[0] is None:
            return
        array = cotangents[0]._array
        row = Row(
            "gradient",
            like.name,
            tuple(array.shape),
            naming.dtype_name(array.dtype),
            like.op,
            like.cell,
            like.source,
            -1,
            like.order,
        )
        self._watch(row, array, "backward")

    def _watch(self, row, array, direction):
        wanted = self.monitor.locate or self.monitor.level == "all"
        if wanted and naming.is_real(array.dtype) and array.size:
            self.watched.append((row, direction, array))

    def differentiated(self, outputs: Any, weights: "ParameterTuple", sources: "list[Leaf]", gradients: Any) -> None:
        """A gradient is complete: hand its numbers to the recording."""
        if trace_state.thread.recording or not (weights or self.made_by) or not self._concerns(weights):
            self._clear()
            return
        self.close()
        recording = self.monitor.recording
        recording.mode = "PYNATIVE"
        reads = self._first_readers(sources)
        for number, (weight, source, gradient) in enumerate(zip(weights, sources, gradients)):
            array = gradient._array
            if not naming.is_real(array.dtype) or not array.size:
                continue
            place, (_, op, cell, line) = reads.get(id(source), (10**6 + number, (None, "", "", None)))
            row = Row(
                "parameter",
                weight.name,
                tuple(array.shape),
                naming.dtype_name(array.dtype),
                op,
                cell,
                line,
                -1,
                place,
            )
            self.watched.append((row, "backward", array))
            if place >= 10**6 and weight.name not in recording.unread:
                recording.unread.append(weight.name)
            self.held[weight] = weight._array
        watched, patterns, everything = self.watched, self.monitor.tensors, self.monitor.level == "all"
        recorded = [(row, array) for row, _, array in watched if everything or row.kind == "parameter"]
        recording.add_rows(row for row, _ in recorded)
        recording.operators = [(place, entry[1]) for place, entry in enumerate(self.made_by)]
        if self.monitor.net is not None:
            self.seen |= {w.name for w in weights}
            recording.untrained = [p.name for p in naming.trainable(self.monitor.net) if p.name not in self.seen]
        loss = next((o._array for o in outputs if o._array.size == 1 and naming.is_real(o._array.dtype)), None)
        wanted = {row.key for row in naming.chosen(patterns, [row for row, _ in recorded])} if patterns else ()
        whole = {row.key: array for row, array in recorded if row.key in wanted}
        self._clear()
        recording.add(_Numbers(recorded, whole, loss), lambda: _first(watched) if self.monitor.locate else None)

    def told(self, names: Any) -> None:
        """An observed program has moved these Parameters, and tells how far."""
        if self.held:
            self.held = {weight: before for weight, before in self.held.items() if weight.name not in names}

    def close(self) -> None:
        """The step is over: see how far the Parameters moved that no program has told of."""
        held, self.held = self.held, {}
        moved, values = {}, {}
        for weight, before in held.items():
            after = weight._array
            if after is not before and not before.is_deleted() and after.shape == before.shape:
                moved[weight.name] = before, after
            row = Row("weight", weight.name, tuple(after.shape), naming.dtype_name(after.dtype))
            if naming.chosen(self.monitor.tensors, [row]):
                values[row.key] = np.array(after)  # the next step may write over it
        if moved or values:
            self.monitor.recording.add(_Changes(moved, values))

    def _concerns(self, weights):
        net = self.monitor.net
        if net is None:
            return True
        own = {id(p) for p in net.get_parameters()}
        return any(id(w) in own for w in weights)

    def _first_readers(self, sources):
        """{id of a Parameter's leaf: (place, operator)} of the operator that reads it first."""
        wanted, found = {id(s) for s in sources}, {}
        for place, entry in enumerate(self.made_by):
            for link in entry[0].inputs:
                if link is not None and id(link[0]) in wanted:
                    found.setdefault(id(link[0]), (place, entry))
        return found


class _Numbers:
    """Reads the numbers of a step.

    Args:
        recorded (list): (Row, array) of what is summarised.
        whole (dict): row key -> array that is kept as it is.
        loss (Union[jax.Array, None]): the loss.
    """

    def __init__(self, recorded, whole, loss):
        self.whole, self.loss = whole, loss
        self.latest = {row.key: array for row, array in recorded}
        weights = [(row, array) for row, array in recorded if row.kind == "parameter"]
        others = [(row, array) for row, array in recorded if row.kind != "parameter"]
        self.weights = [row for row, _ in weights]
        self.step = StepNumbers([array for _, array in weights], [], [])
        self.others = Values([row for row, _ in others], [array for _, array in others])

    def ready(self):
        return self.step.ready() and self.others.ready()

    def __call__(self):
        made = nothing()
        made["latest"] = self.latest
        stats, bars, _ = self.step.read()
        made["loss"] = None if self.loss is None else np.asarray(self.loss, np.float64).reshape(())
        made["odd"] = not (np.isfinite(stats[:, 1:3]).all() and np.isfinite(made["loss"] or 0.0))
        keys = [row.key for row in self.weights]
        made["stats"].update(zip(keys, stats))
        made["histograms"].update(zip(keys, bars))
        self.others.read(made)
        made["tensors"] = {key: np.asarray(array) for key, array in self.whole.items()}
        return made


class _Changes:
    """Reads how far the Parameters moved.

    Args:
        moved (dict): name -> (array before, array after).
        tensors (dict): row key -> numpy array that is kept.
    """

    def __init__(self, moved, tensors):
        self.names, self.tensors = list(moved), tensors
        self.step = StepNumbers([], [old for old, _ in moved.values()], [new for _, new in moved.values()])

    def ready(self):
        return self.step.ready()

    def __call__(self):
        changes = self.step.read()[2]
        known = dict(zip(self.names, changes)) if changes is not None else {}
        return {**nothing(), "tensors": self.tensors, "changes": known}


def _first(watched):
    """The first tensor with a NaN, or else with an infinity."""
    codes = [int(summary.finiteness(array)) for _, _, array in watched]
    wanted = 2 if 2 in codes else 1
    if wanted not in codes:
        return None
    row, direction, _ = watched[codes.index(wanted)]
    name = f"gradient of {row.name}" if row.kind == "parameter" else row.name
    return NonFinite(0, "NaN" if wanted == 2 else "Inf", name, direction, row.cell, row.source)


def _operator(kernel):
    return "Custom" if kernel is None else kernel.name.meaning.operator


def _where(around):
    """(path of the Cell, (file, line, function), what is around) of the operator that runs, read from Python's stack.

    `around` is what an earlier call for the same gradient has found outside of it, None at first.
    """
    cells, source, outer = [], None, None
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if is_library(code.co_filename):
            if code.co_name == "__call__":
                cell = frame.f_locals.get("self")
                if hasattr(cell, "_attr_name") and hasattr(cell, "construct"):
                    (cells if outer is None else outer).append(cell)
            elif code.co_name == "_differentiate_on_tape":
                if around is not None and source is not None:
                    outer = list(around)
                    break
                cells, outer = [*cells, *(outer or ())], []
        elif source is None:
            source = (code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    outer = outer or []
    # the Cell that was called is the graph itself, no scope in it
    chain = [*cells, *outer[:-1]]
    within = [*chain[1:], *outer[-1:]] if outer else [*chain[1:], None][: len(chain)]
    names = [cell._scope_in(holder) for cell, holder in zip(chain, within, strict=True)][::-1]
    return attribute_path("/".join(names), type(outer[-1]).__name__ if outer else ""), source, outer
