"""Half precision is computed wide: every golden case, in float16 of scale 300, gives what float32 gives, rounded.

The largest number of float16 is 65504, so that 256 squared, or the sum of a row, is infinite in it. Where the true
result fits, the operator's must be it; so must be the gradient for every input.
"""

import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from operator_rows import ROWS, boxed
from sweeps import split

import msnb as ms
from msnb import Parameter, Tensor
from msnb.core.operator.cases import Written
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import box

SCALE = 300
LARGEST = 60000  # of what is asked to fit in float16, whose largest number is 65504
TOGETHER = 8  # cases that are one program


def _golden(name):
    path = pathlib.Path(__file__).parents[1] / "golden" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LAYERS = _golden("make_layers")


class Subject:
    """One golden case: what is called, on what, and which Parameters it has."""

    def __init__(self, call, inputs, params=(), scaled=True):
        self.call, self.inputs, self.params, self.scaled = call, inputs, list(params), scaled


def operator_case(row):
    inputs = row.inputs()
    boxes = [boxed(value) if isinstance(value, Written) else value for value in inputs]
    return Subject(row.call(), boxes, [box for box in boxes if isinstance(box, Parameter)])


def layer_case(name):
    expression, text, *kind = LAYERS.CASES[name]
    weights = np.linspace(0.5, 1.5, 12).astype(np.float32).reshape(3, 4)
    net = eval(expression, {"nn": ms.nn, "Tensor": Tensor, "W": weights})
    for path, parameter in net.parameters_and_names():
        parameter.set_data(Tensor(LAYERS.value_of(path, parameter.shape)))
    net.set_train("train" in kind)
    return Subject(net, list(LAYERS.inputs_of(name, text)), net.get_parameters(), scaled=False)


def prepared(subject, dtype, first_only=False):
    """Return (function, arrays, arrays of Parameters): the function gives (results, gradients) for these.

    The float inputs are `dtype` and hold numbers that float16 has, too.
    """

    def cast(array, scale=1):
        array = np.asarray(array)
        with np.errstate(over="ignore"):  # what does not fit is infinite, as it is in JAX
            return (array * scale).astype(np.float16).astype(dtype) if array.dtype.kind == "f" else array

    leaves, rebuild = flatten(list(subject.inputs))
    leaves = [Tensor(v) if isinstance(v, np.ndarray) and v.dtype.kind != "f" else v for v in leaves]
    variables = [i for i, v in enumerate(leaves) if isinstance(v, np.ndarray)]
    arrays = [cast(leaves[i], 1 if first_only and n else SCALE) for n, i in enumerate(variables)]
    param_arrays = [cast(p._array, SCALE if subject.scaled and not first_only else 1) for p in subject.params]

    def pure(arrays, param_arrays):
        filled = list(leaves)
        for i, array in zip(variables, arrays, strict=True):
            filled[i] = box(array)
        with trace_state.TraceFrame(subject.params, param_arrays) as frame:
            out = subject.call(*rebuild(filled))
            results = [leaf._array for leaf in flatten(out)[0] if isinstance(leaf, Tensor)]
            results += [array for _, array in frame.writes()]
        return [r for r in results if jnp.issubdtype(r.dtype, jnp.floating)]

    def both(arrays, param_arrays):
        results, pull = jax.vjp(pure, arrays, param_arrays)
        weights = [np.cos(np.arange(r.size)).reshape(r.shape).astype(np.float16).astype(r.dtype) for r in results]
        return results, jax.tree.leaves(pull(weights))

    return both, arrays, param_arrays


def run(calls):
    """Return [(results, gradients)] of what `prepared` gave, all from one program: to compile many small ones takes
    longer."""

    def all_of(inputs):
        return [both(*arrays) for (both, *_), arrays in zip(calls, inputs, strict=True)]

    # By default XLA may keep more digits between two operations than the type has, which hides what is looked for.
    strict = {"xla_allow_excess_precision": False, "xla_backend_optimization_level": 0}
    result = jax.jit(all_of, compiler_options=strict)([arrays for _, *arrays in calls])
    return jax.tree.map(lambda a: np.asarray(a, np.float64), result)


def difference(got, want):
    """Return the difference of `got`, float16, from `want` where it fits in float16; None if they agree."""
    fits = np.isfinite(want) & (np.abs(want) < LARGEST)
    if not fits.any():
        return None
    if not np.isfinite(got[fits]).all():
        return f"not finite: {got[fits][~np.isfinite(got[fits])][0]} for {want[fits][~np.isfinite(got[fits])][0]}"
    worst = np.max(np.abs(got[fits] - want[fits]) - 1e-2 * np.abs(want[fits]))
    largest = np.abs(want[fits]).max()
    if worst > 5e-3 * largest + 1e-5:
        at = np.argmax(np.abs(got[fits] - want[fits]) - 1e-2 * np.abs(want[fits]))
        return f"{got[fits][at]} for {want[fits][at]}"
    return None


def has_floats(inputs):
    return any(isinstance(v, np.ndarray) and v.dtype.kind == "f" for v in flatten(list(inputs))[0])


def is_run(row):
    """Check that a row has float32 inputs, and that its operator can be compiled with them."""
    leaves = flatten([getattr(v, "value", v) for v in row.inputs()])[0]
    single = any(isinstance(v, np.ndarray) and v.dtype == np.float32 for v in leaves)
    return single and not {"half", "graph"} & row.case.left_out.keys()


CASES = {f"{row.file}/{row.key}": (operator_case, row) for row in ROWS if is_run(row)}
CASES |= {f"layer/{n}": (layer_case, n) for n in LAYERS.CASES if has_floats(LAYERS.inputs_of(n, LAYERS.CASES[n][1]))}
# Layers defined for float32 alone, or beside Parameters in float32, which say so.
FLOAT32 = {"layer/multi_field_sum", "layer/multi_field_mean", "layer/multi_field_max", "layer/softmax_ce_sparse"}


def kind_of(key):
    """Return the file of an operator: what stands in one file adds up in one way."""
    return CASES[key][1].file


def groups():
    """Keys of CASES that are compiled together: the first of each kind, and the others, which are slow, and so are
    layers, which are made of operators."""
    keys = [key for key in CASES if key not in FLOAT32]
    first, further = split([key for key in keys if not key.startswith("layer/")], kind_of)
    further += [key for key in keys if key.startswith("layer/")]
    for keys, marks in ((first, ()), (further, pytest.mark.slow)):
        for i in range(0, len(keys), TOGETHER):
            yield pytest.param(keys[i : i + TOGETHER], id=keys[i], marks=marks)


@pytest.mark.parametrize("keys", list(groups()))
def test_what_fits_in_float16_is_finite_and_right(keys):
    subjects = {key: make(case) for key, (make, case) in ((key, CASES[key]) for key in keys)}
    result = halves_and_wholes(subjects)
    large = {key: subject for key, subject in subjects.items() if mostly_too_large(result[key][1][0])}
    result |= halves_and_wholes(large, first_only=True) if large else {}  # products of two large inputs fit nowhere
    wrong = []
    for key, (got, want) in result.items():
        for kind, halves, wholes in zip(("result", "gradient"), got, want, strict=True):
            differences = [difference(half, whole) for half, whole in zip(halves, wholes, strict=True)]
            wrong += [f"{key}, {kind} {i}: {said}" for i, said in enumerate(differences) if said]
    assert not wrong, "\n".join(wrong)


def halves_and_wholes(subjects, first_only=False):
    """Return {key: (float16's, float32's)}, each a pair of results and gradients."""
    halves = [prepared(subject, jnp.float16, first_only) for subject in subjects.values()]
    wholes = [prepared(subject, jnp.float32, first_only) for subject in subjects.values()]
    result = run(halves + wholes)
    return dict(zip(subjects, zip(result[: len(halves)], result[len(halves) :], strict=True), strict=True))


def mostly_too_large(results):
    sizes = np.concatenate([np.abs(r).ravel() for r in results] or [np.zeros(1)])
    return np.count_nonzero(sizes < LARGEST) < sizes.size / 2


def test_the_result_of_a_layer_keeps_its_element_type():
    x = Tensor(np.full((2, 4, 3, 3), 300.0, np.float16))
    assert ms.nn.GroupNorm(2, 4)(x).dtype == ms.float32  # its Parameters are in float32
    assert ms.nn.Norm()(x).dtype == ms.nn.MSELoss()(x, x).dtype == ms.nn.RMSELoss()(x, x).dtype == ms.float16
    assert ms.nn.ClipByNorm()(x, Tensor(1.0)).dtype == ms.float32


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_the_cases_that_were_wrong_are_right_in_both_halves(dtype):
    x = Tensor(np.random.default_rng(1).normal(size=(2, 4, 6, 6)).astype(np.float32) * 300).astype(dtype)
    wide = x.astype(ms.float32)
    layers = [ms.nn.GroupNorm(2, 4), ms.nn.Norm(), ms.ops.std]
    if dtype == ms.float16:  # ClipByNorm refuses bfloat16
        layers.append(lambda x: ms.nn.ClipByNorm()(x, Tensor(1.0)))
    for layer in layers:
        got, want = layer(x).astype(ms.float32).asnumpy(), layer(wide).asnumpy()
        np.testing.assert_allclose(got, want, rtol=1e-2, atol=1e-2 * np.abs(want).max())
