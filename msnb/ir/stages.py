"""What becomes of a program on its way to the machine: the graphs of one compilation, stage by stage."""

import functools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.core.program.program_cache import all_programs

from .api import of_program
from .compare import compare
from .forward import forward_of, has_gradient
from .hierarchy import Hierarchy
from .hlo import read_hlo
from .read import divided
from .stablehlo import read_stablehlo

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_SECONDS = 0.02  # that XLA takes for an operator on two idle cores
_TELLING = 50  # operators; how long smaller programs have taken says nothing about larger ones
STAGES = ("traced", "differentiated", "primitives", "StableHLO", "optimised")


class Stages:
    """The stages of one traced program, each made when it is first asked for.

    ``"traced"`` is the program in MindSpore's operators, as the network calls them; where a gradient is taken it is
    the forward program alone, and ``"differentiated"`` is the whole: with the gradient, and with what is done with it.
    ``"primitives"`` is the whole in JAX's primitives, ``"StableHLO"`` what is handed to XLA, ``"optimised"`` the
    kernels that XLA makes of it (this compiles).

    Args:
        program (Program): as `msnb.core.program.program_cache.program_of` returns it.
        name (str): name of the graphs.
    """

    def __init__(self, program: "Program", name: str) -> None:
        self.program = program
        self.name = name
        self._made = {}

    @functools.cached_property
    def whole(self):
        """The program as JAX has traced it."""
        return of_program(self.program, self.name)

    @functools.cached_property
    def main(self):
        """The stage that is the whole program in MindSpore's operators."""
        return "differentiated" if has_gradient(self.whole) else "traced"

    @property
    def offered(self) -> Any:
        """The stages that this program has."""
        return tuple(stage for stage in STAGES if stage in ("traced", self.main) or stage != "differentiated")

    def wait(self, stage: str) -> float | None:
        """About how many seconds XLA compiles before there is a stage; None where nothing has to be compiled."""
        if stage != "optimised" or stage in self._made or self.program.seconds.keys() & {"compile", "observed"}:
            return None
        known = [(p.seconds.get("compile", 0), len(p.jaxpr.jaxpr.eqns)) for p in all_programs()]
        each = [seconds / many for seconds, many in known if many > _TELLING]  # next to nothing for one found on disk
        return max(_SECONDS, *each, 0) * len(self.program.jaxpr.jaxpr.eqns)

    def __getitem__(self, stage: str) -> "FuncGraph":
        """The FuncGraph of a stage.

        Raises:
            ValueError: If there is no such stage.
        """
        if stage not in self.offered:
            raise ValueError(
                f"For 'ir.stages', a stage should be one of {', '.join(self.offered)}, but got "
                f"{stage!r}" + (": this program takes no gradient." if stage in STAGES else ".")
            )
        if stage not in self._made:
            self._made[stage] = self._make(stage)
        return self._made[stage]

    def _make(self, stage):
        if stage == self.main:
            return self.whole
        if stage == "traced":
            return forward_of(self.whole)
        if stage == "primitives":
            return of_program(self.program, self.name, expand=True)
        if stage == "StableHLO":
            made = read_stablehlo(self.program.lowered().compiler_ir("stablehlo"), self.name)
        else:
            made = read_hlo(self.program.compiled().as_text(), self.name)
        _name_parameters(made, self.program)
        made.written = len(self.program.written)
        # there the results come last, but for what observers of the program have it give besides
        end = made.written + self.program.n_results
        made.outputs = made.outputs[made.written : end] + made.outputs[: made.written]
        if stage == "optimised":
            spread = self.program.spread
            _take_calls(made, self.whole, 1 if spread is None or spread.axes else spread.devices)
        return made


def stages_of(program: "Program", name: str, which: tuple[str, ...] | None = None) -> "dict[str, FuncGraph]":
    """{stage: FuncGraph} of a traced program of `msnb.core.program.program_cache`, see `Stages`.

    Args:
        program (Program): as `msnb.core.program.program_cache.program_of` returns it.
        name (str): name of the graphs.
        which (tuple[str]): the stages. Default: None, all that the program has.

    Raises:
        ValueError: If `which` names a stage that the program does not have.
    """
    stages = Stages(program, name)
    return {stage: stages[stage] for stage in (stages.offered if which is None else which)}


def _name_parameters(compiled, program):
    """XLA calls a program's inputs by their place in its argument lists; give them their names back."""
    arguments = [entry[1] for entry in program.inputs if entry[0] != "param"]
    lists = {"written": program.written, "read": program.read}
    shapes = [np.shape(a) for a in program.example_arguments()[2:]]
    for node in _parameters(compiled):
        found = re.fullmatch(r"(\w+)\[(\d+)\]", node.name)
        if found is None:
            continue
        kind, place = found.group(1), int(found.group(2))
        if kind in lists and place < len(lists[kind]):
            node.name, node.is_weight = lists[kind][place].name, True
            node.requires_grad = lists[kind][place].requires_grad
            whole = lists[kind][place].shape
        elif kind == "rest" and place < len(arguments):
            node.name, whole = str(arguments[place]), shapes[place]
        else:
            continue
        if node.types and node.types[0].shape != tuple(whole):
            node.whole = tuple(whole)


def _parameters(graph):
    """The parameters of a graph, and of its loops and branches."""
    yield from graph.parameters
    for node in graph.nodes:
        for inner in node.graphs:
            yield from _parameters(inner)


def _take_calls(compiled, traced, devices):
    """Give each kernel the scope of the very call it came from, so that both stages are drawn in the same boxes; where
    the program is spread over devices, also what of the call's result is on each, if only one call can be meant."""
    tree, links = Hierarchy(traced, fold=False), {}
    for number, kernel in compare(traced, compiled).links:
        links.setdefault(kernel, []).append(number)
    nodes = list(compiled.all_nodes())
    for node in nodes:
        if devices > 1 and node.types:
            part, known = node.types[0].shape, [tree.nodes[number].types for number in links.get(node.id, ())]
            known = {kinds[0].shape for kinds in known if len(kinds) == 1}
            if len(meant := [whole for whole in known if _is_cut_to(whole, part, devices)]) == 1:
                node.attrs.update(divided(meant[0], part))
        mates = [number for number in links.get(node.id, ()) if tree.nodes[number].scope == node.scope]
        if mates:
            node.scope = "/".join(scope.name for scope in tree.home[mates[0]].ancestors()[2:])


def _is_cut_to(whole, part, devices):
    """Return whether an array can be cut into equal parts of a shape, each of them on as many of the devices."""
    if len(whole) != len(part) or not all(m and n % m == 0 for n, m in zip(whole, part, strict=True)):
        return False
    return devices % math.prod(n // m for n, m in zip(whole, part, strict=True)) == 0
