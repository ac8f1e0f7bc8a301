"""Recurrent networks: LSTM over packed weights, and the single-layer operators with fused gates."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Int, NonNegInt, OneOf, PositiveInt, Static, StrictFloat, is_constant
from msnb.core._jax_private import is_tracer
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops.nn._kinds import Probability
from msnb.ops.nn._variant import variant
from msnb.ops.nn.dropout import drop

GATES_ANYWAY = "the gates are returned either way"
Share = ConstantAt(Probability, 0.0)  # of what is dropped: with 0 nothing, and no key is drawn
Keep = ConstantAt(Probability, 1.0)
OnlyOne = Static(StrictFloat)  # one value is supported


# ---------------------------------------------------------------------- LSTM
def lstm_layer(x, h, c, w_ih, w_hh, bias, reverse=False):
    """One direction of one layer over time-major `x`; gates in the order input, forget, candidate, output."""
    projected = jnp.einsum("tbi,gi->tbg", x, w_ih)
    if bias is not None:
        projected = projected + bias

    def step(state, gates):
        h, c = state
        i, f, g, o = jnp.split(gates + h @ w_hh.T, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    (h, c), y = lax.scan(step, (h, c), projected, reverse=reverse)
    return y, h, c


def _unpack(w, input_size, hidden_size, num_layers, has_bias, directions):
    """[(w_ih, w_hh, bias or None)] for every layer and direction out of one flat vector.

    Two packings exist, and their sizes differ: with two biases a gate, each layer's matrices stand together and all
    biases follow (cuDNN); with one, all input matrices come first, then all hidden ones, then the biases (CPU).
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
    w, at, out = w.reshape(-1), 0, []

    def take(*shape):
        nonlocal at
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        part = w[at : at + count].reshape(shape)
        at += count
        return part

    if has_bias and extra == one_bias:
        w_ih = [take(gates, i) for i in sizes]
        w_hh = [take(gates, hidden_size) for _ in sizes]
        return list(zip(w_ih, w_hh, [take(gates) for _ in sizes], strict=True))
    pairs = [(take(gates, i), take(gates, hidden_size)) for i in sizes]
    for w_ih, w_hh in pairs:
        out.append((w_ih, w_hh, take(gates) + take(gates) if has_bias else None))
    return out


@operator
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
    """Long short-term memory over a sequence, several layers deep.

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

    Outputs:
        Tuple of the outputs (T, N, hidden_size * directions), the last `h` and `c`, and two scalars that MindSpore
        reserves for its gradient.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _lstm(None, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)


def _lstm_dropping(
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
    return _lstm(key, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)


variant("LSTM", _lstm_dropping, lambda a: not is_constant(a["dropout"], 0.0) and a["num_layers"] > 1, random=True)


def _lstm(key, x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout):
    op, directions = "LSTM", 2 if bidirectional else 1
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.same_dtype(op, x=x, h=h, c=c, w=w)
    _check.rank(op, "x", x, 3)
    state = (num_layers * directions, x.shape[1], hidden_size)
    if x.shape[2] != input_size or tuple(h.shape) != state or tuple(c.shape) != state:
        raise ValueError(
            f"For '{op}', 'x' should have shape (T, N, {input_size}) and 'h' and 'c' {state}, but got "
            f"{x.shape}, {h.shape} and {c.shape}."
        )
    weights = _unpack(w, input_size, hidden_size, num_layers, has_bias, directions)
    y, hs, cs = x, [], []
    for layer in range(num_layers):
        if layer and not is_constant(dropout, 0.0):
            key, sub = jax.random.split(key)
            y = drop(sub, y, 1.0 - dropout)[0]
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            out, last_h, last_c = lstm_layer(y, h[place], c[place], *weights[place], reverse=direction == 1)
            outputs.append(out)
            hs.append(last_h)
            cs.append(last_c)
        y = jnp.concatenate(outputs, -1) if directions == 2 else outputs[0]
    nothing = jnp.zeros((1, 1), x.dtype)
    return y, jnp.stack(hs), jnp.stack(cs), nothing, nothing


# ---------------------------------------------------------------------- fused gates: input, candidate, forget, output
def _fused_gates(x, h, c, w, b, forget_bias):
    gates = jnp.concatenate([x, h.astype(x.dtype)], -1) @ w.astype(x.dtype) + b
    i, j, f, o = jnp.split(gates.astype(c.dtype), 4, axis=-1)
    i, j, f, o = jax.nn.sigmoid(i), jnp.tanh(j), jax.nn.sigmoid(f + forget_bias), jax.nn.sigmoid(o)
    c = c * f + i * j
    tanh_c = jnp.tanh(c)
    return c, o * tanh_c, i, j, f, o, tanh_c


@operator
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
        keep_prob (float): probability of keeping an output. Default: 1.0.
        forget_bias (float): added to the forget gate. Default: 1.0.
        state_is_tuple (bool): only True, h and c come apart. Default: True.
        activation (str): "tanh". Default: "tanh".

    Inputs:
        - **x** (Tensor) - (N, input_size).
        - **h**, **c** (Tensor) - (N, hidden_size).
        - **w** (Tensor) - (input_size + hidden_size, 4 * hidden_size); gates input, candidate, forget, output.
        - **b** (Tensor) - (4 * hidden_size,).

    Outputs:
        Tuple (c, h, input gate, candidate, forget gate, output gate, tanh(c)), each (N, hidden_size); h has the type
        of `h`, the others that of `c`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _basic_lstm_cell(None, x, h, c, w, b, keep_prob, forget_bias, state_is_tuple)


def _basic_lstm_cell_dropping(
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


variant("BasicLSTMCell", _basic_lstm_cell_dropping, lambda a: not is_constant(a["keep_prob"], 1.0), random=True)


def _basic_lstm_cell(key, x, h, c, w, b, keep_prob, forget_bias, state_is_tuple):
    op = "BasicLSTMCell"
    if not state_is_tuple:
        raise ValueError(f"For '{op}', only state_is_tuple=True is supported; split the state into h and c first.")
    hidden = _check_fused(op, x, w, b, c.shape[-1])
    if tuple(h.shape) != (x.shape[0], hidden) or h.shape != c.shape:
        raise ValueError(
            f"For '{op}', 'h' and 'c' should have shape {(x.shape[0], hidden)}, but got {h.shape} and {c.shape}."
        )
    new_c, new_h, *rest = _fused_gates(x, h, c, w, b, forget_bias)
    if not is_constant(keep_prob, 1.0):
        new_h = drop(key, new_h, keep_prob)[0]
    return (new_c, new_h.astype(h.dtype), *rest)


def _check_fused(op, x, w, b, hidden):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if tuple(w.shape) != (x.shape[-1] + hidden, 4 * hidden) or b.size != 4 * hidden:
        raise ValueError(
            f"For '{op}', 'w' should have shape {(x.shape[-1] + hidden, 4 * hidden)} and 'b' "
            f"{4 * hidden} elements, but got {w.shape} and {b.shape}."
        )
    return hidden


@operator
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
    """An LSTM over a sequence, with fused weights, that returns every gate of every step.

    Args:
        cell_type (str): "LSTM". Default: "LSTM".
        direction (str): "UNIDIRECTIONAL". Default: "UNIDIRECTIONAL".
        cell_depth (int): only 1. Default: 1.
        use_peephole (bool): only False. Default: False.
        keep_prob (float): only 1.0. Default: 1.0.
        cell_clip (float): clips c to [-cell_clip, cell_clip] if positive. Default: -1.0.
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "DynamicRNN"
    _only(
        op,
        cell_depth=(cell_depth, 1),
        use_peephole=(use_peephole, False),
        keep_prob=(keep_prob, 1.0),
        num_proj=(num_proj, 0),
        time_major=(time_major, True),
    )
    _only(op, seq_length=(seq_length, None))
    _check.rank(op, "x", x, 3)
    _check.rank(op, "init_h", init_h, 3)
    _check_fused(op, x, w, b, init_h.shape[-1])

    bound = jnp.where(cell_clip > 0, cell_clip, jnp.inf) if is_tracer(cell_clip) else cell_clip

    def step(state, x_t):
        h, c = state
        c, h, *gates = _fused_gates(x_t, h, c, w, b, forget_bias)
        if is_tracer(bound) or bound > 0:
            c = jnp.clip(c, -bound, bound)
        return (h, c), (h, c, *gates)

    kind = b.dtype
    start = init_h[0].astype(kind), init_c[0].astype(kind)
    _, (h, c, *gates) = lax.scan(step, start, x)
    return (h, h.astype(init_h.dtype), c, *gates)


def _only(op, **given):
    for name, (value, supported) in given.items():
        if value is None and supported is None:
            continue
        if value is not supported and (supported is None or value != supported):
            shown = "a Tensor" if hasattr(value, "shape") else repr(value)
            raise ValueError(f"For '{op}', only {name}={supported} is supported, but got {shown}.")


@operator
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
    """A gated recurrent unit over a sequence that returns every gate of every step.

    Args:
        direction (str): "UNIDIRECTIONAL". Default: "UNIDIRECTIONAL".
        cell_depth (int): only 1. Default: 1.
        keep_prob (float): only 1.0. Default: 1.0.
        cell_clip (float): only -1.0, no clipping. Default: -1.0.
        num_proj (int): outputs are cut to this many features if positive. Default: 0.
        time_major (bool): only True. Default: True.
        activation (str): "tanh". Default: "tanh".
        gate_order (str): "rzh" or "zrh", the order of reset and update gate in the weights. Default: "rzh".
        reset_after (bool): whether the reset gate acts after the hidden product. Default: True.
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "DynamicGRUV2"
    _only(
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
