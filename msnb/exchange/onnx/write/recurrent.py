"""Lowerings of recurrent layers."""

import math

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.nn.lstm import matrix_places, on_cpu

from .builder import lowerings

_GATES = [0, 3, 1, 2]  # ONNX's order input, output, forget, cell in MindSpore's input, forget, cell, output


@lowerings.register(ops.LSTM)
def _lstm(b, x, h, c, w, *, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout):
    """A layer of ONNX for each layer; the weights are cut out of the flat one when the model is loaded."""
    if x.dtype != "float32":
        return NotImplemented
    directions = 2 if bidirectional else 1
    parts = _packing(math.prod(w.shape), input_size, hidden_size, num_layers, has_bias, directions)
    flat = b.reshape(w, (math.prod(w.shape),))

    def cut(places, columns):
        """(directions, 4 * hidden_size, columns) with the gates in ONNX's order."""
        found = [b.slice(flat, [at], [at + 4 * hidden_size * columns], [0]) for at in places]
        joined = b.op("Concat", *found, axis=0) if len(found) > 1 else found[0]
        gates = b.reshape(joined, (directions, 4, hidden_size, columns))
        gates = b.op("Gather", gates, b.const(np.array(_GATES)), axis=1)
        return b.reshape(gates, (directions, 4 * hidden_size, columns))

    y, last_h, last_c = x, [], []
    steps, batch = x.shape[:2]
    for layer in range(num_layers):
        here = parts[layer * directions : (layer + 1) * directions]
        inputs = input_size if layer == 0 else hidden_size * directions
        bias = None
        if has_bias:
            two = [
                b.reshape(cut([part[2 + k] for part in here], 1), (directions, 4 * hidden_size))
                if here[0][2 + k] is not None
                else b.const(np.zeros((directions, 4 * hidden_size), np.float32))
                for k in (0, 1)
            ]
            bias = b.op("Concat", *two, axis=1)
        at = layer * directions
        state = [b.slice(s, [at], [at + directions], [0]) if num_layers > 1 else s for s in (h, c)]
        y, h_n, c_n = b.ops(
            "LSTM",
            y,
            cut([part[0] for part in here], inputs),
            cut([part[1] for part in here], hidden_size),
            bias,
            None,
            *state,
            count=3,
            hidden_size=hidden_size,
            direction="bidirectional" if bidirectional else "forward",
        )
        last_h.append(h_n)
        last_c.append(c_n)
        y.shape = (steps, directions, batch, hidden_size)
        if directions == 2:
            y = b.reshape(b.transpose(y, [0, 2, 1, 3]), (steps, batch, 2 * hidden_size))
        else:
            y = b.squeeze(y, [1])
    h, c = (b.op("Concat", *each, axis=0) if num_layers > 1 else each[0] for each in (last_h, last_c))
    nothing = b.const(np.zeros((1, 1), np.float32))
    return y, h, c, nothing, nothing


def _packing(size, input_size, hidden_size, num_layers, has_bias, directions):
    """For each layer and direction where its matrices and biases begin in the flat weights, see msnb/ops/nn/lstm.py."""
    gates = 4 * hidden_size
    sizes = [
        input_size if layer == 0 else hidden_size * directions for layer in range(num_layers) for _ in range(directions)
    ]
    matrices, count = sum(gates * (n + hidden_size) for n in sizes), len(sizes)
    one = has_bias and size - matrices == gates * count
    own, hidden = matrix_places(sizes, hidden_size, one or not has_bias and on_cpu())
    if not has_bias:
        return [(a, h, None, None) for a, h in zip(own, hidden)]
    step = gates * (1 if one else 2)
    starts = [matrices + number * step for number in range(count)]
    return [(a, h, at, None if one else at + gates) for a, h, at in zip(own, hidden, starts)]
