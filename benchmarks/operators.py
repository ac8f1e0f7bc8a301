"""One warm PYNATIVE call of each of the operators that networks use most, beside `jax.jit` of the same function.

    python benchmarks/operators.py

The forty are those that the models of MindSpore's model collection call most often and that compute something. The jit
is that of the operator's own function of arrays, its static inputs and attributes fixed.
"""

import statistics
import sys

import jax
import numpy as np
from dispatch import interleaved

import msnb
from msnb import Tensor, context, ops
from msnb.common import dtype as mstype


def _floats(*shape):
    return Tensor(np.random.default_rng(0).uniform(0.5, 2, shape).astype(np.float32))


X, Y = _floats(4, 8), _floats(4, 8)
FLAGS = Tensor(np.eye(4, 8, dtype=bool))
WHERE = Tensor(np.array([2, 0, 1], np.int32))
PLACES = Tensor(np.array([[0, 1], [3, 7]], np.int32))

# Name of the operator: (what its class is given, what a call is given).
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
    "Squeeze": ((0,), (_floats(1, 8),)),
    "OneHot": ((), (WHERE, 4, Tensor(1.0), Tensor(0.0))),
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
    "GatherNd": ((), (X, PLACES)),
    "BatchMatMul": ((), (_floats(2, 4, 8), _floats(2, 8, 4))),
    "Equal": ((), (X, Y)),
    "Stack": ((0,), ((X, Y),)),
    "Sqrt": ((), (X,)),
    "Gather": ((), (X, WHERE, 0)),
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


def pair(name):
    """The warm call of an operator, and that of the jit of its function."""
    settings, inputs = CALLS[name]
    operator = getattr(ops, name)(*settings)
    leaves, tree = jax.tree.flatten(inputs, is_leaf=lambda x: isinstance(x, Tensor))
    spots = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    arrays = [leaves[i]._array for i in spots]

    def computed(*arrays):
        full = list(leaves)
        for spot, array in zip(spots, arrays, strict=True):
            full[spot] = array
        return operator.kernel(*jax.tree.unflatten(tree, full), **operator._attributes)

    compiled = jax.jit(computed)

    def boxed():
        out = operator(*inputs)
        return [o._array for o in out] if type(out) is tuple else out._array

    return {"msnb": boxed, "jax.jit": lambda: compiled(*arrays)}


def made(name, side):
    """What `compare.py` times: the operator `name` in PYNATIVE mode, or its jit."""
    context.set_context(mode=context.PYNATIVE_MODE)
    return pair(name)[side]


_SHOWN = ("Add", "Concat", "ReduceSum", "ReLU", "Split")
TIMED = {f"ops.{name}": lambda name=name: made(name, "msnb") for name in _SHOWN}
TIMED["Add, JAX (control)"] = lambda: made("Add", "jax.jit")


def main():
    """Print a table."""
    context.set_context(mode=context.PYNATIVE_MODE)
    print(f"msnb {msnb.__version__}, jax {jax.__version__}, {jax.devices()[0].platform}")
    times = []
    for name in CALLS:
        found = interleaved(pair(name), rounds=150, repeat=25)
        own, base = found["msnb"], found["jax.jit"]
        times.append((own, own / base))
        print(f"{name:18} {own * 1e6:6.2f} us   {own / base:5.2f}x   {(own - base) * 1e6:+6.2f} us", flush=True)
    own, ratio = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{'median':18} {own * 1e6:6.2f} us   {ratio:5.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
