"""The same numbers in PYNATIVE mode, taken operator by operator while the tape runs forth and back."""
import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core import trace
from msnb.core.operator import attributes_of
from msnb.insight.gradients import rows as naming
from msnb.insight.gradients import summary
from msnb.insight.gradients.recording import NonFinite
from msnb.insight.gradients.rows import Row
from msnb.ir.read import is_library


@functools.partial(jax.jit, static_argnums=0)
def _measure(kinds, arrays, loss):
    """(moments, histograms, living units, finiteness) of the arrays of one step, in one call.

    Args:
        kinds (tuple): per array (row kind or None for one that is only looked at when something is wrong, operator).
        arrays (list): the tensors in the order in which they were made.
        loss (Union[jax.Array, None]): the loss.
    """
    whole = [(kind, op, array) for (kind, op), array in zip(kinds, arrays) if kind is not None]
    stats, bars, alarm = [], [], []
    if whole:
        stats, bars = summary.summarised([array for _, _, array in whole], [
            op if kind == "output" and op in naming.SATURATING else None for kind, op, _ in whole])
        gradients = np.array([n for n, (kind, _, _) in enumerate(whole) if kind == "parameter"], np.int32)
        alarm.append(stats[gradients, 1] + stats[gradients, 2])
    units = [summary.living(array) for kind, op, array in whole if _has_units(kind, op, array)]
    if loss is not None:
        alarm.append(loss.reshape(1).astype(jnp.float32))
    flags = jax.lax.cond(~jnp.all(jnp.isfinite(jnp.concatenate(alarm))), lambda: summary.finiteness(arrays),
                         lambda: jnp.zeros(len(arrays), jnp.uint8)) if alarm and arrays else jnp.zeros(0, jnp.uint8)
    return stats, bars, units, flags


def _has_units(kind, op, array):
    return kind == "output" and op.startswith("ReLU") and array.ndim > 1


_change = jax.jit(summary.change)


class Tape:
    """A watcher of `msnb.core.tape` for one GradientMonitor."""

    def __init__(self, monitor):
        self.monitor = monitor
        self.held = {}  # parameter -> its array before the update
        self.seen = set()  # names of Parameters that a gradient was taken with respect to
        self._clear()

    def _clear(self):
        self.nodes, self.made_by, self.counts, self.around = {}, [], {}, None
        self.watched = []  # (Row, direction, array) in the order of execution

    # ------------------------------------------------------------------ what the tape tells
    def made(self, node, boxes):
        """An operator ran in the forward pass of a gradient."""
        if trace.thread.recording != 1 or trace.thread.frame is not None:
            return
        op = _operator(node.kernel)
        scope, source, self.around = _where(self.around)
        base = "/".join(part for part in (naming.short_scope(scope), op) if part)
        self.counts[base] = number = self.counts.get(base, 0) + 1
        name = base if number == 1 else f"{base} ({number})"
        place = len(self.made_by)
        self.made_by.append((node, op, scope, source))  # keeps the node, and so its id, until the gradient is complete
        array = boxes[0]._array
        self.nodes[id(node)] = row = Row("output", name, tuple(array.shape), str(array.dtype), op,
                                         naming.short_scope(scope).rpartition("/")[2], source, -1, place)
        self._watch(row, array, "forward")

    def pulled(self, node, cotangents):
        """The gradients of an operator's results are known."""
        like = self.nodes.get(id(node))
        if like is None or not cotangents or cotangents[0] is None:
            return
        array = cotangents[0]._array
        row = Row("gradient", like.name, tuple(array.shape), str(array.dtype), like.op, like.cell, like.source, -1,
                  like.order)
        self._watch(row, array, "backward")

    def _watch(self, row, array, direction):
        wanted = self.monitor.locate or self.monitor.level == "all"
        if wanted and naming.is_real(array.dtype) and array.size:
            self.watched.append((row, direction, array))

    def done(self, outputs, weights, sources, gradients):
        """A gradient is complete: hand its numbers to the recording."""
        if trace.thread.recording or not (weights or self.made_by) or not self._concerns(weights):
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
            place, (_, op, scope, line) = reads.get(id(source), (10 ** 6 + number, (None, "", "", None)))
            row = Row("parameter", weight.name, tuple(array.shape), str(array.dtype), op,
                      naming.short_scope(scope).rpartition("/")[2], line, -1, place)
            self.watched.append((row, "backward", array))
            if place >= 10 ** 6 and weight.name not in recording.unread:
                recording.unread.append(weight.name)
            self.held[weight] = weight._array
        watched, patterns, everything = self.watched, self.monitor.tensors, self.monitor.level == "all"
        rows = [row for row, _, _ in watched if everything or row.kind == "parameter"]
        recording.add_rows(rows)
        recording.operators = [(place, entry[1]) for place, entry in enumerate(self.made_by)]
        if self.monitor.net is not None:
            self.seen |= {w.name for w in weights}
            recording.untrained = [p.name for p in self.monitor.net.trainable_params() if p.name not in self.seen]
        loss = next((o._array for o in outputs if o._array.size == 1 and naming.is_real(o._array.dtype)), None)
        kinds = tuple((row.kind if everything or row.kind == "parameter" else None, row.op) for row, _, _ in watched)
        made = _measure(kinds, [array for _, _, array in watched], loss)
        wanted = {row.key for row in naming.chosen(patterns, rows)} if patterns else ()
        whole = {row.key: array for row, _, array in watched if row.key in wanted}
        places = [(row, direction) for row, direction, _ in watched]
        self._clear()
        recording.add(lambda: _read(rows, made, whole, loss), lambda found: _describe(places, found))

    def close(self):
        """The step is over: see how far the Parameters moved, where no compiled optimizer has told."""
        held, self.held = self.held, {}
        changes, values = {}, {}
        for weight, before in held.items():
            after = weight._array
            if after is not before and not before.is_deleted() and after.shape == before.shape:
                changes[weight.name] = _change(before, after)
            row = Row("weight", weight.name, tuple(after.shape), str(after.dtype))
            if naming.chosen(self.monitor.tensors, [row]):
                values[row.key] = np.array(after)  # the next step may write over it
        if changes or values:
            self.monitor.recording.add(lambda: {**_nothing(), "tensors": values,
                                                "changes": {k: np.asarray(v) for k, v in changes.items()}})

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


def _nothing():
    return {"stats": {}, "histograms": {}, "changes": {}, "units": {}, "tensors": {}, "loss": None, "flags": None}


def _read(rows, measured, whole, loss):
    made = _nothing()
    stats, bars, units, flags = measured
    if rows:
        keys = [row.key for row in rows]
        made["stats"] = dict(zip(keys, np.asarray(stats)))
        made["histograms"] = dict(zip(keys, np.asarray(bars)))
    with_units = [row.key for row in rows if row.kind == "output" and row.op.startswith("ReLU") and len(row.shape) > 1]
    made["units"] = {key: np.asarray(alive) for key, alive in zip(with_units, units)}
    made["tensors"] = {key: np.asarray(array) for key, array in whole.items()}
    made["loss"] = None if loss is None else np.asarray(loss, np.float64).reshape(())
    made["flags"] = np.asarray(flags)
    return made


def _describe(places, found):
    bad = [(row, direction, int(flag)) for (row, direction), flag in zip(places, found) if flag]
    row, direction, flag = next((entry for entry in bad if entry[2] == 2), bad[0])
    name = f"gradient of {row.name}" if row.kind == "parameter" else row.name
    return NonFinite(0, "NaN" if flag == 2 else "Inf", name, direction, row.cell, row.source)


def _operator(kernel):
    if kernel is None:
        return "Custom"
    found = attributes_of(kernel.name)
    return found[0] if found else kernel.name.partition(".")[0]


def _where(around):
    """(scope, (file, line, function), what is around) of the operator that is running, read from Python's stack.

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
            elif code.co_name == "_taped":
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
    names = [f"{c._attr_name}-{type(c).__name__}" if c._attr_name else type(c).__name__ for c in reversed(chain)]
    return "/".join(["Default", *names]), source, outer
