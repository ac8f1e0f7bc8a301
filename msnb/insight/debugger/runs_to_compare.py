"""The two runs of a comparison by value: their graphs, equations, inputs and Parameters."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from msnb import context
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.open_file import cell_in, holds_weights
from msnb.exchange.tracing import evaluating
from msnb.insight.debugger.equations import Equations, flatten_program, record_eager_run
from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.insight.debugger.timeline import Timeline
from msnb.insight.debugger.variants import Variant, check_network
from msnb.ir.api import name_of, of_program
from msnb.nn.cell import Cell


class ComparedRun:
    """One of the two runs of a comparison.

    Attributes:
        name (str): name of the run in messages.
        equations (Equations): its equations.
        inputs (list): its inputs.
        input_names (list[tuple[str, str]]): for each input, ("param", name), ("random", name) or ("arg", name).
        values (Union[dict, None]): {index: value}. A run in PYNATIVE mode has all values, a dump some of them. None for
            a traced program whose values are not computed yet.
        device (Union[jax.Device, None]): the device of the run; None for the default one.
        is_step (bool): True for a recorded step. Its Parameters and its batch are recorded, too.
        is_dumped (bool): True if `values` come from a dump or another runtime. The graph then comes from the network.
        note (str): sentences about the run for the text of the comparison.
    """

    def __init__(
        self,
        name: str,
        equations: Equations,
        inputs: list[Any],
        input_names: list[tuple[str, str]],
        values: dict[int, Any] | None = None,
        device: Any = None,
        is_step: bool = False,
    ) -> None:
        self.name, self.equations, self.inputs, self.input_names = name, equations, list(inputs), input_names
        self.values, self.device, self.is_step = values, device, is_step
        self.is_dumped: bool = False
        self.note: str = ""

    @property
    def graph(self) -> Any:
        """The graph of the run."""
        return self.equations.graph

    def parameters(self) -> dict[str, int]:
        """Return {name of a Parameter: index of the input}."""
        return {entry[1]: index for index, entry in enumerate(self.input_names) if entry[0] == "param"}

    def compute_values(self) -> dict[int, Any]:
        """Return {index: value} of all values of the run."""
        if self.values is None:
            self.values = self.compute_on({})
        return self.values

    def compute_on(self, substitutes: Mapping[int, Any]) -> dict[int, Any]:
        """Return {index: value} of a run in which equations read `substitutes` in place of the run's own values."""
        with jax.default_device(self.device) if self.device is not None else contextlib.nullcontext():
            inputs = self.inputs
            if self.device is not None:
                inputs = jax.device_put(inputs, self.device)
                substitutes = {index: jax.device_put(value, self.device) for index, value in substitutes.items()}
            if not self.equations.is_traceable:
                return self.equations.evaluate(inputs, substitutes)
            return jax.jit(self.equations.evaluate)(inputs, dict(substitutes))


def run_of(source: Any, inputs: tuple[Any, ...], name: str, evaluates: bool) -> ComparedRun:
    """Return the run of one side of a comparison.

    Args:
        source (object): a Cell, a function, a Variant, a file, a Replay or a pair (timeline, step).
        inputs (tuple): arguments of the call.
        name (str): name for sentences.
        evaluates (bool): True to trace a Cell in evaluation mode, because the other run is that of a file.

    Raises:
        TypeError: If `source` has another type.
        ValueError: If there is no such step, or a file can't be run.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], Timeline):
        replay = source[0].replay(source[1])
        return _make_run_of_replay(replay, name, is_step=True)
    if isinstance(source, Replay):
        return _make_run_of_replay(source, name, is_step=True)
    if isinstance(source, (str, os.PathLike)):
        source = cell_of_file(source)
    variant = Variant.of(source)
    check_network(variant.net, name)
    net, arguments = variant.network(), variant.cast_inputs(inputs)
    with evaluating(net) if evaluates else contextlib.nullcontext():
        if variant.mode == "PYNATIVE":
            return _run_eagerly(net, arguments, name, variant.device)
        program, arrays = program_inputs(net, *arguments)
    graph = of_program(program, name_of(net))
    flat = flatten_program(program, graph)
    return ComparedRun(
        name, flat, _convert_to_arrays(program, arrays), [e[:2] for e in program.inputs], device=variant.device
    )


def _make_run_of_replay(replay, name, is_step):
    flat = flatten_program(replay.program, replay.graph)
    return ComparedRun(name, flat, replay.inputs, [e[:2] for e in replay.program.inputs], is_step=is_step)


def _convert_to_arrays(program, values):
    return [
        value if hasattr(value, "nbytes") else jnp.asarray(value, aval.dtype)
        for value, aval in zip(values, program.jaxpr.in_avals, strict=True)
    ]


def _run_eagerly(net, arguments, name, device):
    parameters = list(net.get_parameters()) if isinstance(net, Cell) else []
    leaves = [leaf for leaf in flatten(arguments)[0] if isinstance(leaf, Tensor)]
    named = [(f"x{index}", leaf._array) for index, leaf in enumerate(leaves)]
    before = context.get_context("mode")
    with trace_state.donation_lock.lock, _restore_parameters_on_exit(parameters):
        stored = [(p.name, p._array) for p in parameters]
        context.set_context(mode=context.PYNATIVE_MODE)
        try:
            run = record_eager_run(name_of(net), net, lambda: net(*arguments), stored, named)
        finally:
            context.set_context(mode=before)
    names = [("param", each) for each, _ in stored] + [("arg", each) for each, _ in named]
    return ComparedRun(name, run.equations, run.inputs, names, values=run.values, device=device)


@contextlib.contextmanager
def _restore_parameters_on_exit(parameters: list[Any]) -> Iterator[None]:
    """Restore Parameters on exit, because a run in PYNATIVE mode updates moving averages."""
    arrays = [p._array for p in parameters]
    try:
        yield
    finally:
        for parameter, array in zip(parameters, arrays, strict=True):
            if parameter._array is not array:
                parameter._rebind_array(array)


def cell_of_file(path: str | os.PathLike[str]) -> Cell:
    """Return a Cell that runs the graph in a MINDIR or ONNX file.

    Raises:
        ValueError: If the file has Parameters and no graph, or its name has another ending.
        FileNotFoundError: If there is no such file.
    """
    name = os.fspath(path)
    if holds_weights(name):
        raise ValueError(
            f"{name!r} has Parameters and no graph: load them into a network by msnb.load_checkpoint and "
            "msnb.load_param_into_net, and compare that network."
        )
    if not name.lower().endswith((".mindir", ".onnx")):
        raise ValueError(f"A file to compare by value should end in .mindir or .onnx, but got {name!r}.")
    return cell_in(name)
