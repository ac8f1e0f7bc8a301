"""The same numbers in PYNATIVE mode, taken operator by operator while the tape runs forth and back."""
import functools
import sys

import jax
import numpy as np

from msnb.core import trace
from msnb.core.operator import attributes_of
from msnb.insight.gradients import rows as naming
from msnb.insight.gradients import summary
from msnb.insight.gradients.recording import NonFinite
from msnb.insight.gradients.rows import Row
from msnb.ir.read import is_library


@functools.partial(jax.jit, static_argnums=(1, 2))
def _summarise(array, saturation, units):
    stats = summary.moments(array, saturation)
    return stats, summary.histogram(array, stats[3], stats[4]), summary.living(array) if units else None


_finite = jax.jit(lambda array: summary.finiteness([array])[0])
_change = jax.jit(summary.change)


class Tape:
    """A watcher of `msnb.core.tape` for one GradientMonitor."""

    def __init__(self, monitor):
        self.monitor = monitor
        self.held = {}  # parameter -> its array before the update
        self._clear()

    def _clear(self):
        self.rows, self.nodes, self.made_by, self.counts = {}, {}, [], {}
        self.stats, self.whole, self.flags = {}, {}, []

    # ------------------------------------------------------------------ what the tape tells
    def made(self, node, boxes):
        """An operator ran in the forward pass of a gradient."""
        if trace.thread.recording != 1 or trace.thread.frame is not None:
            return
        op = _operator(node.kernel)
        scope, source = _where()
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
        if not naming.is_real(array.dtype) or not array.size:
            return
        if self.monitor.level == "all":
            self.rows[row.key] = row
            forward = direction == "forward"
            self.stats[row.key] = _summarise(array, row.op if forward and row.op in naming.SATURATING else None,
                                             forward and row.op.startswith("ReLU") and array.ndim > 1)
            if naming.chosen(self.monitor.tensors, [row]):
                self.whole[row.key] = array
        self.flags.append((row, direction, _finite(array)))

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
            self.rows[row.key] = row
            self.stats[row.key] = _summarise(array, None, False)
            self.flags.append((row, "backward", _finite(array)))
            if naming.chosen(self.monitor.tensors, [row]):
                self.whole[row.key] = array
            if place >= 10 ** 6 and weight.name not in recording.unread:
                recording.unread.append(weight.name)
            self.held[weight] = weight._array
        recording.add_rows(self.rows.values())
        recording.operators = [(place, entry[1]) for place, entry in enumerate(self.made_by)]
        if self.monitor.net is not None:
            known = {row.name for row in recording.rows("parameter")} | {w.name for w in weights}
            recording.untrained = [p.name for p in self.monitor.net.trainable_params() if p.name not in known]
        loss = next((o._array for o in outputs if o._array.size == 1 and naming.is_real(o._array.dtype)), None)
        stats, whole, flags = self.stats, self.whole, self.flags
        self._clear()
        recording.add(lambda: _read(stats, whole, flags, loss), lambda found: _describe(flags, found))

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


def _read(stats, whole, flags, loss):
    made = _nothing()
    for key, (numbers, counts, units) in stats.items():
        made["stats"][key] = np.asarray(numbers)
        made["histograms"][key] = np.asarray(counts)
        if units is not None:
            made["units"][key] = np.asarray(units)
    made["tensors"] = {key: np.asarray(array) for key, array in whole.items()}
    made["loss"] = None if loss is None else np.asarray(loss, np.float64).reshape(())
    found = np.array([int(flag) for _, _, flag in flags], np.uint8)
    wrong = made["loss"] is not None and not np.isfinite(made["loss"])
    wrong |= any(flag and row.kind == "parameter" for (row, _, _), flag in zip(flags, found))
    made["flags"] = found if wrong else np.zeros_like(found)
    return made


def _describe(flags, found):
    bad = [(row, direction, int(flag)) for (row, direction, _), flag in zip(flags, found) if flag]
    row, direction, flag = next((entry for entry in bad if entry[2] & 1), bad[0])
    name = f"gradient of {row.name}" if row.kind == "parameter" else row.name
    return NonFinite(0, "NaN" if flag & 1 else "Inf", name, direction, row.cell, row.source)


def _operator(kernel):
    if kernel is None:
        return "Custom"
    found = attributes_of(kernel.name)
    return found[0] if found else kernel.name.partition(".")[0]


def _where():
    """(scope, (file, line, function)) of the operator that is running, read from Python's stack."""
    cells, source, within = [], None, 0
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if is_library(code.co_filename):
            if code.co_name == "__call__":
                cell = frame.f_locals.get("self")
                if hasattr(cell, "_attr_name") and hasattr(cell, "construct"):
                    cells.append(cell)
            elif code.co_name == "_taped":
                within = len(cells)
        elif source is None:
            source = (code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    if len(cells) > within:
        cells.pop()  # the Cell that was called is the graph itself, no scope in it
    names = [f"{c._attr_name}-{type(c).__name__}" if c._attr_name else type(c).__name__ for c in reversed(cells)]
    return "/".join(["Default", *names]), source
