"""Write and load StableHLO files. `jax.export` runs them without msnb.

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
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from msnb._util.atomic_file import writing
from msnb.core.compat.jax_compilation import opened_module
from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.messages import describe
from msnb.core.operator.user_primitive import PrimitiveWithInfer
from msnb.core.program.program_cache import program_of
from msnb.core.tensor.pytree import flatten
from msnb.exchange.tracing import evaluating
from msnb.exchange.unsupported_ops import unsupported_error
from msnb.formats.stablehlo_gradient import add_gradient, read_gradient
from msnb.ir.anf import FuncGraph
from msnb.ir.api import name_of, of_program
from msnb.ir.cost import inner_jaxprs
from msnb.ir.read import dtype_name
from msnb.ir.stablehlo import read_stablehlo
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # used in annotations only
    from msnb.core.program.program import Program

PLATFORMS = ("cpu", "cuda", "tpu")
_CALLBACKS = frozenset(("pure_callback", "io_callback"))
_CHECK_TIMEOUT = 120  # Seconds for the check of a file. The import of JAX takes most of the time.
_checked_digests: set[bytes] = set()  # digests of files that have passed the check in this process
_CHECK_SCRIPT = """
import sys
from msnb.exchange.stablehlo import Artefact, opened_module
artefact = Artefact(sys.stdin.buffer.read())
for exported in filter(None, (artefact.exported, artefact.gradient)):
    opened_module(exported.mlir_module_serialized)
"""


def write(net: Cell, inputs: Sequence[Any], file: str, platforms: Sequence[str] = PLATFORMS) -> None:
    """Write a network for inference, with its weights, as a StableHLO artefact.

    Args:
        net (Cell): The network. It is traced in evaluation mode.
        inputs (Sequence[Tensor]): Example inputs. The artefact accepts inputs of the same shapes and element types.
        file (str): Path of the file.
        platforms (Sequence[str]): Platforms that the artefact supports. Default: CPU, CUDA and TPU.

    Raises:
        ValueError: If a call of the network changes Parameters or draws random numbers.
        NotImplementedError: If operators of the network call Python; all of them are named.
        ImportError: If flatbuffers is not installed.
    """
    with evaluating(net):
        program = program_of(net, *inputs)
    _check_no_side_effects(program)
    _check_no_callbacks(program, net)
    leaves = flatten(tuple(inputs))[0]
    flat_args = program.select_inputs(leaves, leaves)
    numbers = {index: x for index, x in enumerate(flat_args) if isinstance(x, float)}
    specs = [spec for index, spec in enumerate(program.example_arguments()[2:]) if index not in numbers]
    # Weights are converted to numpy arrays, which JAX embeds as constants. To embed jax.Arrays, JAX would compile a
    # copy for each shape.
    weights = [*map(np.asarray, program.jaxpr.consts), *(p.asnumpy() for p in program.params)]
    fn = _as_function(program, numbers)
    artefact = _export(_bind_weights(fn, weights, program, numbers), platforms, *specs)
    outs = [out for out in artefact.out_avals if _is_differentiable(out)]
    data = bytes(artefact.serialize())
    if outs and any(map(_is_differentiable, specs)):
        # JAX's own gradient of an artefact (`vjp_order=1`) contains the weights a second time.
        gradient = _export(_gradient_of(fn), platforms, [*map(_spec_of, weights)], specs, [*map(_spec_of, outs)])
        data = add_gradient(data, bytes(gradient.serialize()), weights)
    with writing(file, "wb") as target:
        target.write(data)


def _export(fn, platforms, *specs):
    return jax.export.export(jax.jit(fn), platforms=tuple(platforms))(*specs)


def _spec_of(array):
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _is_differentiable(array):
    return jax.numpy.issubdtype(array.dtype, np.inexact)


def _check_no_side_effects(program):
    """Raise an error if a program writes Parameters or draws random numbers."""
    if program.written:
        names = ", ".join(p.name for p in program.written[:5])
        raise ValueError(f"A call of {program.name} changes Parameters ({names}), which an artefact cannot hold.")
    if program.random:
        raise ValueError(f"A call of {program.name} draws random numbers, which an artefact cannot.")


def _check_no_callbacks(program, net):
    """Raise an error if the network calls Python functions. An artefact runs without Python."""
    if _calls_python(program.jaxpr):
        graph = of_program(program, name_of(net))
        calling = [node for node in graph.all_nodes() if node.op in _CALLBACKS or _calls_python(node.kernel)]
        raise unsupported_error(graph, calling, "STABLEHLO", dict.fromkeys(calling, "it calls a Python function"))


def _calls_python(graph):
    equations = getattr(graph, "eqns", ())
    return any(eqn.primitive.name in _CALLBACKS or any(map(_calls_python, inner_jaxprs(eqn))) for eqn in equations)


def _as_function(program: "Program", numbers: dict[int, float]) -> Callable[..., Any]:
    """Return a program as a function of its weights, a list of constants and Parameters, and its Tensor arguments. The
    arguments in `numbers` become constants.
    """
    jaxpr = remove_debug_callbacks(program.jaxpr.jaxpr)  # an artefact cannot call Python
    constants = len(program.jaxpr.consts)
    count = sum(kind == "arg" for kind, *_ in program.inputs)

    def fn(weights, *arrays):
        remaining = iter(arrays)
        flat_args = [numbers[index] if index in numbers else next(remaining) for index in range(count)]
        outs = iter(eval_jaxpr(jaxpr, weights[:constants], *weights[constants:], *flat_args))
        return tuple(
            [next(outs) if constant is None else jax.numpy.asarray(constant[0]) for constant in program.results.static]
        )

    return fn


def _bind_weights(fn, weights, program, numbers):
    """Return `fn` as a function of its Tensor arguments, with their names."""

    def bound(*arrays):
        return fn(weights, *arrays)

    bound.__name__ = bound.__qualname__ = program.name if program.name.isidentifier() else "main"
    names = [name.replace(".", "_") for kind, name, *_ in program.inputs if kind == "arg"]
    names = [name for index, name in enumerate(names) if index not in numbers]
    if all(map(str.isidentifier, names)) and len(set(names)) == len(names):
        bound.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
    return bound


def _gradient_of(fn):
    """Return the function of the weights, the arguments and the gradients of floating point results that returns the
    gradients of the floating point arguments.
    """

    def gradient(weights, arrays, gradients):
        def differentiable_results(*floats):
            remaining = iter(floats)
            args = [next(remaining) if _is_differentiable(array) else array for array in arrays]
            return [out for out in fn(weights, *args) if _is_differentiable(out)]

        _, pull_back = jax.vjp(differentiable_results, *filter(_is_differentiable, arrays))
        return pull_back(gradients)

    return gradient


# ---------------------------------------------------------------------- reading
def look(file: str) -> FuncGraph:
    """Return the graph of a StableHLO artefact for inspection. Each operation is in the scope of the operator that it
    is part of.

    Raises:
        ValueError: If the file is not a StableHLO artefact.
    """
    return _read_graph(_load_artefact(file).exported, _get_file_stem(file))


class Artefact:
    """A function in a StableHLO file, and its gradient.

    Damaged bytes can crash the process; `_load_artefact` checks them first.

    Args:
        data (bytes): The file.

    Attributes:
        exported (Exported): The function.
        gradient (Exported): Its gradient, which takes the weights as arguments. None if the file has no such program:
            files of `jax.export` contain the gradient in `exported`.
    """

    def __init__(self, data: bytes) -> None:
        self.exported = deserialized(data)
        self.gradient: jax.export.Exported | None = None
        self.call = self.exported.call
        appended = read_gradient(data)
        if appended is not None:
            self.gradient = deserialized(appended[0])
            self.call = _differentiable(self.exported, self.gradient, appended[1])


def _differentiable(exported, gradient, weights):
    """Return the function of `exported` with a gradient rule that calls `gradient`."""

    def pull_back(arrays, gradients):
        gradients = [g for g, out in zip(gradients, exported.out_avals, strict=True) if _is_differentiable(out)]
        results = iter(gradient.call(weights, list(arrays), gradients))
        return tuple([next(results) if _is_differentiable(array) else None for array in arrays])

    call = jax.custom_vjp(exported.call)
    call.defvjp(lambda *arrays: (exported.call(*arrays), arrays), pull_back)
    return call


class StableHLOCell(Cell):
    """A Cell without Parameters that computes the function in a StableHLO file. `load_stablehlo` returns it.

    Attributes:
        graph (FuncGraph): The operations of the file.
    """

    def __init__(self, artefact: Artefact, name: str) -> None:
        super().__init__(auto_prefix=False)
        self.graph = _read_graph(artefact.exported, name)
        self._artefact = _ArtefactCall(artefact, name)

    @property
    def argument_names(self) -> list[str]:
        """Names of the inputs."""
        return [node.name for node in self.graph.parameters[-len(self._artefact.artefact.exported.in_avals) :]]

    def construct(self, *inputs: Any) -> Any:
        return self._artefact(*inputs)


class _ArtefactCall(PrimitiveWithInfer):
    """A JAX primitive that calls a StableHLO artefact."""

    def __init__(self, artefact, name):
        super().__init__(name)
        self.add_prim_attr("artefact", hashlib.sha256(artefact.exported.mlir_module_serialized).hexdigest()[:16])
        self.artefact = artefact

    def check_inputs(self, arrays):
        specs = self.artefact.exported.in_avals
        if len(arrays) != len(specs):
            raise TypeError(f"For '{self.name}', {len(specs)} inputs are taken, but got {len(arrays)}.")
        for index, (array, aval) in enumerate(zip(arrays, specs, strict=True)):
            if array.shape != aval.shape or array.dtype != aval.dtype:
                raise ValueError(
                    f"For '{self.name}', input {index} should be {dtype_name(aval.dtype)} of shape {aval.shape}, but "
                    f"got {dtype_name(array.dtype)} of shape {array.shape}; an artefact takes what it was exported for."
                )
        return None, None

    def kernel(self, *arrays):
        out = self.artefact.call(*arrays)
        return out[0] if isinstance(out, (tuple, list)) and len(out) == 1 else out


def load_stablehlo(file: str) -> StableHLOCell:
    """Load a network from a StableHLO artefact, which `export` and `jax.export` write.

    The Cell runs the artefact as one operation. The weights are constants of the artefact. Gradients with respect to
    the inputs are available if the file contains them, as the files of `export` do.

    Args:
        file (str): Path of the file.

    Returns:
        Cell. Its inputs must have the shapes and element types that the artefact was exported for.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is not an artefact, or if it was not exported for this platform.
        ImportError: If flatbuffers is not installed.
    """
    artefact = _load_artefact(file)
    exported = artefact.exported
    if _platform_index(exported) is None:
        raise ValueError(
            f"'{file}' was exported for {', '.join(exported.platforms)}, and this is {jax.default_backend()}; export "
            "it anew with this platform among 'platforms'."
        )
    return StableHLOCell(artefact, _get_file_stem(file))


def _platform_index(exported):
    """Return the index of the current platform among those of an artefact, or None."""
    names = [platform.replace("cuda", "gpu").replace("rocm", "gpu") for platform in exported.platforms]
    return names.index(jax.default_backend()) if jax.default_backend() in names else None


def _read_graph(exported, name):
    """Return the graph of an artefact for the current platform, or for the artefact's first platform if it does not
    support the current one.
    """
    return read_stablehlo(opened_module(exported.mlir_module_serialized), name, _platform_index(exported) or 0)


def _get_file_stem(file):
    return os.path.splitext(os.path.basename(file))[0]


def _load_artefact(file):
    """Return the artefact in a file."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(f"For 'load_stablehlo', 'file' should be a path, but got {describe(file)}.")
    with open(file, "rb") as source:
        data = source.read()
    digest = hashlib.blake2b(data).digest()
    # The parser is written in C++ and trusts its input: a damaged file can crash the process.
    # So a subprocess parses the file first.
    if digest not in _checked_digests:
        _check_artefact_in_subprocess(file, data)
        _checked_digests.add(digest)
    return Artefact(data)


def _check_artefact_in_subprocess(file, data):
    """Raise an error if a subprocess cannot read the artefact."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        result = subprocess.run(
            [sys.executable, "-c", _CHECK_SCRIPT],
            input=data,
            env=environment,
            capture_output=True,
            timeout=_CHECK_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"'{file}' is no StableHLO artefact: reading it does not end.") from None
    if result.returncode:
        stderr_lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        if stderr_lines and stderr_lines[-1].startswith("ImportError"):
            raise ImportError(stderr_lines[-1].partition(": ")[2])
        raise ValueError(f"'{file}' is no StableHLO artefact, or a damaged one: jax.export cannot read it.")


def deserialized(data: bytes) -> "jax.export.Exported":
    """Deserialize an artefact of `jax.export`. Damaged bytes can crash the process; `_load_artefact` checks them
    first.
    """
    return jax.export.deserialize(bytearray(data))
