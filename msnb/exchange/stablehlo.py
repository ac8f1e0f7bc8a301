"""StableHLO files: a network that runs with `jax.export` alone, wherever JAX does, and is opened here without running.

export(net, x, file_name="net", file_format="STABLEHLO")
jax.export.deserialize(bytearray(open("net.stablehlo", "rb").read())).call(x)     # anywhere, without msnb
msnb.load_stablehlo("net.stablehlo")(x)                                           # a Cell
msnb.view("net.stablehlo")                                                        # operator by operator
"""

import hashlib
import inspect
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax

from msnb._atomic import writing
from msnb.core._jax_compiling import opened_module
from msnb.core._jax_private import eval_jaxpr, without_prints
from msnb.core.compile import program_of
from msnb.core.errors import describe
from msnb.core.tree import flatten
from msnb.core.user_primitive import PrimitiveWithInfer
from msnb.exchange.missing import refusal
from msnb.exchange.tracing import evaluating
from msnb.ir.anf import FuncGraph
from msnb.ir.api import name_of, of_program
from msnb.ir.cost import inner_jaxprs
from msnb.ir.read import dtype_name
from msnb.ir.stablehlo import read_stablehlo
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program import Program

PLATFORMS = ("cpu", "cuda", "tpu")
_CALLS = frozenset(("pure_callback", "io_callback"))
_SECONDS = 120  # for a look at a file, most of which is importing JAX
_sound: set[bytes] = set()  # digests of what this process need not have looked at again
_LOOK = """
import sys
from msnb.exchange.stablehlo import deserialized, opened_module
opened_module(deserialized(sys.stdin.buffer.read()).mlir_module_serialized)
"""


def write(net: Cell, inputs: Sequence[Any], file: str, platforms: Sequence[str] = PLATFORMS) -> None:
    """Write a network for inference, with its weights, as a StableHLO artefact.

    Args:
        net (Cell): The network; it is traced in evaluation.
        inputs (Sequence[Tensor]): Its inputs; shapes and element types are those of the artefact.
        file (str): Where to.
        platforms (Sequence[str]): What it can run on. Default: CPU, CUDA and TPU in one file.

    Raises:
        ValueError: If a call of the network changes Parameters or draws random numbers.
        NotImplementedError: If operators of the network call Python; all of them are named.
        ImportError: If flatbuffers is not installed.
    """
    with evaluating(net):
        program = program_of(net, *inputs)
    _check_pure(program)
    _check_python(program, net)
    leaves = flatten(tuple(inputs))[0]
    given = program.taken(leaves, leaves)
    numbers = {place: x for place, x in enumerate(given) if isinstance(x, float)}
    taken = [kind for place, kind in enumerate(program.example_arguments()[2:]) if place not in numbers]
    made = jax.export.export(jax.jit(_function(program, numbers)), platforms=tuple(platforms))(*taken)
    data = made.serialize(vjp_order=1)
    with writing(file, "wb") as target:
        target.write(data)


def _check_pure(program):
    """Inference neither writes nor draws."""
    if program.written:
        names = ", ".join(p.name for p in program.written[:5])
        raise ValueError(f"A call of {program.name} changes Parameters ({names}), which an artefact cannot hold.")
    if program.random:
        raise ValueError(f"A call of {program.name} draws random numbers, which an artefact cannot.")


def _check_python(program, net):
    """An artefact runs without Python."""
    if _calls_python(program.jaxpr):
        graph = of_program(program, name_of(net))
        calling = [node for node in graph.all_nodes() if node.op in _CALLS or _calls_python(node.kernel)]
        raise refusal(graph, calling, "STABLEHLO", dict.fromkeys(calling, "it calls a Python function"))


def _calls_python(graph):
    equations = getattr(graph, "eqns", ())
    return any(eqn.primitive.name in _CALLS or any(map(_calls_python, inner_jaxprs(eqn))) for eqn in equations)


def _function(program: "Program", numbers: dict[int, float]) -> Any:
    """The results of a program as a function of its arguments, with the Parameters, and the arguments that are the
    numbers at these places, as constants."""
    # arrays of numpy, of which JAX makes constants: an array of its own would be copied by a program for each shape
    weights = [p.asnumpy() for p in program.params]
    names = [name.replace(".", "_") for kind, name, *_ in program.inputs if kind == "arg"]
    count = len(names)
    names = [name for place, name in enumerate(names) if place not in numbers]
    quiet = without_prints(program.jaxpr.jaxpr)  # an artefact calls no Python

    def fn(*arrays):
        left = iter(arrays)
        given = [numbers[place] if place in numbers else next(left) for place in range(count)]
        outs = iter(eval_jaxpr(quiet, program.jaxpr.consts, *weights, *given))
        return tuple([next(outs) if known is None else jax.numpy.asarray(known[0]) for known in program.static])

    fn.__name__ = fn.__qualname__ = program.name if program.name.isidentifier() else "main"
    if all(map(str.isidentifier, names)) and len(set(names)) == len(names):
        fn.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
    return fn


# ---------------------------------------------------------------------- reading
def look(file: str) -> FuncGraph:
    """The graph of a StableHLO artefact: its operations, each in the scope of the operator that it is part of.

    Raises:
        ValueError: If the file is no such artefact.
    """
    return _graph(_opened(file), _title(file))


class StableHLOCell(Cell):
    """What `load_stablehlo` makes: a Cell without Parameters, whose computation is that of a file.

    Attributes:
        graph (FuncGraph): The operations of the file.
    """

    def __init__(self, exported: "jax.export.Exported", name: str) -> None:
        super().__init__(auto_prefix=False)
        self.graph = _graph(exported, name)
        self._run_it = _Run(exported, name)

    @property
    def argument_names(self) -> list[str]:
        """Names of the inputs."""
        return [node.name for node in self.graph.parameters[-len(self._run_it.exported.in_avals) :]]

    def construct(self, *inputs: Any) -> Any:
        return self._run_it(*inputs)


class _Run(PrimitiveWithInfer):
    """The call of an artefact."""

    def __init__(self, exported, name):
        super().__init__(name)
        self.add_prim_attr("artefact", hashlib.sha256(exported.mlir_module_serialized).hexdigest()[:16])
        self.exported = exported

    def check_inputs(self, arrays):
        wanted = self.exported.in_avals
        if len(arrays) != len(wanted):
            raise TypeError(f"For '{self.name}', {len(wanted)} inputs are taken, but got {len(arrays)}.")
        for place, (array, aval) in enumerate(zip(arrays, wanted, strict=True)):
            if array.shape != aval.shape or array.dtype != aval.dtype:
                raise ValueError(
                    f"For '{self.name}', input {place} should be {dtype_name(aval.dtype)} of shape {aval.shape}, but "
                    f"got {dtype_name(array.dtype)} of shape {array.shape}; an artefact takes what it was exported for."
                )
        return None, None

    def kernel(self, *arrays):
        out = self.exported.call(*arrays)
        return out[0] if isinstance(out, (tuple, list)) and len(out) == 1 else out


def load_stablehlo(file: str) -> StableHLOCell:
    """A network from a StableHLO artefact, which `export` and `jax.export` write.

    It runs as one operation, with the gradient with respect to its inputs where the artefact holds one; its weights are
    part of the computation.

    Args:
        file (str): Path of the file.

    Returns:
        Cell, called with the inputs that the artefact was exported for.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is no artefact, or one that does not run on this platform.
        ImportError: If flatbuffers is not installed.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    exported = _opened(file)
    if _platform(exported) is None:
        raise ValueError(
            f"'{file}' was exported for {', '.join(exported.platforms)}, and this is {jax.default_backend()}; export "
            "it anew with this platform among 'platforms'."
        )
    return StableHLOCell(exported, _title(file))


def _platform(exported):
    """Which of an artefact's platforms this is; None where it is none of them."""
    names = [platform.replace("cuda", "gpu").replace("rocm", "gpu") for platform in exported.platforms]
    return names.index(jax.default_backend()) if jax.default_backend() in names else None


def _graph(exported, name):
    """The operations, as they are on this platform, or on the first that there is."""
    return read_stablehlo(opened_module(exported.mlir_module_serialized), name, _platform(exported) or 0)


def _title(file):
    return os.path.splitext(os.path.basename(file))[0]


def _opened(file):
    """The artefact in a file. Another process looks at it first: what reads it is written in C++ and trusts it."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(f"For 'load_stablehlo', 'file' should be a path, but got {describe(file)}.")
    with open(file, "rb") as source:
        data = source.read()
    digest = hashlib.blake2b(data).digest()
    if digest not in _sound:
        _look_at(file, data)
        _sound.add(digest)
    return deserialized(data)


def _look_at(file, data):
    """Raise where another process cannot read what a file holds."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        looked = subprocess.run(
            [sys.executable, "-c", _LOOK], input=data, env=environment, capture_output=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"'{file}' is no StableHLO artefact: reading it does not end.") from None
    if looked.returncode:
        told = looked.stderr.decode("utf-8", "replace").strip().splitlines()
        if told and told[-1].startswith("ImportError"):
            raise ImportError(told[-1].partition(": ")[2])
        raise ValueError(f"'{file}' is no StableHLO artefact, or a damaged one: jax.export cannot read it.")


def deserialized(data: bytes) -> "jax.export.Exported":
    """What `jax.export` has written; only of bytes that are known to be sound."""
    return jax.export.deserialize(bytearray(data))
