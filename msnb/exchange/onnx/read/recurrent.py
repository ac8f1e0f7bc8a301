"""Readers of recurrent layers: an LSTM as it usually is becomes MindSpore's, everything else its steps."""

import numpy as np

from .reader import Reader
from .shapes import part
from .values import Node, Ref, Unread, handles

_LONGEST = 1024


def _activation(r: Reader, name: str, x: Ref, alpha: float | None, beta: float | None) -> Ref:
    plain = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "ReLU", "softsign": "Softsign", "softplus": "Softplus"}
    kind = name.lower()
    if kind in plain:
        return r(plain[kind], x)
    if kind == "affine":
        return r("Add", r("Mul", x, r.like(1.0 if alpha is None else alpha, x)), r.like(beta or 0.0, x))
    if kind == "leakyrelu":
        return r("LeakyReLUExt", x, alpha=0.01 if alpha is None else alpha)
    if kind == "hardsigmoid":
        line = r(
            "Add", r("Mul", x, r.like(0.2 if alpha is None else alpha, x)), r.like(0.5 if beta is None else beta, x)
        )
        return r("Minimum", r("Maximum", line, r.like(0, x)), r.like(1, x))
    raise Unread(f"its activation is {name!r}")


class _Layer:
    """What LSTM, GRU and RNN share: directions, sequence lengths, the state, and the weights of a direction."""

    def __init__(self, r: Reader, node: Node, gates: int, kinds: int) -> None:
        self.r, self.node = r, node
        x = node.inputs[0]
        self.batch_first = node.attr("layout", 0) == 1
        self.x = r.transpose(x, (1, 0, 2)) if self.batch_first else x
        self.steps, self.batch = self.x.shape[:2]
        self.way = node.attr("direction", "forward")
        self.directions = 2 if self.way == "bidirectional" else 1
        self.hidden = node.inputs[2].shape[-1]
        self.gates: int = gates
        self.names = node.attr("activations")
        self.alphas, self.betas = node.attr("activation_alpha") or [], node.attr("activation_beta") or []
        self.kinds: int = kinds
        lengths = node.input(4)
        self.lengths = None
        if lengths is not None and not (lengths.value is not None and np.all(lengths.value == self.steps)):
            self.lengths = lengths
        if self.steps > _LONGEST:
            raise Unread(f"its sequence has more than {_LONGEST} steps")

    def of(self, place: int, direction: int) -> Ref | None:
        """An input for one direction, without that axis."""
        x = self.node.input(place)
        if x is None:
            return None
        x = part(self.r, x, 0, direction, direction + 1)
        return self.r.reshape(x, x.shape[1:])

    def state(self, place: int) -> Ref | None:
        """A first state, (directions, batch, hidden)."""
        x = self.node.input(place)
        if x is not None and self.batch_first:
            x = self.r.transpose(x, (1, 0, 2))
        return x

    def first(self, place: int, direction: int) -> Ref:
        """The first state of a direction, zeros where none is given."""
        x = self.state(place)
        if x is None:
            return self.r.filled((self.batch, self.hidden), 0, self.x.dtype)
        return self.r.reshape(part(self.r, x, 0, direction, direction + 1), (self.batch, self.hidden))

    def activation(self, direction: int, number: int, x: Ref, usual: str) -> Ref:
        """One of the activations of a direction."""
        at = direction * self.kinds + number
        name = self.names[at] if self.names else usual
        alpha = self.alphas[at] if at < len(self.alphas) else None
        beta = self.betas[at] if at < len(self.betas) else None
        made = x
        clip = self.node.attr("clip")
        if clip:
            made = self.r("Maximum", self.r("Minimum", made, self.r.like(clip, x)), self.r.like(-clip, x))
        return _activation(self.r, name, made, alpha, beta)

    def bias(self, direction: int, start: int, count: int) -> Ref:
        """Part of the biases of a direction, zeros where there are none."""
        found = self.of(3, direction)
        if found is None:
            return self.r.filled((count * self.hidden,), 0, self.x.dtype)
        return part(self.r, found, 0, start * self.hidden, (start + count) * self.hidden)

    def run(self, step, states: list[int]) -> list[Ref]:
        """The steps of all directions. `step(direction, projected, states)` gives the new states, the output first.

        Returns:
            list, all outputs, then the last of each state.
        """
        r, rows, last = self.r, [], [[] for _ in states]
        for direction in range(self.directions):
            backwards = self.way == "reverse" or direction == 1
            w = self.of(1, direction)
            flat = r.reshape(self.x, (self.steps * self.batch, self.x.shape[2]))
            projected = r.reshape(
                r("MatMul", flat, w, transpose_b=True), (self.steps, self.batch, self.gates * self.hidden)
            )
            now = [self.first(place, direction) for place in states]
            found: list[Ref] = [now[0]] * self.steps
            for number in range(self.steps):
                at = self.steps - 1 - number if backwards else number
                given = r.reshape(part(r, projected, 0, at, at + 1), (self.batch, self.gates * self.hidden))
                new = step(direction, given, now)
                out = new[0]
                if self.lengths is not None:
                    lengths = r.reshape(self.lengths, (self.batch, 1))
                    inside = r("Less", r.like(at, lengths), lengths)
                    new = [r("Where", inside, n, o) for n, o in zip(new, now, strict=True)]
                    out = r("Where", inside, out, r.like(0, out))
                now = new
                found[at] = out
            rows.append(r("Stack", found, axis=0))
            for kept, value in zip(last, now, strict=True):
                kept.append(value)
        return self.results(r("Stack", rows, axis=1), [r("Stack", kept, axis=0) for kept in last])

    def results(self, y: Ref, last: list[Ref]) -> list[Ref]:
        """(steps, directions, batch, hidden) and states as the layout wants them."""
        if not self.batch_first:
            return [y, *last]
        return [self.r.transpose(y, (2, 0, 1, 3)), *(self.r.transpose(v, (1, 0, 2)) for v in last)]


@handles("RNN")
def _rnn(r, node):
    layer = _Layer(r, node, 1, 1)

    def step(direction, given, states):
        hidden = r("MatMul", states[0], layer.of(2, direction), transpose_b=True)
        bias = r("Add", layer.bias(direction, 0, 1), layer.bias(direction, 1, 1))
        return [layer.activation(direction, 0, r("Add", r("Add", given, hidden), bias), "Tanh")]

    return layer.run(step, [5])


@handles("GRU")
def _gru(r, node):
    layer, n = _Layer(r, node, 3, 2), node.inputs[2].shape[-1]
    before = node.attr("linear_before_reset", 0)

    def step(direction, given, states):
        (h,) = states
        weights = layer.of(2, direction)
        two, one = part(r, weights, 0, 0, 2 * n), part(r, weights, 0, 2 * n, 3 * n)
        bias = r("Add", layer.bias(direction, 0, 2), layer.bias(direction, 3, 2))
        both = r("Add", r("Add", part(r, given, 1, 0, 2 * n), r("MatMul", h, two, transpose_b=True)), bias)
        both = layer.activation(direction, 0, both, "Sigmoid")
        update, reset = part(r, both, 1, 0, n), part(r, both, 1, n, 2 * n)
        own = r("Add", part(r, given, 1, 2 * n, 3 * n), layer.bias(direction, 2, 1))
        if before:
            hidden = r("Add", r("MatMul", h, one, transpose_b=True), layer.bias(direction, 5, 1))
            hidden = r("Mul", reset, hidden)
        else:
            hidden = r("MatMul", r("Mul", reset, h), one, transpose_b=True)
            hidden = r("Add", hidden, layer.bias(direction, 5, 1))
        new = layer.activation(direction, 1, r("Add", own, hidden), "Tanh")
        return [r("Add", r("Mul", r("Sub", r.like(1, update), update), new), r("Mul", update, h))]

    return layer.run(step, [5])


@handles("LSTM")
def _lstm(r, node):
    layer, n = _Layer(r, node, 4, 3), node.inputs[2].shape[-1]
    usual = [name.lower() for name in layer.names or ["Sigmoid", "Tanh", "Tanh"] * layer.directions]
    plain = usual == ["sigmoid", "tanh", "tanh"] * layer.directions and layer.way != "reverse"
    if plain and layer.lengths is None and node.input(7) is None and not node.attr("clip"):
        if not node.attr("input_forget", 0):
            return _whole_lstm(r, layer, n)

    def step(direction, given, states):
        h, c = states
        hidden = r("MatMul", h, layer.of(2, direction), transpose_b=True)
        bias = r("Add", layer.bias(direction, 0, 4), layer.bias(direction, 4, 4))
        gates = r("Add", r("Add", given, hidden), bias)
        i, o, f, g = (part(r, gates, 1, k * n, (k + 1) * n) for k in range(4))
        peep = layer.of(7, direction)
        if peep is not None:
            i = r("Add", i, r("Mul", part(r, peep, 0, 0, n), c))
            f = r("Add", f, r("Mul", part(r, peep, 0, 2 * n, 3 * n), c))
        i = layer.activation(direction, 0, i, "Sigmoid")
        f = r("Sub", r.like(1, i), i) if node.attr("input_forget", 0) else layer.activation(direction, 0, f, "Sigmoid")
        new = r("Add", r("Mul", f, c), r("Mul", i, layer.activation(direction, 1, g, "Tanh")))
        if peep is not None:
            o = r("Add", o, r("Mul", part(r, peep, 0, n, 2 * n), new))
        o = layer.activation(direction, 0, o, "Sigmoid")
        return [r("Mul", o, layer.activation(direction, 2, new, "Tanh")), new]

    return layer.run(step, [5, 6])


def _whole_lstm(r, layer, n):
    """MindSpore's LSTM: gates in the order input, forget, candidate, output, all weights in one vector."""
    inputs, directions = layer.x.shape[2], layer.directions

    def ordered(x, start=0):
        parts = [part(r, x, 0, (start + k) * n, (start + k + 1) * n) for k in (0, 2, 3, 1)]
        return r("Concat", parts, axis=0)

    flat, biases = [], []
    for direction in range(directions):
        for place, columns in ((1, inputs), (2, n)):
            flat.append(r.reshape(ordered(layer.of(place, direction)), (4 * n * columns,)))
        bias = layer.of(3, direction)
        if bias is not None:
            biases += [ordered(bias), ordered(bias, 4)]
        elif directions == 2:  # without biases how weights are packed is the device's, with zeros it is not
            biases.append(r.filled((8 * n,), 0, layer.x.dtype))
    flat = r("Concat", flat + biases, axis=0)
    w = r.reshape(flat, (flat.shape[0], 1, 1))
    zeros = r.filled((directions, layer.batch, n), 0, layer.x.dtype)
    h, c = (layer.state(place) or zeros for place in (5, 6))
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
