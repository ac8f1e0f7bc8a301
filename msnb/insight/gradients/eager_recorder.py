"""Record gradients in PYNATIVE mode, operator by operator, while the tape runs forward and backward."""

import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from msnb.core.errors.cell_path import attribute_path
from msnb.core.state import events, trace_state
from msnb.insight.gradients import rows as naming
from msnb.insight.gradients import summary
from msnb.insight.gradients.recording import NonFinite, Recording
from msnb.insight.gradients.rows import Row
from msnb.insight.gradients.step import StepNumbers, Values, nothing
from msnb.ir.read import is_library

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.eager.tape import Leaf, Node
    from msnb.core.state.events import Listener
    from msnb.core.tensor.parameter import ParameterTuple
    from msnb.nn.cell import Cell


class Settings(Protocol):
    """Protocol: the attributes of a `GradientMonitor` that `Tape` reads."""

    recording: Recording
    level: str
    tensors: tuple[str, ...]
    net: "Cell | None"
    locate: bool


class Tape:
    """Records gradients for one GradientMonitor by handling the tape's events, see `msnb.core.state.events`."""

    def __init__(self, monitor: Settings) -> None:
        self.monitor = monitor
        self.old_arrays: dict[Any, Any] = {}  # parameter -> its array before the update
        self.differentiated_names: set[Any] = set()  # names of Parameters that a gradient was taken with respect to
        self._clear_step()

    def _clear_step(self):
        self.nodes, self.operators, self.counts, self.around = {}, [], {}, None
        self.watched = []  # (Row, direction, array) in the order of execution

    # ------------------------------------------------------------------ handlers of the tape's events
    def listen(self) -> "Listener":
        """Subscribe to the tape's events. Return the Listener."""
        return events.listen(
            recorded=self.recorded,
            pulled=self.pulled,
            differentiated=self.differentiated,
            name=type(self.monitor).__name__,
        )

    def recorded(self, node: "Node", boxes: Any) -> None:
        """Handle the event that an operator ran in the forward pass of a gradient."""
        if trace_state.thread.recording != 1 or trace_state.thread.frame is not None:
            return
        self.monitor.recording.take_ready()
        op = _get_operator_name(node.kernel)
        cell, source, self.around = _locate_operator(self.around)
        base = f"{cell}/{op}" if cell else op
        self.counts[base] = number = self.counts.get(base, 0) + 1
        name = base if number == 1 else f"{base} ({number})"
        place = len(self.operators)
        # keeps the node alive, and so its id unique, until the gradient is complete
        self.operators.append((node, op, cell, source))
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
        self._watch_array(row, array, "forward")

    def pulled(self, node: "Node", cotangents: Any) -> None:
        """Handle the event that the gradients of an operator's results are computed."""
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
        self._watch_array(row, array, "backward")

    def _watch_array(self, row, array, direction):
        is_watched = self.monitor.locate or self.monitor.level == "all"
        if is_watched and naming.is_real(array.dtype) and array.size:
            self.watched.append((row, direction, array))

    def differentiated(self, outputs: Any, weights: "ParameterTuple", sources: "list[Leaf]", gradients: Any) -> None:
        """Handle the event that a gradient is complete: add its numbers to the recording."""
        if trace_state.thread.recording or not (weights or self.operators) or not self._includes_any_weight(weights):
            self._clear_step()
            return
        self.close()
        recording = self.monitor.recording
        recording.mode = "PYNATIVE"
        reads = self._find_first_readers(sources)
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
            self.old_arrays[weight] = weight._array
        watched, patterns, everything = self.watched, self.monitor.tensors, self.monitor.level == "all"
        recorded = [(row, array) for row, _, array in watched if everything or row.kind == "parameter"]
        recording.add_rows(row for row, _ in recorded)
        recording.operators = [(place, entry[1]) for place, entry in enumerate(self.operators)]
        if self.monitor.net is not None:
            self.differentiated_names |= {w.name for w in weights}
            recording.untrained = [
                p.name for p in naming.trainable(self.monitor.net) if p.name not in self.differentiated_names
            ]
        loss = next((o._array for o in outputs if o._array.size == 1 and naming.is_real(o._array.dtype)), None)
        tensor_keys = {row.key for row in naming.chosen(patterns, [row for row, _ in recorded])} if patterns else ()
        full_tensors = {row.key: array for row, array in recorded if row.key in tensor_keys}
        self._clear_step()
        recording.add(
            _Numbers(recorded, full_tensors, loss), lambda: _find_nonfinite(watched) if self.monitor.locate else None
        )

    def exclude_updated(self, names: Any) -> None:
        """Exclude Parameters that an observed program has updated, because the measurements of the program include
        them.
        """
        if self.old_arrays:
            self.old_arrays = {weight: before for weight, before in self.old_arrays.items() if weight.name not in names}

    def close(self) -> None:
        """End the step: record the changes of Parameters that no observed program has updated."""
        old_arrays, self.old_arrays = self.old_arrays, {}
        moved, values = {}, {}
        with trace_state.donation_lock.lock:  # a step of another thread may donate the arrays that are read here
            for weight, before in old_arrays.items():
                after = weight._array
                if after is not before and not before.is_deleted() and after.shape == before.shape:
                    moved[weight.name] = before, after
                row = Row("weight", weight.name, tuple(after.shape), naming.dtype_name(after.dtype))
                if naming.chosen(self.monitor.tensors, [row]):
                    values[row.key] = np.array(after)  # a copy, because the next step may overwrite the array
            changes = _Changes(moved, values) if moved or values else None
        if changes is not None:
            self.monitor.recording.add(changes)

    def _includes_any_weight(self, weights):
        net = self.monitor.net
        if net is None:
            return True
        own = {id(p) for p in net.get_parameters()}
        return any(id(w) in own for w in weights)

    def _find_first_readers(self, sources):
        """Return {id of a Parameter's leaf: (position, operator)} of the first operator that reads it."""
        source_ids, readers = {id(s) for s in sources}, {}
        for place, entry in enumerate(self.operators):
            for link in entry[0].inputs:
                if link is not None and id(link[0]) in source_ids:
                    readers.setdefault(id(link[0]), (place, entry))
        return readers


class _Numbers:
    """Computes the statistics of a step's tensors on the device, and returns them when it is called.

    Args:
        recorded (list): pairs (Row, array) to summarise.
        full_tensors (dict): row key -> array to store with all values.
        loss (Union[jax.Array, None]): the loss.
    """

    def __init__(self, recorded, full_tensors, loss):
        self.full_tensors, self.loss = full_tensors, loss
        self.latest = {row.key: array for row, array in recorded}
        weights = [(row, array) for row, array in recorded if row.kind == "parameter"]
        others = [(row, array) for row, array in recorded if row.kind != "parameter"]
        self.weights = [row for row, _ in weights]
        self.step = StepNumbers([array for _, array in weights], [], [])
        self.others = Values([row for row, _ in others], [array for _, array in others])

    def ready(self):
        return self.step.ready() and self.others.ready()

    def __call__(self):
        result = nothing()
        result["latest"] = self.latest
        stats, bars, _ = self.step.read()
        result["loss"] = None if self.loss is None else np.asarray(self.loss, np.float64).reshape(())
        result["odd"] = not (np.isfinite(stats[:, 1:3]).all() and np.isfinite(result["loss"] or 0.0))
        keys = [row.key for row in self.weights]
        result["stats"].update(zip(keys, stats))
        result["histograms"].update(zip(keys, bars))
        self.others.read(result)
        result["tensors"] = {key: np.asarray(array) for key, array in self.full_tensors.items()}
        return result


class _Changes:
    """Computes the changes of Parameters in a step on the device, and returns them when it is called.

    Args:
        moved (dict): name -> (array before, array after).
        tensors (dict): row key -> numpy array to store.
    """

    def __init__(self, moved, tensors):
        self.names, self.tensors = list(moved), tensors
        self.step = StepNumbers([], [old for old, _ in moved.values()], [new for _, new in moved.values()])

    def ready(self):
        return self.step.ready()

    def __call__(self):
        changes = self.step.read()[2]
        change_by_name = dict(zip(self.names, changes)) if changes is not None else {}
        return {**nothing(), "tensors": self.tensors, "changes": change_by_name}


def _find_nonfinite(watched):
    """Return a NonFinite for the first tensor with a NaN or, if there is no NaN, with an infinity. None if all are
    finite.
    """
    codes = [int(summary.finiteness(array)) for _, _, array in watched]
    code = 2 if 2 in codes else 1
    if code not in codes:
        return None
    row, direction, _ = watched[codes.index(code)]
    name = f"gradient of {row.name}" if row.kind == "parameter" else row.name
    return NonFinite(0, "NaN" if code == 2 else "Inf", name, direction, row.cell, row.source)


def _get_operator_name(kernel):
    return "Custom" if kernel is None else kernel.name.meaning.operator


def _locate_operator(around):
    """Return (Cell path, (file, line, function), enclosing frames) of the running operator, from Python's stack.

    `around` is the third result of an earlier call for the same gradient, None at first.
    """
    scope, root, source, outer = locate_scope(around)
    return attribute_path(scope, root), source, outer


def locate_scope(around: Any) -> tuple[str, str, Any, list[Any]]:
    """Return (scope, class of the outermost Cell, (file, line, function), enclosing frames) of the running operator.

    Args:
        around (Union[list, None]): the last result of an earlier call for the same gradient, None at first.
    """
    cells, source, outer = [], None, None
    frame = sys._getframe(1)
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
    # the outermost Cell is the root of the graph, so it is not part of a scope
    chain = [*cells, *outer[:-1]]
    within = [*chain[1:], *outer[-1:]] if outer else [*chain[1:], None][: len(chain)]
    names = [cell._get_scope_under_caller(holder) for cell, holder in zip(chain, within, strict=True)][::-1]
    return "/".join(names), type(outer[-1]).__name__ if outer else "", source, outer
