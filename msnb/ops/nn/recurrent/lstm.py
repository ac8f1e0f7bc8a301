"""Long short-term memory: over sequences with packed weights, and one step with fused gates."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb import context
from msnb.common.kinds import Bool, ConstantAt, OneOf, PositiveInt, StrictFloat, is_constant
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator, variant
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._kinds import Probability
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.dropout import drop

Share = ConstantAt(Probability, 0.0)  # dropout probability; the constant 0 needs no random key
Keep = ConstantAt(Probability, 1.0)


def lstm_layer(x, h, c, w_ih, w_hh, bias, reverse=False, counts=None):
    """Run one direction of one layer over time-major `x`, with gates in the order input, forget, candidate, output.

    Where `counts`, of shape (T, N, 1), is False, the state does not change, and the result is 0.
    """
    projected = jnp.einsum("tbi,gi->tbg", x, w_ih)
    if bias is not None:
        projected = projected + bias

    def step(state, now):
        (h, c), (gates, counts) = state, now
        i, f, g, o = jnp.split(gates + h @ w_hh.T, 4, axis=-1)
        new_c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        new_h = jax.nn.sigmoid(o) * jnp.tanh(new_c)
        if counts is None:
            return (new_h, new_c), new_h
        return (jnp.where(counts, new_h, h), jnp.where(counts, new_c, c)), jnp.where(counts, new_h, 0)

    (h, c), y = lax.scan(step, (h, c), (projected, counts), reverse=reverse)
    return y, h, c


def _unpack_weights(w, input_size, hidden_size, num_layers, has_bias, directions):
    """Unpack a flat vector of weights to [(w_ih, w_hh, bias or None)], one tuple for every layer and direction.

    There are two layouts of the vector. On CPU: all input matrices, then all hidden matrices, then one bias for each
    gate. On other devices: the matrices layer by layer, then two biases for each gate. With biases, the size of the
    vector determines the layout. Without biases, the device determines it, as in MindSpore.
    """
    gates = 4 * hidden_size
    sizes = [
        input_size if layer == 0 else hidden_size * directions for layer in range(num_layers) for _ in range(directions)
    ]
    matrices = sum(gates * (i + hidden_size) for i in sizes)
    extra = w.size - matrices
    one_bias = gates * len(sizes)
    if extra not in (one_bias, 2 * one_bias) if has_bias else extra < 0:
        raise ValueError(
            f"For 'LSTM', 'w' should have {matrices + (2 * one_bias if has_bias else 0)} elements, but got {w.size}."
        )
    w = w.reshape(-1)
    offsets = {first: matrix_offsets(sizes, hidden_size, first) for first in (True, False)}

    def cut(places, columns, w):
        return [w[at : at + gates * n].reshape(gates, n) for at, n in zip(places, columns)]

    def pairs(first, w):
        input_offsets, hidden = offsets[first]
        return cut(input_offsets, sizes, w), cut(hidden, [hidden_size] * len(sizes), w)

    if has_bias or len(sizes) == 1:
        w_ih, w_hh = pairs(has_bias and extra == one_bias, w)
    else:
        w_ih, w_hh = lax.platform_dependent(w, cpu=lambda w: pairs(True, w), default=lambda w: pairs(False, w))
    if not has_bias:
        return list(zip(w_ih, w_hh, [None] * len(sizes), strict=True))
    biases = w[matrices : matrices + extra].reshape(len(sizes), -1, gates).sum(1)
    return list(zip(w_ih, w_hh, biases, strict=True))


def on_cpu() -> bool:
    """Return True if the device is a CPU, for which weights are packed in another order."""
    return context.get_context("device_target") == "CPU"


def matrix_offsets(sizes: list[int], hidden_size: int, inputs_first: bool) -> tuple[list[int], list[int]]:
    """Return the offsets of input and hidden matrices in a flat vector of weights. `sizes` has the number of input
    features of each layer and direction.
    """
    gates, at, input_offsets, hidden = 4 * hidden_size, 0, [], []
    for size in sizes:
        input_offsets.append(at)
        at += gates * size
        if not inputs_first:
            hidden.append(at)
            at += gates * hidden_size
    if inputs_first:
        hidden = [at + gates * hidden_size * number for number in range(len(sizes))]
    return input_offsets, hidden


@operator(loops=True)
@in_float32
def LSTM(
    x,
    h,
    c,
    w,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: Share,
):
    """Run a long short-term memory of one or more layers over a sequence.

    Args:
        input_size (int): features of each step.
        hidden_size (int): features of the state.
        num_layers (int): number of layers.
        has_bias (bool): whether gates have biases.
        bidirectional (bool): whether a second network reads the sequence backwards.
        dropout (float): probability of dropping an output between layers.

    Inputs:
        - **x** (Tensor) - (T, N, input_size).
        - **h**, **c** (Tensor) - (num_layers * directions, N, hidden_size).
        - **w** (Tensor) - all weights, flat: for each layer and direction input and hidden matrices, then the biases.
          On CPU, weights without biases are ordered differently, as in MindSpore: all input matrices, then all hidden
          matrices.

    Outputs:
        Tuple of the outputs (T, N, hidden_size * directions), the last `h` and `c`, and two scalars that MindSpore
        reserves for its gradient.
    """
    return _run_lstm(None, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)


@variant(LSTM, lambda a: not is_constant(a["dropout"], 0.0) and a["num_layers"] > 1, random=True)
def _lstm_with_dropout(
    key,
    x,
    h,
    c,
    w,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: Share,
):
    return _run_lstm(key, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)


@operator(loops=True)
@in_float32
def _LSTMOfLengths(
    x,
    h,
    c,
    w,
    seq_length,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: Share,
):
    """LSTM over sequences of several lengths: `seq_length`, int, (N,), is the number of steps of each sequence.

    After that number of steps the results are 0, and the state does not change.
    """
    return _run_lstm(
        None, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, seq_length
    )


@variant(_LSTMOfLengths, lambda a: not is_constant(a["dropout"], 0.0) and a["num_layers"] > 1, random=True)
def _lstm_of_lengths_with_dropout(
    key,
    x,
    h,
    c,
    w,
    seq_length,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: Share,
):
    return _run_lstm(key, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, seq_length)


def _run_lstm(key, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, seq_length=None):
    op = "LSTM" if seq_length is None else "LSTMOfLengths"
    directions = 2 if bidirectional else 1
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.same_dtype(op, x=x, h=h, c=c, w=w)
    _check.rank(op, "x", x, 3)
    state = (num_layers * directions, x.shape[1], hidden_size)
    if x.shape[2] != input_size or tuple(h.shape) != state or tuple(c.shape) != state:
        raise ValueError(
            f"For '{op}', 'x' should have shape (T, N, {input_size}) and 'h' and 'c' {state}, but got "
            f"{x.shape}, {h.shape} and {c.shape}."
        )
    weights = _unpack_weights(w, input_size, hidden_size, num_layers, has_bias, directions)
    counts = None
    if seq_length is not None:
        if seq_length.shape != (x.shape[1],):
            raise ValueError(
                f"For '{op}', 'seq_length' should have shape ({x.shape[1]},), one length for each sequence, but got "
                f"{seq_length.shape}."
            )
        counts = (jnp.arange(x.shape[0])[:, None] < seq_length)[..., None]
    y, hs, cs = x, [], []
    for layer in range(num_layers):
        if layer and not is_constant(dropout, 0.0):
            key, sub = jax.random.split(key)
            y = drop(sub, y, 1.0 - dropout)[0]
        outputs = []
        for direction in range(directions):
            layer_index = layer * directions + direction
            out, last_h, last_c = lstm_layer(
                y, h[layer_index], c[layer_index], *weights[layer_index], direction == 1, counts
            )
            outputs.append(out)
            hs.append(last_h)
            cs.append(last_c)
        y = jnp.concatenate(outputs, -1) if directions == 2 else outputs[0]
    nothing = jnp.zeros((1, 1), x.dtype)
    return y, jnp.stack(hs), jnp.stack(cs), nothing, nothing


@operator(loops=True)
@shapes("y dy: t n d, x: t n _, hx cx hy cy dhy dcy: l n h")
@in_float32
def LSTMGrad(
    x,
    hx,
    cx,
    w,
    y,
    hy,
    cy,
    dy,
    dhy,
    dcy,
    reserve,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: Share,
):
    """Gradients of LSTM with respect to input, initial states and weights."""

    def forward(x, h, c, w):
        return LSTM.kernel(
            x,
            h,
            c,
            w,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            has_bias=has_bias,
            bidirectional=bidirectional,
            dropout=dropout,
        )[:3]

    return pull(forward, x, hx, cx, w)((dy, dhy, dcy))


def fused_gates(x, h, c, w, b, forget_bias, bound=None):
    """Compute one LSTM step with fused weights: return the new c and h, the four gates and tanh(c).

    `w` contains the weights of the input, candidate, forget and output gates, in this order. If `bound` is set, c is
    clipped to [-bound, bound] before h is computed.
    """
    gates = jnp.concatenate([x, h.astype(x.dtype)], -1) @ w.astype(x.dtype) + b
    i, j, f, o = jnp.split(gates.astype(c.dtype), 4, axis=-1)
    i, j, f, o = jax.nn.sigmoid(i), jnp.tanh(j), jax.nn.sigmoid(f + forget_bias), jax.nn.sigmoid(o)
    c = c * f + i * j
    c = c if bound is None else jnp.clip(c, -bound, bound)
    tanh_c = jnp.tanh(c)
    return c, o * tanh_c, i, j, f, o, tanh_c


def check_fused(op, x, w, b, hidden):
    """Return `hidden`, the number of features of the state. Raise ValueError if the shapes of the fused weights do not
    fit.
    """
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if tuple(w.shape) != (x.shape[-1] + hidden, 4 * hidden) or b.size != 4 * hidden:
        raise ValueError(
            f"For '{op}', 'w' should have shape {(x.shape[-1] + hidden, 4 * hidden)} and 'b' "
            f"{4 * hidden} elements, but got {w.shape} and {b.shape}."
        )
    return hidden


@operator
@shapes("x: n i, h c: n d, w: i+d 4*d, b: 4*d")
def BasicLSTMCell(
    x,
    h,
    c,
    w,
    b,
    *,
    keep_prob: Keep = 1.0,
    forget_bias: StrictFloat = 1.0,
    state_is_tuple: Bool = True,
    activation: OneOf("tanh") = "tanh",
):
    """One step of an LSTM with fused weights.

    Args:
        keep_prob (float): dropout: probability of keeping an output. Default: 1.0.
        forget_bias (float): added to the forget gate. Default: 1.0.
        state_is_tuple (bool): only True: h and c are separate. Default: True.
        activation (str): "tanh". Default: "tanh".

    Inputs:
        - **x** (Tensor) - (N, input_size).
        - **h**, **c** (Tensor) - (N, hidden_size).
        - **w** (Tensor) - (input_size + hidden_size, 4 * hidden_size); gates input, candidate, forget, output.
        - **b** (Tensor) - (4 * hidden_size,).

    Outputs:
        Tuple (c, h, input gate, candidate, forget gate, output gate, tanh(c)), each (N, hidden_size); h has the type
        of `h`, the others that of `c`.
    """
    return _basic_lstm_cell(None, x, h, c, w, b, keep_prob, forget_bias, state_is_tuple)


@variant(BasicLSTMCell, lambda a: not is_constant(a["keep_prob"], 1.0), random=True)
def _basic_lstm_cell_with_dropout(
    key,
    x,
    h,
    c,
    w,
    b,
    *,
    keep_prob: Keep = 1.0,
    forget_bias: StrictFloat = 1.0,
    state_is_tuple: Bool = True,
    activation: OneOf("tanh") = "tanh",
):
    return _basic_lstm_cell(key, x, h, c, w, b, keep_prob, forget_bias, state_is_tuple)


def _basic_lstm_cell(key, x, h, c, w, b, keep_prob, forget_bias, state_is_tuple):
    op = "BasicLSTMCell"
    if not state_is_tuple:
        raise ValueError(f"For '{op}', only state_is_tuple=True is supported; split the state into h and c first.")
    hidden = check_fused(op, x, w, b, c.shape[-1])
    if tuple(h.shape) != (x.shape[0], hidden) or h.shape != c.shape:
        raise ValueError(
            f"For '{op}', 'h' and 'c' should have shape {(x.shape[0], hidden)}, but got {h.shape} and {c.shape}."
        )
    new_c, new_h, *rest = fused_gates(x, h, c, w, b, forget_bias)
    if not is_constant(keep_prob, 1.0):
        new_h = drop(key, new_h, keep_prob)[0]
    return (new_c, new_h.astype(h.dtype), *rest)


_SIZES = {"input_size": 3, "hidden_size": 2, "has_bias": True, "bidirectional": False, "dropout": 0.0}

_BARE = {"input_size": 3, "hidden_size": 2, "has_bias": False, "bidirectional": True, "dropout": 0.0}
_SQUARE = {"input_size": 3, "hidden_size": 3, "has_bias": False, "bidirectional": False, "dropout": 0.0}

CASES = [
    case(LSTM, F(2, 1, 3), F(2, 1, 2), F(2, 1, 2), F(104), **_SIZES, num_layers=2),
    case(LSTM, F(2, 1, 3), F(2, 1, 2), F(2, 1, 2), F(80, 1, 1), **_BARE, num_layers=1).results(0, 1, 2),
    case(LSTM, F(3, 1, 3), F(2, 1, 3), F(2, 1, 3), F(144, 1, 1), **_SQUARE, num_layers=2).results(0, 1, 2),
    case(_LSTMOfLengths, F(3, 2, 3), F(1, 2, 2), F(1, 2, 2), F(56), Values([1, 3]), **_SIZES, num_layers=1),
    refused(ValueError, _LSTMOfLengths, F(3, 2, 3), F(1, 2, 2), F(1, 2, 2), F(56), I(3), **_SIZES, num_layers=1),
    case(
        LSTMGrad,
        F(2, 1, 3),
        F(1, 1, 2),
        F(1, 1, 2),
        F(56),
        F(2, 1, 2),
        F(1, 1, 2),
        F(1, 1, 2),
        F(2, 1, 2),
        F(1, 1, 2),
        F(1, 1, 2),
        F(1),
        **_SIZES,
        num_layers=1,
    ).without("mindspore", "its kernel in MindSpore 2.7.1 ends the process"),
    case(BasicLSTMCell, F(2, 3), F(2, 2), F(2, 2), F(5, 8), F(8)),
    refused(ValueError, LSTM, F(3, 4, 4), F(3, 4, 4), F(3, 4, 4), F(3, 4, 4), **_SIZES, num_layers=1),
]
