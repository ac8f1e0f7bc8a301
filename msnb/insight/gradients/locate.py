"""Find the origin of a NaN or an infinity: run the step again and check each of its values."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.cell_path import attribute_path
from msnb.core.jaxpr.instrument import Measure
from msnb.insight.gradients.recording import NonFinite
from msnb.insight.gradients.rows import LABEL, is_real
from msnb.insight.gradients.summary import finiteness
from msnb.insight.instrument import instrument

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.insight.gradients.rows import Row


class _Finiteness(Measure):
    def measure(self, point, array):
        return finiteness(array)

    def finish(self, points, measured, inputs, outputs):
        input_codes = [finiteness(a) if is_real(a.dtype) and a.size else jnp.uint8(0) for a in inputs]
        return [jnp.stack([*input_codes, *measured])]


def locate(program: "Program", inputs: list[jax.Array], rows: "list[Row]") -> Any:
    """Return the first value of a run that is not finite.

    Args:
        program (Program): the program that ran.
        inputs (list[jax.Array]): the inputs of the program.
        rows (list[Row]): rows that include the gradients of the program's Parameters.

    Returns:
        NonFinite whose step is not set; None if every value is finite, or if an input was overwritten after the run.
    """

    def choose(points):
        return [
            p
            for p in points
            if is_real(p.dtype)
            and 0 not in p.shape
            and not p.nested
            and (p.node is not None or p.label.startswith(LABEL))
        ]

    instrumented = instrument(program.jaxpr, choose, _Finiteness(), program.inputs, program.name)
    quiet = remove_debug_callbacks(instrumented.jaxpr.jaxpr)
    try:
        flags = jax.jit(lambda *args: eval_jaxpr(quiet, instrumented.jaxpr.consts, *args)[-1])(*inputs)
    except RuntimeError:  # an array that was donated to another program
        if any(a.is_deleted() for a in inputs):
            return None
        raise
    places = [*program.inputs, *instrumented.points]
    bad = [(place, int(flag)) for place, flag in zip(places, flags.tolist()) if flag]
    # an infinity may be intended, such as a mask of attention: a NaN has priority
    place, flag = next((entry for entry in bad if entry[1] == 2), bad[0] if bad else (None, 0))
    return _make_nonfinite(place, "NaN" if flag == 2 else "Inf", rows, program.name) if place is not None else None


def _make_nonfinite(place, what, rows, root):
    if isinstance(place, tuple):
        return NonFinite(0, what, f"{'Parameter' if place[0] == 'param' else 'input'} {place[1]}", "input")
    node = place.node
    if node is None:
        row = next(row for row in rows if row.key == ("parameter", place.label[len(LABEL) :]))
        return NonFinite(0, what, f"gradient of {row.name}", "backward", row.cell, row.source, row.node)
    cell = attribute_path(node.scope, root)
    return NonFinite(
        0,
        what,
        f"{cell}/{node.op}" if cell else node.op,
        node.direction,
        cell,
        node.source,
        node.id,
    )
