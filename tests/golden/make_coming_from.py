"""Store the numbers that PyTorch or Keras gives for the left column of docs/from_torch.md or docs/from_keras.md.

    PYTHON tests/golden/make_coming_from.py torch     # PYTHON has PyTorch
    PYTHON tests/golden/make_coming_from.py keras     # PYTHON has Keras, with any backend

The test runs the right column. This module imports neither library until it runs, and nothing of msnb.
"""

import ast
import json
import re
import sys
from pathlib import Path

import numpy as np

DOCS = Path(__file__).parents[2] / "docs"


def read_rows(name):
    """Return the rows of a page that have code in both columns: [(left, right)]."""
    text = (DOCS / f"from_{name}.md").read_text(encoding="utf-8").partition("\n## Other names")[0]
    return re.findall(r"^\| `([^`|]*)` \| `([^`|]*)` \|.*\|$", text, re.M)


def read_blocks(name):
    """Return the code blocks of a page that compute `losses`: the library's, then msnb's."""
    text = (DOCS / f"from_{name}.md").read_text(encoding="utf-8")
    return [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "losses" in block]


def make_arrays():
    """Return the arrays that the pages name."""
    wave = np.sin(np.arange(72, dtype=np.float32))
    return {
        "x": wave[:8].reshape(2, 4),
        "t": wave[10:18].reshape(2, 4) ** 2,
        "image": wave.reshape(1, 2, 6, 6),
        "words": wave[:24].reshape(2, 3, 4),
        "labels": np.array([2, 0]),
        "ids": np.array([[0, 3, 1], [4, 4, 2]]),
    }


def evaluate(code, names, fill):
    """Return the value of an expression as a numpy array. The weights of a layer that it calls are filled."""
    body = ast.parse(code, mode="eval").body
    if isinstance(body, ast.Subscript) and isinstance(body.value, ast.Call):
        outer, body = body, body.value
    else:
        outer = None
    if isinstance(body, ast.Call) and isinstance(body.func, ast.Call):
        layer = eval(ast.unparse(body.func), dict(names))
        names = {**names, "layer": fill(layer)}
        body.func = ast.Name("layer", ast.Load())
        code = ast.unparse(outer or body)
    return to_numpy(eval(code, dict(names)))


def to_numpy(value):
    """Return a Tensor of any library, a number or a tuple as a numpy array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    return np.asarray(value)


def run_block(code, names):
    """Run a training loop and return its losses."""
    names = dict(names)
    exec(code, names)
    return np.asarray(names["losses"], np.float64)


def make_torch():
    import torch
    from torch import nn

    def fill(layer):
        for weight in getattr(layer, "parameters", list)():
            weight.data = torch.arange(weight.numel(), dtype=torch.float32).reshape(weight.shape) / 100
        return layer

    arrays = {name: torch.from_numpy(array) for name, array in make_arrays().items()}
    return {"torch": torch, "nn": nn, "F": nn.functional, "fill": fill, **arrays}, fill


def make_keras():
    import keras

    keras.config.set_image_data_format("channels_first")

    def set_weights(layer):
        for weight in layer.trainable_weights:
            axes = [*range(len(weight.shape))]
            if weight.name == "kernel":  # MindSpore's axes: outputs, inputs, then the window
                axes = [*axes[-2:][::-1], *axes[:-2]]
            shape = [weight.shape[axis] for axis in axes]
            values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 100
            weight.assign(np.transpose(values, np.argsort(axes)))

    def fill(layer):
        if isinstance(layer, keras.Sequential):
            return set_weights(layer)
        if not isinstance(layer, keras.Layer):
            return layer

        def call(x):
            layer(x)  # a layer creates its weights when it is first called
            set_weights(layer)
            return layer(x)

        return call

    arrays = {name: keras.ops.convert_to_tensor(array) for name, array in make_arrays().items()}
    return {"keras": keras, "ops": keras.ops, "layers": keras.layers, "fill": fill, **arrays}, fill


def main(name):
    names, fill = {"torch": make_torch, "keras": make_keras}[name]()
    values = {left: evaluate(left, names, fill) for left, _ in read_rows(name)}
    stored = {left: [str(value.dtype), np.round(value.astype(float), 6).tolist()] for left, value in values.items()}
    theirs, _ = read_blocks(name)
    stored["losses"] = np.round(run_block(theirs, names), 6).tolist()
    target = Path(__file__).with_name(f"from_{name}.json")
    target.write_text(json.dumps(stored, separators=(",", ":")).replace('],"', '],\n"') + "\n", encoding="utf-8")
    print(f"{target.name}: {len(values)} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
