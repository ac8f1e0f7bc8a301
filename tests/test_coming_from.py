"""The pages for users of other libraries: msnb's column gives the numbers that the other library gave."""

import json
from pathlib import Path

import numpy as np
import pytest
from make_coming_from import evaluate, make_arrays, read_blocks, read_rows, run_block

import msnb
import msnb.mindspore2
from msnb import alias

GOLDEN = {
    name: json.loads((Path(__file__).parent / "golden" / f"from_{name}.json").read_text())
    for name in ("torch", "keras")
}
ROWS = [(name, left, right) for name in GOLDEN for left, right in read_rows(name)]


def make_names(ms):
    """Return the names that a column may use, of `msnb` or of `msnb.mindspore2`, and the function `fill`."""

    def fill(layer):
        for weight in layer.trainable_params() if isinstance(layer, ms.nn.Cell) else ():
            weight.set_data(ms.Tensor(np.arange(weight.size, dtype=np.float32).reshape(weight.shape) / 100))
        return layer

    arrays = {name: ms.Tensor(array) for name, array in make_arrays().items()}
    own = {"ms": ms, "nn": ms.nn, "ops": ms.ops, "mint": ms.mint, "P": ms.ops.operations, "C": ms.ops.composite}
    return {**own, **arrays, "fill": fill}


def run_column(ms, api, compute, code):
    """Return `compute(code, names)` for a column of this generation."""
    alias.install(api=api)
    try:
        return compute(code, make_names(ms))
    finally:
        alias.uninstall()


def run_row(ms, api, code):
    return run_column(ms, api, lambda code, names: evaluate(code, names, names["fill"]), code)


@pytest.mark.parametrize("library, left, right", ROWS, ids=[f"{name}: {left[:60]}" for name, left, _ in ROWS])
def test_both_columns_give_the_same_numbers(library, left, right):
    dtype, expected = GOLDEN[library][left]
    value = run_row(msnb.mindspore2, 2, right)
    assert value.shape == np.shape(expected) and value.dtype.kind == np.dtype(dtype).kind
    np.testing.assert_allclose(value.astype(float), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "left, right", read_rows("mindspore_1"), ids=[left[:60] for left, _ in read_rows("mindspore_1")]
)
def test_both_generations_give_the_same_numbers(left, right):
    first, second = run_row(msnb, 1, left), run_row(msnb.mindspore2, 2, right)
    assert first.dtype == second.dtype
    np.testing.assert_allclose(first, second, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("library", [*GOLDEN, "mindspore_1"])
def test_both_training_loops_have_the_same_losses(library):
    theirs, ours = read_blocks(library)
    expected = GOLDEN[library]["losses"] if library in GOLDEN else run_column(msnb, 1, run_block, theirs)
    np.testing.assert_allclose(run_column(msnb.mindspore2, 2, run_block, ours), expected, rtol=2e-5)


def test_the_page_for_pytorch_has_sixty_pairs():
    assert len(read_rows("torch")) >= 60
