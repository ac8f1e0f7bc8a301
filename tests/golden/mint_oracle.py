"""Runs calls of `mindspore.mint` under MindSpore, PyTorch or msnb, whichever interpreter and module it is given.

make_mint.py starts it in environments that have no msnb: questions are plain data (pickled, on standard input), and so
are answers. tests/mint uses the same `answer` with msnb.
"""

import importlib
import inspect
import os
import pickle
import sys
import types

import numpy as np

DTYPES = ("float16", "float32", "float64", "int32", "int64", "bool")


def cotangent(shape):
    """Return a fixed cotangent of a given shape."""
    return (np.arange(int(np.prod(shape))).reshape(shape) % 5 * 0.5 - 0.75).astype(np.float32)


def start(shape, place):
    """Return the initial value of the Parameter at `place` of a layer."""
    return (0.5 * np.sin(1 + place + np.arange(int(np.prod(shape)), dtype=np.float32))).reshape(shape)


class MindSpore:
    """`mindspore.mint` of MindSpore, or of what has its interface.

    Args:
        ms (module): The package.
    """

    def __init__(self, ms):
        self.ms = ms
        self.mint = importlib.import_module(f"{ms.__name__}.mint")
        self.floats = (ms.float16, ms.float32, ms.float64)
        self.dtypes = {name: getattr(ms, "bool_" if name == "bool" else name) for name in DTYPES}

    def box(self, array):
        return self.ms.Tensor(array)

    def plain(self, tensor):
        return tensor.asnumpy().copy()  # some kernels of MindSpore's write into what they gave before

    def is_tensor(self, value):
        return isinstance(value, self.ms.Tensor)

    def begin(self, layer):
        layer.set_train(True)
        params = sorted((name, p) for name, p in layer.parameters_and_names() if p.requires_grad)
        for place, (_, param) in enumerate(params):
            param.set_data(self.ms.Tensor(start(param.shape, place)))
        return layer

    def gradients(self, call, boxes, places):
        def total(*values):
            full = list(boxes)
            for place, value in zip(places, values):
                full[place] = value
            products = [
                (self.ms.ops.cast(r, self.ms.float32) * self.ms.Tensor(cotangent(r.shape))).sum()
                for r in results_of(call(full))
                if self.is_tensor(r) and r.dtype in self.floats
            ]
            return sum(products[1:], products[0])

        return self.ms.ops.GradOperation(get_all=True)(total)(*[boxes[place] for place in places])


class PyTorch:
    """PyTorch under the paths of `mindspore.mint`."""

    def __init__(self):
        import torch

        self.torch = torch
        self.mint = types.SimpleNamespace(
            **{n: getattr(torch, n) for n in dir(torch) if not n.startswith("__")},
            item=lambda x: x.item(),
        )
        self.dtypes = {name: getattr(torch, name) for name in DTYPES}
        self.floats = (torch.float16, torch.float32, torch.float64)

    def box(self, array):
        return self.torch.from_numpy(array.copy())  # what it gives is as contiguous as what it is given

    def plain(self, tensor):
        return tensor.detach().numpy()

    def is_tensor(self, value):
        return isinstance(value, self.torch.Tensor)

    def begin(self, layer):
        for place, (_, param) in enumerate(sorted(layer.named_parameters())):
            param.data = self.box(start(tuple(param.shape), place))
        return layer.train()

    def gradients(self, call, boxes, places):
        boxes = [box.clone() for box in boxes]
        for place in places:
            boxes[place].requires_grad_()
        total = 0
        for r in results_of(call(boxes)):
            if self.is_tensor(r) and r.dtype in self.floats:
                total = total + (r.float() * self.torch.from_numpy(cotangent(tuple(r.shape)))).sum()
        total.backward()
        return [
            box.grad if box.grad is not None else self.torch.zeros_like(box) for box in map(boxes.__getitem__, places)
        ]


def results_of(out):
    return out if isinstance(out, (tuple, list)) else (out,)


def called(framework, text, boxes, layer=None):
    """Return the result of a call. `boxes` are the values of its makers F, U, I, Flags, V, in their order."""
    remaining = iter(boxes)
    names = {name: lambda *_, **__: next(remaining) for name in ("F", "U", "I", "Flags", "V")}
    scope = {**framework.dtypes, **names, "float": float, "layer": layer, "mint": framework.mint}
    return eval(f"layer({text})" if layer is not None else f"mint.{text}", scope)


def answer(framework, question, gradients=True):
    """Return (dict of arrays, what went wrong) of a question: text, arrays, and how a layer is made or None."""
    text, arrays, maker = question
    results, problem = _answer(framework, text, arrays, maker, gradients)
    if problem and not results and isinstance(framework, PyTorch):  # it wants places in int64
        arrays = [array.astype(np.int64) if array.dtype == np.int32 else array for array in arrays]
        return _answer(framework, text, arrays, maker, gradients)
    return results, problem


def _answer(framework, text, arrays, maker, gradients):
    try:
        layer = framework.begin(called(framework, maker, ())) if maker else None
        boxes = [framework.box(array) for array in arrays]
        outs = results_of(called(framework, text, boxes, layer))
        results = {f"out{i}": framework.plain(o) for i, o in enumerate(outs) if framework.is_tensor(o)}
        results.update({f"out{i}": np.array(o) for i, o in enumerate(outs) if isinstance(o, (bool, int, float))})
    except Exception as problem:
        return {}, f"{type(problem).__name__}: {problem}"
    positions = [place for place, array in enumerate(arrays) if array.dtype.kind == "f"]
    if gradients and positions and any(framework.is_tensor(o) and o.dtype in framework.floats for o in outs):
        try:
            grads = framework.gradients(lambda full: called(framework, text, full, layer), boxes, positions)
            results.update({f"grad{i}": framework.plain(g) for i, g in enumerate(grads)})
        except Exception as problem:
            return results, f"gradient: {type(problem).__name__}: {problem}"
    return results, None


def names(mint):
    """Return {path below mint: the arguments of what is there, None where its signature does not say} of all public
    names."""
    results = {}
    for path in ("", "nn", "nn.functional", "linalg", "special", "optim", "distributed"):
        home = importlib.import_module(f"{mint.__name__}.{path}" if path else mint.__name__)
        for name in sorted(home.__all__):
            target = getattr(home, name, None)
            if target is not None:
                results[f"{path}.{name}" if path else name] = arguments(target)
    return results


def arguments(target):
    """Return ["input", "dim=", "*", "dtype="] of a function or class: the names, and whether there is a default."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except ValueError:
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    results = [p.name + ("" if p.default is p.empty else "=") for p in parameters]
    by_place = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    return results if by_place == len(results) else [*results[:by_place], "*", *results[by_place:]]


def main():
    """Answer the questions on standard input."""
    out = os.dup(1)
    os.dup2(2, 1)  # MindSpore prints
    if sys.argv[1] == "names":
        with os.fdopen(out, "wb") as pipe:
            pickle.dump(names(importlib.import_module("mindspore.mint")), pipe)
        return
    if sys.argv[1] == "torch":
        framework = PyTorch()
    else:
        ms = importlib.import_module("mindspore")
        ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
        framework = MindSpore(ms)
    with os.fdopen(out, "wb") as pipe:
        for question in pickle.load(sys.stdin.buffer):
            pickle.dump(answer(framework, question), pipe)
            pipe.flush()  # MindSpore may end the process with the next one


if __name__ == "__main__":
    main()
