"""The transducer loss: a sum over monotone paths of blanks and labels."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Int
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import in_float32
from msnb.ops.nn.loss.ctc import label_check, lengths


@operator(
    checks=[
        label_check("labels", "label_lengths", "acts", 3),
        lengths("input_lengths", "acts", 1),
        lengths("label_lengths", "labels", 1),
    ],
    loops=True,
)
@in_float32
def RNNTLoss(acts, labels, input_lengths, label_lengths, *, blank_label: Int = 0):
    """Transducer loss and its gradient (Graves, arXiv:1211.3711).

    Args:
        blank_label (int): class index of the blank. Default: 0.

    Inputs:
        - **acts** (Tensor) - logits (B, T, U, V).
        - **labels** (Tensor) - (B, U - 1), int32.
        - **input_lengths**, **label_lengths** (Tensor) - (B,), int32.

    Outputs:
        Tuple of the losses (B,) and their gradient with respect to `acts`.
    """
    op = "RNNTLoss"
    _check.dtype_in(op, "acts", acts, _check.FLOAT)
    _check.rank(op, "acts", acts, 4)
    batch, _, label_steps, classes = acts.shape
    if (
        tuple(labels.shape) != (batch, label_steps - 1)
        or tuple(input_lengths.shape) != (batch,)
        or tuple(label_lengths.shape) != (batch,)
    ):
        raise ValueError(
            f"For '{op}', 'acts' (B, T, U, V) needs 'labels' (B, U - 1) and lengths (B,), but got "
            f"{acts.shape}, {labels.shape}, {input_lengths.shape} and {label_lengths.shape}."
        )
    if not 0 <= blank_label < classes:
        raise ValueError(f"For '{op}', 'blank_label' should be in [0, {classes}), but got {blank_label}.")

    def loss(acts):
        scores = jax.nn.log_softmax(acts.astype(jnp.promote_types(acts.dtype, jnp.float32)))
        return jax.vmap(lambda *a: _compute_transducer_nll(*a, blank_label))(
            scores, labels, input_lengths, label_lengths
        )

    values, pull = jax.vjp(loss, acts)
    return values.astype(acts.dtype), lax.stop_gradient(pull(jnp.ones_like(values))[0])


def _compute_transducer_nll(scores, labels, time, length, blank):
    """Return -log p(labels) of one example from scores (T, U, V): a sum over monotone paths of blanks and labels."""
    blanks = scores[..., blank]
    emits = jnp.take_along_axis(scores[:, :-1], labels[None, :, None].astype(jnp.int32), axis=2)[..., 0]

    def along_row(start, emit):  # start[u]: log probability from the previous row; emit[u]: label u -> u + 1
        def right(left, inputs):
            value = jnp.logaddexp(inputs[0], left + inputs[1])
            return value, value

        _, rest = lax.scan(right, start[0], (start[1:], emit))
        return jnp.concatenate([start[:1], rest])

    first = jnp.concatenate([jnp.zeros(1, scores.dtype), jnp.cumsum(emits[0])])

    def down(row, inputs):
        above, emit = inputs
        row = along_row(row + above, emit)
        return row, row

    _, rows = lax.scan(down, first, (blanks[:-1], emits[1:]))
    rows = jnp.concatenate([first[None], rows])
    return -(rows[time - 1, length] + blanks[time - 1, length])


CASES = [
    case(RNNTLoss, F(1, 3, 3, 4), Values([[1, 2]]), Values([3]), Values([2])).wrt(of=0),
]
