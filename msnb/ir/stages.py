"""What becomes of a program on its way to the machine: the graphs of one compilation, stage by stage."""
import re

from .compare import compare
from .hierarchy import Hierarchy
from .hlo import read_hlo
from .read import read

STAGES = ("traced", "primitives", "optimised")


def stages_of(program, name, which=STAGES):
    """{stage: FuncGraph} of a traced program of `msnb.core.compile`.

    Args:
        program (Program): as `msnb.core.compile.program_of` returns it.
        name (str): name of the graphs.
        which (tuple[str]): ``"traced"`` is the program in MindSpore's operators, ``"primitives"`` the same in JAX's,
            ``"optimised"`` the kernels that XLA made of it (this compiles). Default: all of them.

    Raises:
        ValueError: If `which` names another stage.
    """
    unknown = [stage for stage in which if stage not in STAGES]
    if unknown:
        raise ValueError(f"For 'ir.stages', a stage should be one of {', '.join(STAGES)}, but got {unknown[0]!r}.")
    made = {}
    if "optimised" in which and "traced" not in which:
        return {stage: graph for stage, graph in stages_of(program, name, ("traced", *which)).items() if stage in which}
    for stage in which:
        if stage == "optimised":
            made[stage] = read_hlo(program.compiled().as_text(), name)
            _name_parameters(made[stage], program)
        else:
            made[stage] = read(program.jaxpr, name, program.inputs, expand=stage == "primitives")
    if "optimised" in made:
        _take_calls(made["optimised"], made["traced"])
    return made


def _name_parameters(compiled, program):
    """XLA calls a program's inputs by their place in its argument lists; give them their names back."""
    arguments = [entry[1] for entry in program.inputs if entry[0] != "param"]
    lists = {"written": program.written, "read": program.read}
    for node in compiled.parameters:
        found = re.fullmatch(r"(\w+)\[(\d+)\]", node.name)
        if found is None:
            continue
        kind, place = found.group(1), int(found.group(2))
        if kind in lists and place < len(lists[kind]):
            node.name, node.is_weight = lists[kind][place].name, True
            node.requires_grad = lists[kind][place].requires_grad
        elif kind == "rest" and place < len(arguments):
            node.name = str(arguments[place])


def _take_calls(compiled, traced):
    """Give each kernel the scope of the very call it came from, so that both stages are drawn in the same boxes."""
    tree, links = Hierarchy(traced, fold=False), {}
    for number, kernel in compare(traced, compiled).links:
        links.setdefault(kernel, []).append(number)
    nodes = list(compiled.all_nodes())
    for node in nodes:
        mates = [number for number in links.get(node.id, ()) if tree.nodes[number].scope == node.scope]
        if mates:
            node.scope = "/".join(scope.name for scope in tree.home[mates[0]].ancestors()[2:])
