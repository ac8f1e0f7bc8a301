"""Import ONNX operators: recurrent layers. A standard LSTM becomes MindSpore's LSTM; others are unrolled."""

import numpy as np

from .reader import Reader
from .shapes import slice_axis
from .values import Node, Ref, UnsupportedOperator, handles

_MAX_STEPS = 1024


def _apply_activation(r: Reader, name: str, x: Ref, alpha: float | None, beta: float | None) -> Ref:
    operators = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "ReLU", "softsign": "Softsign", "softplus": "Softplus"}
    kind = name.lower()
    if kind in operators:
        return r(operators[kind], x)
    if kind == "affine":
        return r("Add", r("Mul", x, r.like(1.0 if alpha is None else alpha, x)), r.like(beta or 0.0, x))
    if kind == "leakyrelu":
        return r("LeakyReLUExt", x, alpha=0.01 if alpha is None else alpha)
    if kind == "hardsigmoid":
        line = r(
            "Add", r("Mul", x, r.like(0.2 if alpha is None else alpha, x)), r.like(0.5 if beta is None else beta, x)
        )
        return r("Minimum", r("Maximum", line, r.like(0, x)), r.like(1, x))
    raise UnsupportedOperator(f"its activation is {name!r}")


class _RecurrentLayer:
    """Inputs and attributes that LSTM, GRU and RNN share: directions, sequence lengths, state, and the weights of a
    direction.
    """

    def __init__(self, r: Reader, node: Node, gates: int, kinds: int) -> None:
        self.r, self.node = r, node
        x = node.inputs[0]
        self.batch_first = node.attr("layout", 0) == 1
        self.x = r.transpose(x, (1, 0, 2)) if self.batch_first else x
        self.steps, self.batch = self.x.shape[:2]
        self.direction_mode = node.attr("direction", "forward")
        self.directions = 2 if self.direction_mode == "bidirectional" else 1
        self.hidden = node.inputs[2].shape[-1]
        self.gates: int = gates
        self.names = node.attr("activations")
        self.alphas, self.betas = node.attr("activation_alpha") or [], node.attr("activation_beta") or []
        self.kinds: int = kinds
        lengths = node.input(4)
        self.lengths = None
        if lengths is not None and not (lengths.value is not None and np.all(lengths.value == self.steps)):
            self.lengths = lengths
        if self.steps > _MAX_STEPS:
            raise UnsupportedOperator(f"its sequence has more than {_MAX_STEPS} steps")

    def direction_input(self, index: int, direction: int) -> Ref | None:
        """Return an input for one direction, without the direction axis."""
        x = self.node.input(index)
        if x is None:
            return None
        x = slice_axis(self.r, x, 0, direction, direction + 1)
        return self.r.reshape(x, x.shape[1:])

    def state(self, index: int) -> Ref | None:
        """Return an initial state of shape (directions, batch, hidden)."""
        x = self.node.input(index)
        if x is not None and self.batch_first:
            x = self.r.transpose(x, (1, 0, 2))
        return x

    def initial_state(self, index: int, direction: int) -> Ref:
        """Return the initial state of a direction. Default: zeros."""
        x = self.state(index)
        if x is None:
            return self.r.filled((self.batch, self.hidden), 0, self.x.dtype)
        return self.r.reshape(slice_axis(self.r, x, 0, direction, direction + 1), (self.batch, self.hidden))

    def activation(self, direction: int, number: int, x: Ref, default: str) -> Ref:
        """Apply one of the activations of a direction."""
        index = direction * self.kinds + number
        name = self.names[index] if self.names else default
        alpha = self.alphas[index] if index < len(self.alphas) else None
        beta = self.betas[index] if index < len(self.betas) else None
        clipped = x
        clip = self.node.attr("clip")
        if clip:
            clipped = self.r("Maximum", self.r("Minimum", clipped, self.r.like(clip, x)), self.r.like(-clip, x))
        return _apply_activation(self.r, name, clipped, alpha, beta)

    def bias(self, direction: int, start: int, count: int) -> Ref:
        """Return a slice of the biases of a direction. Default: zeros."""
        biases = self.direction_input(3, direction)
        if biases is None:
            return self.r.filled((count * self.hidden,), 0, self.x.dtype)
        return slice_axis(self.r, biases, 0, start * self.hidden, (start + count) * self.hidden)

    def run(self, step, states: list[int]) -> list[Ref]:
        """Unroll the layer in all directions. `step(direction, projected, states)` returns the new states, of which
        the first is the output.

        Returns:
            list, the outputs of all steps, then the final value of each state.
        """
        r, direction_outputs, final_states = self.r, [], [[] for _ in states]
        for direction in range(self.directions):
            backwards = self.direction_mode == "reverse" or direction == 1
            w = self.direction_input(1, direction)
            flat = r.reshape(self.x, (self.steps * self.batch, self.x.shape[2]))
            projected = r.reshape(
                r("MatMul", flat, w, transpose_b=True), (self.steps, self.batch, self.gates * self.hidden)
            )
            current = [self.initial_state(index, direction) for index in states]
            outputs: list[Ref] = [current[0]] * self.steps
            for number in range(self.steps):
                position = self.steps - 1 - number if backwards else number
                step_input = r.reshape(
                    slice_axis(r, projected, 0, position, position + 1), (self.batch, self.gates * self.hidden)
                )
                new = step(direction, step_input, current)
                out = new[0]
                if self.lengths is not None:
                    lengths = r.reshape(self.lengths, (self.batch, 1))
                    is_inside = r("Less", r.like(position, lengths), lengths)
                    new = [r("Where", is_inside, n, o) for n, o in zip(new, current, strict=True)]
                    out = r("Where", is_inside, out, r.like(0, out))
                current = new
                outputs[position] = out
            direction_outputs.append(r("Stack", outputs, axis=0))
            for values, value in zip(final_states, current, strict=True):
                values.append(value)
        return self.results(
            r("Stack", direction_outputs, axis=1), [r("Stack", values, axis=0) for values in final_states]
        )

    def results(self, y: Ref, last: list[Ref]) -> list[Ref]:
        """Return outputs (steps, directions, batch, hidden) and states in the layout of the node."""
        if not self.batch_first:
            return [y, *last]
        return [self.r.transpose(y, (2, 0, 1, 3)), *(self.r.transpose(v, (1, 0, 2)) for v in last)]


@handles("RNN")
def _read_rnn(r, node):
    layer = _RecurrentLayer(r, node, 1, 1)

    def step(direction, projected, states):
        hidden = r("MatMul", states[0], layer.direction_input(2, direction), transpose_b=True)
        bias = r("Add", layer.bias(direction, 0, 1), layer.bias(direction, 1, 1))
        return [layer.activation(direction, 0, r("Add", r("Add", projected, hidden), bias), "Tanh")]

    return layer.run(step, [5])


@handles("GRU")
def _read_gru(r, node):
    layer, n = _RecurrentLayer(r, node, 3, 2), node.inputs[2].shape[-1]
    is_reset_after = node.attr("linear_before_reset", 0)

    def step(direction, projected, states):
        (h,) = states
        weights = layer.direction_input(2, direction)
        gate_weights, candidate_weights = slice_axis(r, weights, 0, 0, 2 * n), slice_axis(r, weights, 0, 2 * n, 3 * n)
        bias = r("Add", layer.bias(direction, 0, 2), layer.bias(direction, 3, 2))
        gates = r(
            "Add", r("Add", slice_axis(r, projected, 1, 0, 2 * n), r("MatMul", h, gate_weights, transpose_b=True)), bias
        )
        gates = layer.activation(direction, 0, gates, "Sigmoid")
        update, reset = slice_axis(r, gates, 1, 0, n), slice_axis(r, gates, 1, n, 2 * n)
        candidate = r("Add", slice_axis(r, projected, 1, 2 * n, 3 * n), layer.bias(direction, 2, 1))
        if is_reset_after:
            hidden = r("Add", r("MatMul", h, candidate_weights, transpose_b=True), layer.bias(direction, 5, 1))
            hidden = r("Mul", reset, hidden)
        else:
            hidden = r("MatMul", r("Mul", reset, h), candidate_weights, transpose_b=True)
            hidden = r("Add", hidden, layer.bias(direction, 5, 1))
        new = layer.activation(direction, 1, r("Add", candidate, hidden), "Tanh")
        return [r("Add", r("Mul", r("Sub", r.like(1, update), update), new), r("Mul", update, h))]

    return layer.run(step, [5])


@handles("LSTM")
def _read_lstm(r, node):
    layer, n = _RecurrentLayer(r, node, 4, 3), node.inputs[2].shape[-1]
    activations = [name.lower() for name in layer.names or ["Sigmoid", "Tanh", "Tanh"] * layer.directions]
    is_standard = activations == ["sigmoid", "tanh", "tanh"] * layer.directions and layer.direction_mode != "reverse"
    if is_standard and layer.lengths is None and node.input(7) is None and not node.attr("clip"):
        if not node.attr("input_forget", 0):
            return _add_mindspore_lstm(r, layer, n)

    def step(direction, projected, states):
        h, c = states
        hidden = r("MatMul", h, layer.direction_input(2, direction), transpose_b=True)
        bias = r("Add", layer.bias(direction, 0, 4), layer.bias(direction, 4, 4))
        gates = r("Add", r("Add", projected, hidden), bias)
        i, o, f, g = (slice_axis(r, gates, 1, k * n, (k + 1) * n) for k in range(4))
        peep = layer.direction_input(7, direction)
        if peep is not None:
            i = r("Add", i, r("Mul", slice_axis(r, peep, 0, 0, n), c))
            f = r("Add", f, r("Mul", slice_axis(r, peep, 0, 2 * n, 3 * n), c))
        i = layer.activation(direction, 0, i, "Sigmoid")
        f = r("Sub", r.like(1, i), i) if node.attr("input_forget", 0) else layer.activation(direction, 0, f, "Sigmoid")
        new = r("Add", r("Mul", f, c), r("Mul", i, layer.activation(direction, 1, g, "Tanh")))
        if peep is not None:
            o = r("Add", o, r("Mul", slice_axis(r, peep, 0, n, 2 * n), new))
        o = layer.activation(direction, 0, o, "Sigmoid")
        return [r("Mul", o, layer.activation(direction, 2, new, "Tanh")), new]

    return layer.run(step, [5, 6])


def _add_mindspore_lstm(r, layer, n):
    """Call MindSpore's LSTM: gates in the order input, forget, candidate, output, and all weights in one vector."""
    inputs, directions = layer.x.shape[2], layer.directions

    def reorder_gates(x, start=0):
        gates = [slice_axis(r, x, 0, (start + k) * n, (start + k + 1) * n) for k in (0, 2, 3, 1)]
        return r("Concat", gates, axis=0)

    flat, biases = [], []
    for direction in range(directions):
        for index, columns in ((1, inputs), (2, n)):
            flat.append(r.reshape(reorder_gates(layer.direction_input(index, direction)), (4 * n * columns,)))
        bias = layer.direction_input(3, direction)
        if bias is not None:
            biases += [reorder_gates(bias), reorder_gates(bias, 4)]
        elif directions == 2:  # without biases the order of the weights depends on the device
            biases.append(r.filled((8 * n,), 0, layer.x.dtype))
    flat = r("Concat", flat + biases, axis=0)
    w = r.reshape(flat, (flat.shape[0], 1, 1))
    zeros = r.filled((directions, layer.batch, n), 0, layer.x.dtype)
    h, c = (layer.state(index) or zeros for index in (5, 6))
    y, h, c, *_ = r(
        "LSTM",
        layer.x,
        h,
        c,
        w,
        input_size=inputs,
        hidden_size=n,
        num_layers=1,
        has_bias=bool(biases),
        bidirectional=directions == 2,
        dropout=0.0,
    )
    y = r.transpose(r.reshape(y, (layer.steps, layer.batch, directions, n)), (0, 2, 1, 3))
    return layer.results(y, [h, c])
