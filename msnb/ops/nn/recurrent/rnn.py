"""One direction of one recurrent layer over a sequence, for RNN, GRU and their cells."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, OneOf
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32

GATES = {"tanh": 1, "relu": 1, "gru": 3}  # cell -> rows of weights for each feature


@operator(loops=True)
@shapes("x: t n i, h: n d, seq_length: n")
@in_float32
def _Recurrent(
    x,
    h,
    w_ih,
    w_hh,
    b_ih=None,
    b_hh=None,
    seq_length=None,
    *,
    cell: OneOf(*GATES) = "tanh",
    reverse: Bool = False,
):
    """Run one recurrent layer over a sequence, forwards or backwards in time.

    Args:
        cell (str): "tanh" or "relu" of the sum, or "gru", whose rows of weights come in the order reset, update, new
            (Cho et al., 2014). Default: "tanh".
        reverse (bool): whether to process the steps from last to first. Default: False.

    Inputs:
        - **x** (Tensor) - (T, N, input_size).
        - **h** (Tensor) - the state before the first time, (N, hidden_size).
        - **w_ih** (Tensor) - (gates * hidden_size, input_size).
        - **w_hh** (Tensor) - (gates * hidden_size, hidden_size).
        - **b_ih**, **b_hh** (Tensor, optional) - (gates * hidden_size,). Default: None, there are none.
        - **seq_length** (Tensor, optional) - int, (N,): number of time steps of each sample. Results of later steps are
          0, and these steps do not change the state. Default: None, all.

    Outputs:
        Tuple (results (T, N, hidden_size), the last state (N, hidden_size)).
    """
    op = "Recurrent"
    _check.rank(op, "x", x, 3)
    _check.rank(op, "h", h, 2)
    hidden, rows = h.shape[-1], GATES[cell] * h.shape[-1]
    expected = {"w_ih": (w_ih, (rows, x.shape[-1])), "w_hh": (w_hh, (rows, hidden))}
    expected |= {name: (b, (rows,)) for name, b in (("b_ih", b_ih), ("b_hh", b_hh)) if b is not None}
    if h.shape[0] != x.shape[1]:
        raise ValueError(f"For '{op}', the state should be of {x.shape[1]} samples, as 'x', but got {h.shape[0]}.")
    for name, (array, shape) in expected.items():
        if array.shape != shape:
            raise ValueError(f"For '{op}', the shape of '{name}' should be {shape}, but got {array.shape}.")
    projected = x @ w_ih.T if b_ih is None else x @ w_ih.T + b_ih  # for all steps at once

    def step(h, now):
        of_x, counts = now
        of_h = h @ w_hh.T if b_hh is None else h @ w_hh.T + b_hh
        new = _step_gru(of_x, of_h, h) if cell == "gru" else _PLAIN[cell](of_x + of_h)
        if counts is None:
            return new, new
        return jnp.where(counts, new, h), jnp.where(counts, new, 0)

    counts = None
    if seq_length is not None:
        counts = (jnp.arange(x.shape[0])[:, None] < seq_length)[..., None]
    last, results = lax.scan(step, h, (projected, counts), reverse=reverse)
    return results, last


_PLAIN = {"tanh": jnp.tanh, "relu": jax.nn.relu}


def _step_gru(of_x, of_h, h):
    reset_x, update_x, new_x = jnp.split(of_x, 3, -1)
    reset_h, update_h, new_h = jnp.split(of_h, 3, -1)
    reset, update = jax.nn.sigmoid(reset_x + reset_h), jax.nn.sigmoid(update_x + update_h)
    new = jnp.tanh(new_x + reset * new_h)
    return (1 - update) * new + update * h


CASES = [
    case(_Recurrent, F(3, 2, 3), F(2, 4), F(4, 3), F(4, 4)),
    case(_Recurrent, F(3, 2, 3), F(2, 4), F(4, 3), F(4, 4), F(4), F(4), cell="relu", reverse=True),
    case(_Recurrent, F(3, 2, 3), F(2, 4), F(12, 3), F(12, 4), F(12), F(12), cell="gru"),
    case(_Recurrent, F(3, 2, 3), F(2, 4), F(12, 3), F(12, 4), F(12), F(12), Values([1, 3]), cell="gru", reverse=True),
    refused(ValueError, _Recurrent, F(3, 2, 3), F(2, 4), F(12, 3), F(12, 4)),
    refused(ValueError, _Recurrent, F(3, 2, 3), F(1, 4), F(4, 3), F(4, 4)),
]
