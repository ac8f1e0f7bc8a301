"""Measure a warm PYNATIVE call of the operators that networks use most, beside `jax.jit` of the same function.

    python benchmarks/operators.py

MindSpore's model collection calls these forty operators most often, apart from those that compute nothing. The jit
compiles the operator's own function of arrays, with its static inputs and attributes.
"""

import statistics
import sys

import jax
import numpy as np
from dispatch import measure_in_turns

import msnb
from msnb import Tensor, context, ops
from msnb.common import dtype as mstype


def _make_floats(*shape):
    return Tensor(np.random.default_rng(0).uniform(0.5, 2, shape).astype(np.float32))


X, Y = _make_floats(4, 8), _make_floats(4, 8)
FLAGS = Tensor(np.eye(4, 8, dtype=bool))
INDICES = Tensor(np.array([2, 0, 1], np.int32))
POSITIONS = Tensor(np.array([[0, 1], [3, 7]], np.int32))

# Name of the operator: (arguments of its class, arguments of a call).
CALLS = {
    "Add": ((), (X, Y)),
    "Concat": ((1,), ((X, Y),)),
    "Reshape": ((), (X, (8, 4))),
    "Cast": ((), (X, mstype.float16)),
    "Mul": ((), (X, Y)),
    "Split": ((1, 2), (X,)),
    "ReduceSum": ((), (X, 1)),
    "Transpose": ((), (X, (1, 0))),
    "ExpandDims": ((), (X, 0)),
    "ReduceMean": ((True,), (X, (0, 1))),
    "Squeeze": ((0,), (_make_floats(1, 8),)),
    "OneHot": ((), (INDICES, 4, Tensor(1.0), Tensor(0.0))),
    "ReLU": ((), (X,)),
    "Tile": ((), (X, (2, 1))),
    "MatMul": ((False, True), (X, Y)),
    "Select": ((), (FLAGS, X, Y)),
    "Sigmoid": ((), (X,)),
    "Fill": ((), (mstype.float32, (4, 8), Tensor(1.0))),
    "Greater": ((), (X, Y)),
    "Zeros": ((), ((4, 8), mstype.float32)),
    "Slice": ((), (X, (0, 2), (4, 4))),
    "ArgMaxWithValue": ((1,), (X,)),
    "GatherNd": ((), (X, POSITIONS)),
    "BatchMatMul": ((), (_make_floats(2, 4, 8), _make_floats(2, 8, 4))),
    "Equal": ((), (X, Y)),
    "Stack": ((0,), ((X, Y),)),
    "Sqrt": ((), (X,)),
    "Gather": ((), (X, INDICES, 0)),
    "ZerosLike": ((), (X,)),
    "Softmax": ((), (X,)),
    "Pad": ((((1, 1), (0, 0)),), (X,)),
    "Sub": ((), (X, Y)),
    "Minimum": ((), (X, Y)),
    "LogicalAnd": ((), (FLAGS, FLAGS)),
    "Exp": ((), (X,)),
    "Maximum": ((), (X, Y)),
    "Log": ((), (X,)),
    "RealDiv": ((), (X, Y)),
    "BroadcastTo": (((2, 4, 8),), (X,)),
    "Pow": ((), (X, 2.0)),
}


def make_pair(name):
    """Return the call of an operator, and that of the jit of its function."""
    settings, inputs = CALLS[name]
    operator = getattr(ops, name)(*settings)
    leaves, tree = jax.tree.flatten(inputs, is_leaf=lambda x: isinstance(x, Tensor))
    indices = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    arrays = [leaves[i]._array for i in indices]

    def run_kernel(*arrays):
        full = list(leaves)
        for index, array in zip(indices, arrays, strict=True):
            full[index] = array
        return operator.kernel(*jax.tree.unflatten(tree, full), **operator._attributes)

    compiled = jax.jit(run_kernel)

    def run_operator():
        out = operator(*inputs)
        return [o._array for o in out] if type(out) is tuple else out._array

    return {"msnb": run_operator, "jax.jit": lambda: compiled(*arrays)}


def make_call(name, side):
    """Return the call of the operator `name` in PYNATIVE mode, or of its jit, for `compare.py`."""
    context.set_context(mode=context.PYNATIVE_MODE)
    return make_pair(name)[side]


_COMPARED = ("Add", "Concat", "ReduceSum", "ReLU", "Split")
TIMED = {f"ops.{name}": lambda name=name: make_call(name, "msnb") for name in _COMPARED}
TIMED["Add, JAX (control)"] = lambda: make_call("Add", "jax.jit")


def main():
    """Print a table."""
    context.set_context(mode=context.PYNATIVE_MODE)
    print(f"msnb {msnb.__version__}, jax {jax.__version__}, {jax.devices()[0].platform}")
    times = []
    for name in CALLS:
        seconds = measure_in_turns(make_pair(name), rounds=150, repeat=25)
        own, base = seconds["msnb"], seconds["jax.jit"]
        times.append((own, own / base))
        print(f"{name:18} {own * 1e6:6.2f} us   {own / base:5.2f}x   {(own - base) * 1e6:+6.2f} us", flush=True)
    own, ratio = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{'median':18} {own * 1e6:6.2f} us   {ratio:5.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
