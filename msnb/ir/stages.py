"""Build the graphs of one compilation, stage by stage."""

import functools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.core.program.program_cache import all_programs
from msnb.ir.layout.hierarchy import Hierarchy

from .api import of_program
from .compare import compare
from .forward import forward_of, has_gradient
from .hlo import read_hlo
from .read import sharding_attributes
from .stablehlo import read_stablehlo

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_SECONDS = 0.02  # XLA's compile time per operator, measured on two idle cores
_MIN_OPERATORS = 50  # operators; compile times of smaller programs do not predict those of larger ones
STAGES = ("traced", "differentiated", "primitives", "StableHLO", "optimised")


class Stages:
    """The stages of one traced program, each built on first access.

    ``"traced"`` is the program in MindSpore's operators, as the network calls them. If a gradient is taken, it is only
    the forward program, and ``"differentiated"`` is the complete program with the gradient and the update.
    ``"primitives"`` is the complete program in JAX's primitives, ``"StableHLO"`` the input of XLA, and ``"optimised"``
    the kernels that XLA generates. Reading ``"optimised"`` compiles the program.

    Args:
        program (Program): as `msnb.core.program.program_cache.program_of` returns it.
        name (str): name of the graphs.
        with_stop_flag (bool): whether the loops of the "optimised" stage read the stop flag, as they do in the program
            that runs. Default: False.
    """

    def __init__(self, program: "Program", name: str, with_stop_flag: bool = False) -> None:
        self.program = program
        self.name = name
        self._with_stop_flag = with_stop_flag
        self._graphs = {}

    @functools.cached_property
    def full_graph(self):
        """Graph of the complete program as JAX has traced it."""
        return of_program(self.program, self.name)

    @functools.cached_property
    def main(self):
        """Name of the stage that is the complete program in MindSpore's operators."""
        return "differentiated" if has_gradient(self.full_graph) else "traced"

    @property
    def offered(self) -> Any:
        """Names of the stages that this program has."""
        return tuple(stage for stage in STAGES if stage in ("traced", self.main) or stage != "differentiated")

    def wait(self, stage: str) -> float | None:
        """Return the estimated time in seconds until a stage is compiled; None if nothing has to be compiled."""
        if stage != "optimised" or stage in self._graphs or self.program.seconds.keys() & {"compile", "observed"}:
            return None
        compiled = [(p.seconds.get("compile", 0), len(p.jaxpr.jaxpr.eqns)) for p in all_programs()]
        # max() ignores programs from disk, whose compile times are near 0
        each = [seconds / count for seconds, count in compiled if count > _MIN_OPERATORS]
        return max(_SECONDS, *each, 0) * len(self.program.jaxpr.jaxpr.eqns)

    def __getitem__(self, stage: str) -> "FuncGraph":
        """Return the FuncGraph of a stage.

        Raises:
            ValueError: If there is no such stage.
        """
        if stage not in self.offered:
            raise ValueError(
                f"For 'ir.stages', a stage should be one of {', '.join(self.offered)}, but got "
                f"{stage!r}" + (": this program takes no gradient." if stage in STAGES else ".")
            )
        if stage not in self._graphs:
            self._graphs[stage] = self._build_stage(stage)
        return self._graphs[stage]

    def _build_stage(self, stage):
        if stage == self.main:
            return self.full_graph
        if stage == "traced":
            return forward_of(self.full_graph)
        if stage == "primitives":
            return of_program(self.program, self.name, expand=True)
        if stage == "StableHLO":
            graph = read_stablehlo(self.program.lowered().compiler_ir("stablehlo"), self.name)
        else:
            graph = read_hlo(self.program.compiled(self._with_stop_flag).as_text(), self.name)
        _restore_parameter_names(graph, self.program)
        graph.written = len(self.program.written)
        # Order of the outputs here: written Parameters, results, the code of failed checks (which `n_results` counts),
        # extra outputs for observers.
        end = graph.written + self.program.n_results - bool(self.program.errors)
        graph.outputs = graph.outputs[graph.written : end] + graph.outputs[: graph.written]
        names = zip(self.full_graph.result_names, self.program.results.static, strict=True)
        graph.result_names = [name for name, constant in names if constant is None]
        if stage == "optimised":
            sharding = self.program.spread
            _copy_scopes_to_kernels(
                graph, self.full_graph, 1 if sharding is None or sharding.axes else sharding.devices
            )
        return graph


def stages_of(program: "Program", name: str, which: tuple[str, ...] | None = None) -> "dict[str, FuncGraph]":
    """Return {stage: FuncGraph} of a traced program of `msnb.core.program.program_cache`, see `Stages`.

    Args:
        program (Program): as `msnb.core.program.program_cache.program_of` returns it.
        name (str): name of the graphs.
        which (tuple[str]): the stages. Default: None, all that the program has.

    Raises:
        ValueError: If `which` names a stage that the program does not have.
    """
    stages = Stages(program, name)
    return {stage: stages[stage] for stage in (stages.offered if which is None else which)}


def _restore_parameter_names(compiled, program):
    """Restore the names of a program's inputs. XLA names them by their index in its argument lists."""
    arguments = [entry[1] for entry in program.inputs if entry[0] != "param"]
    lists = {"written": program.written, "read": program.read}
    shapes = [np.shape(a) for a in program.example_arguments()[2:]]
    for node in _iterate_all_parameters(compiled):
        match = re.fullmatch(r"(\w+)\[(\d+)\]", node.name)
        if match is None:
            continue
        kind, index = match.group(1), int(match.group(2))
        if kind in lists and index < len(lists[kind]):
            node.name, node.is_weight = lists[kind][index].name, True
            node.requires_grad = lists[kind][index].requires_grad
            global_shape = lists[kind][index].shape
        elif kind == "rest" and index < len(arguments):
            node.name, global_shape = str(arguments[index]), shapes[index]
        elif kind == "rest" and program.errors:
            node.name, global_shape = "earlier error", shapes[index]
        else:
            continue
        if node.types and node.types[0].shape != tuple(global_shape):
            node.global_shape = tuple(global_shape)


def _iterate_all_parameters(graph):
    """Yield the parameters of a graph, and of its loops and branches."""
    yield from graph.parameters
    for node in graph.nodes:
        for inner in node.graphs:
            yield from _iterate_all_parameters(inner)


def _copy_scopes_to_kernels(compiled, traced, devices):
    """Give each kernel the scope of the operator call that it computes, so that both stages are drawn in the same
    boxes. On several devices also record the shards of the call's result, if only one call matches.
    """
    tree, links = Hierarchy(traced, fold=False), {}
    for number, kernel in compare(traced, compiled).links:
        links.setdefault(kernel, []).append(number)
    nodes = list(compiled.all_nodes())
    for node in nodes:
        if devices > 1 and node.types:
            shard_shape, result_shapes = (
                node.types[0].shape,
                [tree.nodes[number].types for number in links.get(node.id, ())],
            )
            result_shapes = {kinds[0].shape for kinds in result_shapes if len(kinds) == 1}
            if (
                len(
                    candidates := [
                        global_shape
                        for global_shape in result_shapes
                        if _can_split_into_shards(global_shape, shard_shape, devices)
                    ]
                )
                == 1
            ):
                node.attrs.update(sharding_attributes(candidates[0], shard_shape))
        mates = [number for number in links.get(node.id, ()) if tree.nodes[number].scope == node.scope]
        if mates:
            node.scope = "/".join(scope.name for scope in tree.home[mates[0]].ancestors()[2:])


def _can_split_into_shards(global_shape, shard_shape, devices):
    """Return whether an array can be split into equal shards of a shape, each on the same number of devices."""
    if len(global_shape) != len(shard_shape) or not all(
        m and n % m == 0 for n, m in zip(global_shape, shard_shape, strict=True)
    ):
        return False
    return devices % math.prod(n // m for n, m in zip(global_shape, shard_shape, strict=True)) == 0
