"""Runs the cases of ops_cases.py with real MindSpore and stores what it answers in ops.npz.

    ORACLE/bin/python tests/golden/make_ops.py

ORACLE is a virtual environment with mindspore for the CPU. A case that this MindSpore does not support leaves no
answer. Gradients are taken with respect to every floating point Tensor input, for the cotangent `cotangent(shape)`.
"""

import pathlib
import sys

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, context, ops

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ops_cases import CASES, Written  # noqa: E402

context.set_context(mode=context.PYNATIVE_MODE, pynative_synchronize=True)


def boxed(value):
    """An input of a case as MindSpore takes it."""
    if isinstance(value, Written):
        return Parameter(Tensor(value.array), name="written")
    if isinstance(value, (np.ndarray, np.generic)):
        return Tensor(np.asarray(value))
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        return tuple(map(Tensor, value))
    if isinstance(value, str) and hasattr(ms, value):
        return getattr(ms, value)
    return value


def cotangent(shape):
    """A fixed cotangent of a given shape."""
    return (np.arange(int(np.prod(shape))).reshape(shape) % 5 * 0.5 - 0.75).astype(np.float32)


def answer(case):
    """Outputs and gradients of one case, as a dict of arrays."""
    primitive = getattr(ops.operations, case.op)(**case.attributes)
    inputs = [boxed(v) for v in case.inputs]
    out = primitive(*inputs)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    found = {f"out{i}": o.asnumpy() for i, o in enumerate(outs)}
    if case.grad:
        places = [i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray) and v.dtype.kind == "f"]
        nested = not places

        def run(*variables):
            args = list(inputs)
            if nested:
                args[0] = tuple(variables)
            else:
                for place, variable in zip(places, variables):
                    args[place] = variable
            result = primitive(*args)
            results = result if isinstance(result, (tuple, list)) else (result,)
            total = 0
            for r in results:
                if r.dtype in (ms.float16, ms.float32, ms.float64):
                    total = total + (ops.cast(r, ms.float32) * Tensor(cotangent(r.shape))).sum()
            return total

        variables = inputs[0] if nested else [inputs[i] for i in places]
        grads = ops.GradOperation(get_all=True)(run)(*variables)
        found.update({f"grad{i}": g.asnumpy() for i, g in enumerate(grads)})
    return found


def main():
    """Answer every case and write the file."""
    answers, refused = {}, []
    for case in CASES:
        try:
            found = answer(case)
        except Exception as problem:
            try:
                found = answer(type(case)(case.key, case.op, case.attributes, case.inputs, False))
                refused.append(f"{case.key} gradient: {type(problem).__name__}")
            except Exception:
                refused.append(f"{case.key}: {type(problem).__name__}")
                continue
        answers.update({f"{case.key}/{name}": array for name, array in found.items()})
    target = pathlib.Path(__file__).with_name("ops.npz")
    np.savez_compressed(target, **answers)
    print(f"{len(answers)} arrays for {len(CASES) - len(refused)} of {len(CASES)} cases in {target}")
    print("\n".join(refused))


if __name__ == "__main__":
    main()
