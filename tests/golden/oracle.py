"""Answer make_operators.py with real MindSpore: read questions from standard input, write answers to standard output.

It runs in MindSpore's own environment, which has no JAX and no msnb: a question is plain data, and so is an answer.
"""

import contextlib
import importlib
import os
import pickle
import sys

import numpy as np

# Where MindSpore keeps classes of operators that are in no public list.
MODULES = ("ops", "ops.operations", "ops.auto_generate") + tuple(
    f"ops.operations.{name}"
    for name in ("nn_ops", "array_ops", "math_ops", "image_ops", "_grad_ops", "_inner_ops", "sparse_ops", "other_ops")
)


def cotangent(shape):
    """Return a fixed cotangent of a given shape."""
    return (np.arange(int(np.prod(shape))).reshape(shape) % 5 * 0.5 - 0.75).astype(np.float32)


def variables(inputs, wanted):
    """Places, (place, None) or (place, number in a tuple), of the float arrays that get a gradient."""
    results = []
    for place, value in enumerate(inputs):
        if wanted is None or place in wanted:
            parts = [(number, v) for number, v in enumerate(value)] if isinstance(value, tuple) else [(None, value)]
            results += [(place, n) for n, v in parts if isinstance(v, np.ndarray) and v.dtype.kind == "f"]
    return results


def placed(inputs, places, values):
    """Return `inputs` with `values` at `places`."""
    full = list(inputs)
    for (place, number), value in zip(places, values):
        if number is None:
            full[place] = value
        else:
            full[place] = (*full[place][:number], value, *full[place][number + 1 :])
    return full


def selected(results, places):
    """Return pairs (place, result) of the results at `places`, of all for None."""
    return [(i, r) for i, r in enumerate(results) if places is None or i in places]


class Oracle:
    """MindSpore, asked.

    Args:
        ms (module): The package.
    """

    def __init__(self, ms):
        self.ms = ms
        ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)

    def boxed(self, value, name=None):
        """Return an input as MindSpore takes it; a Parameter where there is a name."""
        if isinstance(value, np.ndarray):
            return self.ms.Parameter(self.ms.Tensor(value), name=name) if name else self.ms.Tensor(value)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and value[0] == "dtype":
            return getattr(self.ms, value[1])
        return tuple(map(self.boxed, value)) if isinstance(value, tuple) else value

    def call_of(self, kind, name, attributes):
        """Return the function of the inputs that a name stands for; None where MindSpore does not have it."""
        attributes = {key: self.boxed(value) for key, value in attributes.items()}
        if kind == "method":
            return lambda x, *args: getattr(x, name)(*args, **attributes)
        if kind == "function":
            function = getattr(self.ms.ops, name, None)
            return function and (lambda *args: function(*args, **attributes))
        for module in MODULES:
            with contextlib.suppress(ImportError):
                result = getattr(importlib.import_module(f"mindspore.{module}"), name, None)
                if isinstance(result, type):
                    return result(**attributes)
        return None

    def answer(self, question):
        """Return (dict of arrays, what went wrong) for a question.

        Its keys: names, pairs (kind, name) of which the first that works is taken; attributes; inputs; written, places
        of Parameters; wanted, places of the inputs that get a gradient; compared, places of the results that are kept;
        differentiated, places of those that the gradient is taken of. None stands for all.
        """
        problems = []
        for kind, name in question["names"]:
            try:
                call = self.call_of(kind, name, question["attributes"])
                if call is None:
                    raise LookupError(f"there is no {kind} {name}")
                result, out = self.forward(call, question)
            except Exception as problem:  # no kernel for the CPU, another signature
                problems.append(_line(problem))
                continue
            try:
                return {**result, **self.gradients(call, question, out)}, None
            except Exception as problem:
                return result, f"gradient: {_line(problem)}"
        return {}, problems[0]

    def boxes(self, question):
        return [
            self.boxed(value, f"p{place}" if place in question["written"] else None)
            for place, value in enumerate(question["inputs"])
        ]

    def forward(self, call, question):
        """Return the outputs and updated inputs of a call by name, and its result."""
        boxes = self.boxes(question)
        out = call(*boxes)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        selection = selected(outs, question["compared"])
        results = {f"out{i}": o.asnumpy() for i, o in selection if isinstance(o, self.ms.Tensor)}
        results.update({f"written{place}": boxes[place].asnumpy() for place in question["written"]})
        return results, outs

    def gradients(self, call, question, outs):
        """Return the gradient of the sum of all float results, each weighted by its cotangent."""
        ms, boxes = self.ms, self.boxes(question)
        slots = [at for at in variables(question["inputs"], question["wanted"]) if at[0] not in question["written"]]
        floats = (ms.float16, ms.float32, ms.float64)
        if not slots or not any(o.dtype in floats for _, o in selected(outs, question["differentiated"])):
            return {}

        def total(*values):
            result = call(*placed(boxes, slots, values))
            results = result if isinstance(result, (tuple, list)) else (result,)
            weighted = [
                (ms.ops.cast(r, ms.float32) * ms.Tensor(cotangent(r.shape))).sum()
                for _, r in selected(results, question["differentiated"])
                if r.dtype in floats
            ]
            return sum(weighted[1:], weighted[0])

        at = [boxes[place] if number is None else boxes[place][number] for place, number in slots]
        output = ms.ops.GradOperation(get_all=True)(total)(*at)
        return {f"grad{i}": g.asnumpy() for i, g in enumerate(output)}


def _line(problem):
    if isinstance(problem, LookupError):
        return "there is none"
    words = str(problem)
    missing = "unregistered" in words or "kernel" in words.lower() or "bprop not defined" in words
    return "not for the CPU" if missing and isinstance(problem, RuntimeError) else type(problem).__name__


def main():
    """Answer the pickled list of questions on standard input with a pickled list on standard output."""
    out, log = os.dup(1), os.dup(2)
    os.dup2(log, 1)  # MindSpore prints
    import mindspore as ms

    oracle = Oracle(ms)
    answers = [oracle.answer(question) for question in pickle.load(sys.stdin.buffer)]
    with os.fdopen(out, "wb") as pipe:
        pickle.dump(answers, pipe)


if __name__ == "__main__":
    main()
