"""Recurrent operators over a sequence that return every gate of every step."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Int, NonNegInt, OneOf, Static, StrictFloat
from msnb.core.compat.jax_private import is_tracer
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn.recurrent.lstm import check_fused, fused_gates

GATES_ANYWAY = "the gates are returned either way"
OnlyOne = Static(StrictFloat)  # only one value is supported


@operator(loops=True)
@shapes("x: t n i, w: k 4*(k-i), b: 4*(k-i), init_h init_c: 1 n k-i")
def DynamicRNN(
    x,
    w,
    b,
    seq_length=None,
    init_h=None,
    init_c=None,
    *,
    cell_type: OneOf("LSTM") = "LSTM",
    direction: OneOf("UNIDIRECTIONAL") = "UNIDIRECTIONAL",
    cell_depth: Int = 1,
    use_peephole: Bool = False,
    keep_prob: OnlyOne = 1.0,
    cell_clip: ConstantAt(StrictFloat, -1.0) = -1.0,
    num_proj: NonNegInt = 0,
    time_major: Bool = True,
    activation: OneOf("tanh") = "tanh",
    forget_bias: StrictFloat = 0.0,
    is_training: OneOf(True, otherwise=GATES_ANYWAY) = True,
):
    """Run an LSTM with fused weights over a sequence, and return the values of all gates at all steps.

    Args:
        cell_type (str): "LSTM". Default: "LSTM".
        direction (str): "UNIDIRECTIONAL". Default: "UNIDIRECTIONAL".
        cell_depth (int): only 1. Default: 1.
        use_peephole (bool): only False. Default: False.
        keep_prob (float): only 1.0. Default: 1.0.
        cell_clip (float): clips c to [-cell_clip, cell_clip] if positive, before h is computed from it. Default: -1.0.
        num_proj (int): only 0. Default: 0.
        time_major (bool): only True. Default: True.
        activation (str): "tanh". Default: "tanh".
        forget_bias (float): added to the forget gate. Default: 0.0.
        is_training (bool): no effect: the gates are returned either way. Default: True.

    Inputs:
        - **x** (Tensor) - (T, N, input_size).
        - **w** (Tensor) - (input_size + hidden_size, 4 * hidden_size); gates input, candidate, forget, output.
        - **b** (Tensor) - (4 * hidden_size,).
        - **seq_length** (None) - only None.
        - **init_h**, **init_c** (Tensor) - (1, N, hidden_size).

    Outputs:
        Tuple (y, h, c, input gate, candidate, forget gate, output gate, tanh(c)), each (T, N, hidden_size); h has the
        type of `init_h`, the others that of `b`.
    """
    op = "DynamicRNN"
    _check_supported(
        op,
        cell_depth=(cell_depth, 1),
        use_peephole=(use_peephole, False),
        keep_prob=(keep_prob, 1.0),
        num_proj=(num_proj, 0),
        time_major=(time_major, True),
    )
    _check_supported(op, seq_length=(seq_length, None))
    _check.rank(op, "x", x, 3)
    _check.rank(op, "init_h", init_h, 3)
    check_fused(op, x, w, b, init_h.shape[-1])

    if is_tracer(cell_clip):
        bound = jnp.where(cell_clip > 0, cell_clip, jnp.inf)
    else:
        bound = cell_clip if cell_clip > 0 else None

    def step(state, x_t):
        h, c = state
        c, h, *gates = fused_gates(x_t, h, c, w, b, forget_bias, bound)
        return (h, c), (h, c, *gates)

    kind = b.dtype
    start = init_h[0].astype(kind), init_c[0].astype(kind)
    _, (h, c, *gates) = lax.scan(step, start, x)
    return (h, h.astype(init_h.dtype), c, *gates)


def _check_supported(op, **arguments):
    for name, (value, supported) in arguments.items():
        if value is None and supported is None:
            continue
        if value is not supported and (supported is None or value != supported):
            description = "a Tensor" if hasattr(value, "shape") else repr(value)
            raise ValueError(f"For '{op}', only {name}={supported} is supported, but got {description}.")


@operator(loops=True)
@shapes("x: t n i, init_h: n h, weight_input: i 3*h, weight_hidden: h 3*h, bias_input bias_hidden: 3*h")
@in_float32
def DynamicGRUV2(
    x,
    weight_input,
    weight_hidden,
    bias_input=None,
    bias_hidden=None,
    seq_length=None,
    init_h=None,
    *,
    direction: OneOf("UNIDIRECTIONAL") = "UNIDIRECTIONAL",
    cell_depth: Int = 1,
    keep_prob: OnlyOne = 1.0,
    cell_clip: OnlyOne = -1.0,
    num_proj: NonNegInt = 0,
    time_major: Bool = True,
    activation: OneOf("tanh") = "tanh",
    gate_order: OneOf("rzh", "zrh") = "rzh",
    reset_after: Bool = True,
    is_training: OneOf(True, otherwise=GATES_ANYWAY) = True,
):
    """Run a gated recurrent unit over a sequence, and return the values of all gates at all steps.

    Args:
        direction (str): "UNIDIRECTIONAL". Default: "UNIDIRECTIONAL".
        cell_depth (int): only 1. Default: 1.
        keep_prob (float): only 1.0. Default: 1.0.
        cell_clip (float): only -1.0, no clipping. Default: -1.0.
        num_proj (int): if positive, the number of leading features that `y` contains. Default: 0.
        time_major (bool): only True. Default: True.
        activation (str): "tanh". Default: "tanh".
        gate_order (str): "rzh" or "zrh", the order of reset and update gate in the weights. Default: "rzh".
        reset_after (bool): whether to apply the reset gate after the product with the hidden weights. Default: True.
        is_training (bool): no effect: the gates are returned either way. Default: True.

    Inputs:
        - **x** (Tensor) - (T, N, input_size).
        - **weight_input** (Tensor) - (input_size, 3 * hidden_size).
        - **weight_hidden** (Tensor) - (hidden_size, 3 * hidden_size).
        - **bias_input**, **bias_hidden** (Tensor) - (3 * hidden_size,), or None.
        - **seq_length** (None) - only None.
        - **init_h** (Tensor) - (N, hidden_size).

    Outputs:
        Tuple (y, h, update gate, reset gate, candidate, hidden part of the candidate), each (T, N, hidden_size).
    """
    op = "DynamicGRUV2"
    _check_supported(
        op,
        cell_depth=(cell_depth, 1),
        keep_prob=(keep_prob, 1.0),
        cell_clip=(cell_clip, -1.0),
        time_major=(time_major, True),
        seq_length=(seq_length, None),
    )
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 3)
    _check.rank(op, "init_h", init_h, 2)
    hidden = init_h.shape[1]
    if tuple(weight_input.shape) != (x.shape[2], 3 * hidden) or tuple(weight_hidden.shape) != (hidden, 3 * hidden):
        raise ValueError(
            f"For '{op}', the weights should have shapes {(x.shape[2], 3 * hidden)} and "
            f"{(hidden, 3 * hidden)}, but got {weight_input.shape} and {weight_hidden.shape}."
        )
    kind = next((b.dtype for b in (bias_input, bias_hidden) if b is not None), init_h.dtype)
    w_x, w_h = weight_input.astype(kind), weight_hidden.astype(kind)
    b_x = 0 if bias_input is None else bias_input.astype(kind)
    b_h = jnp.zeros(3 * hidden, kind) if bias_hidden is None else bias_hidden.astype(kind)

    def parts(gates):
        first, second, new = jnp.split(gates, 3, axis=-1)
        return (first, second, new) if gate_order == "rzh" else (second, first, new)

    def step(h, x_gates):
        r_x, z_x, n_x = parts(x_gates)
        r_h, z_h, n_h = parts(h @ w_h + b_h)
        r, z = jax.nn.sigmoid(r_x + r_h), jax.nn.sigmoid(z_x + z_h)
        if not reset_after:
            n_h = (r * h) @ w_h[:, 2 * hidden :] + b_h[2 * hidden :]
        n = jnp.tanh(n_x + (r * n_h if reset_after else n_h))
        h = (1 - z) * n + z * h
        return h, (h, z, r, n, n_h)

    _, (h, z, r, n, n_h) = lax.scan(step, init_h.astype(kind), x.astype(kind) @ w_x + b_x)
    y = h[..., : min(hidden, num_proj)] if num_proj else h
    return y, h, z, r, n, n_h


CASES = [
    case(DynamicRNN, F(3, 2, 3), F(5, 8), F(8), None, F(1, 2, 2), F(1, 2, 2)),
    case(DynamicGRUV2, F(3, 2, 4), F(4, 15), F(5, 15), F(15), F(15), None, F(2, 5)),
]
