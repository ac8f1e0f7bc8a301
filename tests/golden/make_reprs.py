"""Writes reprs.json: how MindSpore 2.7.1 shows the Tensors of `arrays`.

python tests/golden/make_reprs.py            # with an interpreter that has MindSpore
"""

import json
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).with_name("reprs.json")
DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool", "complex64", "complex128")
# A scalar, rows around the lengths of a line, axes around the longest that is shown, nothing.
SHAPES = [
    *((), (1,), (2,), (12,), (13,), (24,), (25,), (50,), (1001,), (0,), (0, 3), (3, 0, 2)),
    *((2, 3), (6, 6), (7, 1), (1, 7), (2, 2, 2), (7, 2, 8), (2, 1, 7, 2), (40, 40)),
]
NUMBERS = (np.nan, np.inf, -np.inf, -0.0, 0.1, 1 / 3, 1e6, 123456.0, 1234567.0, 1e-5, 1e20)


def arrays():
    """Return the arrays, always the same ones."""
    numbers = np.random.RandomState(0)
    results = []
    for dtype in DTYPES:
        for shape in SHAPES:
            size = int(np.prod(shape))
            values = numbers.standard_normal(size) * 10 ** numbers.uniform(-3, 3, size)
            if dtype.startswith("complex"):
                values = values + 1j * numbers.standard_normal(size)
            if dtype.startswith(("int", "uint")):
                values = values % (200 if dtype == "uint8" else 100) // 1
            results.append(np.round(values, 3).reshape(shape).astype(dtype))
    for number in NUMBERS:
        for dtype in ("float16", "float32", "float64"):
            with np.errstate(over="ignore"):
                results += [np.array(number, dtype), np.array([number, 1.0], dtype)]
    hidden = np.zeros(2000, np.int64)
    hidden[1000] = 123456  # what is not shown widens nothing
    extremes = [np.array([1e-300, -1e300]), np.array(complex(-0.0, -0.0)), np.array([complex(np.nan, -np.inf)])]
    return [*results, np.arange(-500, 500), hidden, *extremes]


def main():
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    lines = [json.dumps(repr(ms.Tensor(array))) for array in arrays()]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
