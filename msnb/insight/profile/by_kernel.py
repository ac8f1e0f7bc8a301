"""Compute the rows of a profile in GRAPH mode: the time of each kernel is divided among its operators."""

from typing import TYPE_CHECKING

from msnb.core.errors.cell_path import attribute_path
from msnb.core.operator.operator_types import REGISTRY
from msnb.ir.hlo import count_work
from msnb.nn.optim import Optimizer

from . import attribute, kernel_end_times, wall_time
from .rows import Row, work

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

_NS = 1e-9


def choose_program(profile: "Figures") -> None:
    """Match traced modules with the recorded programs. The one with the most kernel time is the step's program."""
    if profile.mode == "PYNATIVE":
        return
    window, _ = profile._get_traced_window()
    busy = {}
    for kernel in profile._list_kernels_in_window(window):
        entry = busy.setdefault(kernel.run[:2], [kernel.module, set(), 0])
        entry[1].add(kernel.op)
        entry[2] += kernel.end - kernel.start
    for key, (module, ops, _) in busy.items():
        for program in profile.recording.programs:
            if module == f"jit_{program.run.__name__}" and ops <= _list_compiled_instructions(profile, program):
                profile._modules[key] = program
    time_by_program = {}
    for key, program in profile._modules.items():
        time_by_program[program] = time_by_program.get(program, 0) + busy[key][2]
    if time_by_program:
        profile.program = max(time_by_program, key=time_by_program.get)
    elif profile.mode == "GRAPH" and profile.recording.programs:
        profile.program = next(reversed(profile.recording.programs))
    if profile.program is not None:
        profile.graph = profile._get_compiler_stages(profile.program).full_graph
        profile.times = [None] * len(profile.graph)


def _list_compiled_instructions(profile, program):
    return {node.instruction for node in profile._get_compiler_stages(program)["optimised"].all_nodes()}


def measure(profile: "Figures", compiling: list[tuple[int, int]]) -> None:
    """Set the parts, the rows and the times of a profile from the kernels of its traced steps."""
    window, count = profile._get_traced_window()
    kernels = profile._list_kernels_in_window(window)
    if not kernels:
        _set_parts_without_kernels(profile, compiling)
        return
    if any(kernel.device for kernel in kernels):
        profile.notes.append(
            "Kernels of a GPU that run inside a command buffer are traced as one: if few operators "
            "show, start Python with XLA_FLAGS=--xla_gpu_enable_command_buffer= and profile again."
        )
    owners, opcodes, inside = {}, {}, {}
    for key, program in profile._modules.items():
        stages = profile._get_compiler_stages(program)
        owners[key] = attribute.owners(stages.full_graph, stages["optimised"])
        inside[key] = count_work(program.compiled(with_stop_flag=True).as_text())
        opcodes[key] = {node.instruction: node for node in stages["optimised"].all_nodes()}
    profile._owners = {program: owners[key] for key, program in profile._modules.items()}
    runs = kernel_end_times.settle(
        kernels, {key: profile._get_compiler_stages(p)["optimised"] for key, p in profile._modules.items()}
    )
    # only the time inside of steps counts, because a kernel may begin before a step or overlap several steps
    pieces = [(kernel, span) for kernel in kernels for span in wall_time.clip(window, kernel.start, kernel.end)]
    kernels, spans = [kernel for kernel, _ in pieces], [span for _, span in pieces]
    busy = wall_time.union(spans)
    running = [(min(k.start for k in mine), max(k.end for k in mine)) for mine in runs.values()]
    profile.parts = profile._split_step_time(window, count, busy, compiling, running)
    if len(profile.steps) > count > 0:
        profile._drop_traced_steps(count)
    outer = [
        index
        for index, kernel in enumerate(kernels)
        if kernel.run[:2] in opcodes and opcodes[kernel.run[:2]][kernel.op].op in attribute.CONTAINERS
    ]
    seconds_by_op = {}
    for kernel, share in zip(kernels, wall_time.shares(spans, outer), strict=True):
        key = (kernel.run[:2], kernel.op) if kernel.run[:2] in owners else (None, kernel.module)
        seconds_by_op[key] = seconds_by_op.get(key, 0.0) + share * _NS / count
    profile.kernel_seconds = {
        op: seconds
        for (key, op), seconds in seconds_by_op.items()
        if key is not None and profile._modules[key] is profile.program
    }
    rows = {}
    for (key, op), seconds in seconds_by_op.items():
        if key is None:
            _add_module_time(rows, op, seconds)
        else:
            _divide_kernel_time(profile, rows, profile._modules[key], owners[key][op], seconds, inside[key].get(op, {}))
    _add_flops_and_bytes(profile, rows)
    profile.rows = list(rows.values())


def _set_parts_without_kernels(profile, compiling):
    """Set the parts of a profile without traced kernels: the time of the device is unknown."""
    if profile.program is None:
        profile.notes.append("No compiled Cell or function ran while this was recorded.")
    else:
        profile.notes.append(
            "No steady step was traced, so that nothing is known about single operators. Run three steps or more."
        )
    profile.parts = profile._split_step_time(profile._steps, len(profile._steps), [], compiling)
    profile.parts["unknown"] = profile.parts.pop("host")
    profile.parts.update(compute=0.0, host=0.0)


def _add_module_time(rows, module, seconds):
    """Add the time of a module of no recorded program: an operator outside of the graph, or a conversion."""
    name = module.removeprefix("jit_")  # JAX writes "_" for the brackets of LayerNorm[epsilon=1e-05]
    head = name.partition("_")[0]
    row = Row(head if head in REGISTRY else name, name, "", "forward", None)
    _add_time_to_row(rows, (None, module), row, seconds, "measured")


def _divide_kernel_time(profile, rows, program, owner, seconds, inside):
    """Divide the time of one kernel among its operators, in proportion to their work."""
    if not owner.nodes:
        key = (program, owner.note)
        row = rows.get(key) or Row(
            "copy" if owner.how == attribute.XLA else "unknown", owner.note, "", "forward", None, program.name
        )
        _add_time_to_row(rows, key, row, seconds, owner.how)
        return
    parts = work(owner.nodes, inside)
    total = sum(parts)
    operators = {(node.scope, node.op, node.direction, node.source) for node in owner.nodes}
    how = owner.how if owner.how != attribute.MEASURED or len(operators) == 1 else "fused"
    for node, part in zip(owner.nodes, parts, strict=True):
        line = node.source[:2] if node.source else None
        key = (program, node.scope, node.op, node.direction, line)
        source = node.source or _find_optimizer_location(node, program)
        row = rows.get(key) or Row(node.op, node.name, node.scope, node.direction, source, program.name)
        if node.id not in row.nodes:
            row.nodes.append(node.id)
        _add_time_to_row(rows, key, row, seconds * part / total, how, 1 if part else 0)
        row.mates.update(
            f"{other.name} of {attribute_path(other.scope, program.name) or program.name}"
            for other in owner.nodes
            if (other.scope, other.op, other.direction) != (node.scope, node.op, node.direction)
        )
        if program is profile.program:
            profile.times[node.id] = (profile.times[node.id] or 0.0) + seconds * part / total


def _find_optimizer_location(node, program):
    """Return the line that constructed the optimizer of an update operator, which has no line of the user's code."""
    if node.direction != "update":
        return None
    locations = {cell._made_at for cell in program.cells if isinstance(cell, Optimizer)}
    return locations.pop() if len(locations) == 1 else None


def _add_time_to_row(rows, key, row, seconds, how, kernels=1):
    rows[key] = row
    row.seconds += seconds
    row.kernels += kernels
    if how in ("measured", attribute.XLA):
        row.measured += seconds
    elif how == "fused":
        row.fused += seconds
    else:
        row.inferred += seconds
    parts = {"measured": row.measured, "fused": row.fused, "inferred": row.inferred}
    row.how = "xla" if how == attribute.XLA else max(parts, key=parts.get)


def _add_flops_and_bytes(profile, rows):
    by_program = {}
    for program, stages in profile._stages.items():
        by_program[program.name] = {node.id: node for node in stages.full_graph.all_nodes()}
    for row in rows.values():
        nodes_by_id = by_program.get(row.program, {})
        for ident in row.nodes:
            node = nodes_by_id[ident]
            row.flops += node.flops
            row.nbytes += node.nbytes
        row.calls = len(row.nodes)
