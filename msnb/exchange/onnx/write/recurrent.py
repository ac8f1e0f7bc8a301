"""Lowerings to ONNX: recurrent layers."""

import math

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.nn.recurrent.lstm import matrix_offsets, on_cpu

from .builder import lowerings

# indices that reorder MindSpore's gates (input, forget, cell, output) to ONNX's (input, output, forget, cell)
_GATES = [0, 3, 1, 2]


@lowerings.register(ops.LSTM)
def _lower_lstm(b, x, h, c, w, *, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout):
    """Write one LSTM node per layer. Slice nodes read the weights of each layer from the flat weight array."""
    if x.dtype != "float32":
        return NotImplemented
    directions = 2 if bidirectional else 1
    offsets = _compute_weight_offsets(math.prod(w.shape), input_size, hidden_size, num_layers, has_bias, directions)
    flat = b.reshape(w, (math.prod(w.shape),))

    def slice_weights(starts, columns):
        """Return weights of shape (directions, 4 * hidden_size, columns) with the gates in ONNX's order."""
        pieces = [b.slice(flat, [start], [start + 4 * hidden_size * columns], [0]) for start in starts]
        joined = b.op("Concat", *pieces, axis=0) if len(pieces) > 1 else pieces[0]
        gates = b.reshape(joined, (directions, 4, hidden_size, columns))
        gates = b.op("Gather", gates, b.const(np.array(_GATES)), axis=1)
        return b.reshape(gates, (directions, 4 * hidden_size, columns))

    y, last_h, last_c = x, [], []
    steps, batch = x.shape[:2]
    for layer in range(num_layers):
        layer_offsets = offsets[layer * directions : (layer + 1) * directions]
        inputs = input_size if layer == 0 else hidden_size * directions
        bias = None
        if has_bias:
            biases = [
                b.reshape(
                    slice_weights([cell_offsets[2 + k] for cell_offsets in layer_offsets], 1),
                    (directions, 4 * hidden_size),
                )
                if layer_offsets[0][2 + k] is not None
                else b.const(np.zeros((directions, 4 * hidden_size), np.float32))
                for k in (0, 1)
            ]
            bias = b.op("Concat", *biases, axis=1)
        first_direction = layer * directions
        state = [
            b.slice(s, [first_direction], [first_direction + directions], [0]) if num_layers > 1 else s for s in (h, c)
        ]
        y, h_n, c_n = b.ops(
            "LSTM",
            y,
            slice_weights([cell_offsets[0] for cell_offsets in layer_offsets], inputs),
            slice_weights([cell_offsets[1] for cell_offsets in layer_offsets], hidden_size),
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
    empty = b.const(np.zeros((1, 1), np.float32))
    return y, h, c, empty, empty


def _compute_weight_offsets(size, input_size, hidden_size, num_layers, has_bias, directions):
    """Return the offsets of matrices and biases in the flat weights, per layer and direction; see
    msnb/ops/nn/recurrent/lstm.py.
    """
    gates = 4 * hidden_size
    sizes = [
        input_size if layer == 0 else hidden_size * directions for layer in range(num_layers) for _ in range(directions)
    ]
    matrices, count = sum(gates * (n + hidden_size) for n in sizes), len(sizes)
    has_summed_bias = has_bias and size - matrices == gates * count
    input_offsets, hidden_offsets = matrix_offsets(sizes, hidden_size, has_summed_bias or not has_bias and on_cpu())
    if not has_bias:
        return [(a, h, None, None) for a, h in zip(input_offsets, hidden_offsets)]
    step = gates * (1 if has_summed_bias else 2)
    starts = [matrices + number * step for number in range(count)]
    return [
        (a, h, at, None if has_summed_bias else at + gates) for a, h, at in zip(input_offsets, hidden_offsets, starts)
    ]
