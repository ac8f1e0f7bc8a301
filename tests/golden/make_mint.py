"""Asks real MindSpore, and where its CPU has no kernel PyTorch, about the calls of mint_cases.py.

    python tests/golden/make_mint.py --mindspore ORACLE/bin/python --torch TORCH/bin/python

It runs under msnb, which draws the numbers. mint.npz holds arrays by '<call>/<name>': out0, out1, ... and grad0, ...,
the gradients for the float Tensors, which are PyTorch's where both have them: MindSpore's are 0 for some weights.
mint.json says of each call whose answer it is, and lists MindSpore's names of mint with their arguments.
"""

import argparse
import contextlib
import io
import json
import pathlib
import pickle
import subprocess
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "ops"), str(HERE.parent.parent)]
from mint_cases import FUNCTIONS, LAYERS  # noqa: E402
from operator_rows import drawn  # noqa: E402

from msnb.core.operator import cases  # noqa: E402

# Calls for which MindSpore 2.7.1 on the CPU contradicts its documentation.
NOT_MINDSPORE = {
    "index_add": "it writes into its input",
    "nn.functional.binary_cross_entropy": "with weights, its sum is too large",
}
CALLS = [(text, None) for text in FUNCTIONS] + [(given, made) for made, given in LAYERS]  # (call, its layer)
DTYPES = dict.fromkeys(("float16", "float32", "float64", "int32", "int64"))


def key_of(text, maker):
    """Return the name of a call in the golden files and among the tests."""
    return f"{maker}({text})" if maker else text


def arrays_of(text, maker_of_layer=None):
    """Return the arrays that the makers of a call stand for, in their order; they depend on its own text alone."""
    seed, results = zlib.crc32(key_of(text, maker_of_layer).encode()), []

    def maker(spec):
        def make(*args, **kwargs):
            results.append(drawn(spec(*args, **kwargs), (seed, len(results))))

        return make

    names = {name: maker(getattr(cases, name)) for name in ("F", "U", "I", "Flags")}
    root = type("Path", (), {"__getattr__": lambda self, _: self, "__call__": lambda self, *_, **__: self})()
    scope = {**DTYPES, **names, "V": maker(cases.Values), "float": float, "mint": root}
    root.__class__.shape = (0,)
    eval(f"mint({text})" if maker_of_layer else f"mint.{text}", scope)
    return results


def ask(python, framework, questions):
    """Return the answers; a question that ends the process has none, and the rest is asked again."""
    results = []
    while len(results) < len(questions):
        sent = pickle.dumps(questions[len(results) :])
        process_output = io.BytesIO(
            subprocess.run([python, HERE / "mint_oracle.py", framework], input=sent, stdout=subprocess.PIPE).stdout
        )
        with contextlib.suppress(EOFError):
            while True:
                results.append(pickle.load(process_output))
        if len(results) < len(questions):
            results.append(({}, "it ended the process"))
    return results


def main():
    """Ask, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mindspore", required=True, help="the Python interpreter that has MindSpore")
    parser.add_argument("--torch", required=True, help="the one that has PyTorch")
    options = parser.parse_args()
    questions = [(text, arrays_of(text, maker), maker) for text, maker in CALLS]
    first, second = (ask(getattr(options, name), name, questions) for name in ("mindspore", "torch"))
    store, whose = {}, {}
    for (text, maker), (of_ms, no_ms), (of_torch, no_torch) in zip(CALLS, first, second, strict=True):
        key = key_of(text, maker)
        if key.partition("(")[0] in NOT_MINDSPORE:
            of_ms, no_ms = {}, NOT_MINDSPORE[key.partition("(")[0]]
        gradients = {name: array for name, array in of_torch.items() if name.startswith("grad")}
        result = {**of_ms, **gradients} if of_ms else of_torch
        whose[key] = "MindSpore" if of_ms else "PyTorch" if of_torch else f"nobody: {no_ms} {no_torch}"
        store.update({f"{key}/{name}": array for name, array in result.items()})
        for name in of_ms.keys() & of_torch.keys():
            a, b = of_ms[name], of_torch[name]
            if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, 1e-3, 1e-4, equal_nan=True):
                said = [f"{x.dtype}{x.shape} {x.ravel()[:4]}" for x in (a, b)]
                print(f"{key} {name}: MindSpore {said[0]}, PyTorch {said[1]}")
    np.savez_compressed(HERE / "mint.npz", **store)
    process_output = subprocess.run(
        [options.mindspore, HERE / "mint_oracle.py", "names"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
    )
    facts = {"names": pickle.loads(process_output.stdout), "answers": whose}
    (HERE / "mint.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
