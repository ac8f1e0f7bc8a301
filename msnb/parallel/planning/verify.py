"""Compile a strategy with XLA in another process that has as many virtual devices. No real devices or memory are
needed.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax import export
from jax.sharding import AbstractMesh, AxisType

from msnb.core.program.xla_options import READ_ONLY
from msnb.parallel.graph.collective_stats import Collective, collectives
from msnb.parallel.search.apply_choices import constrain_graph, make_layout_sharder
from msnb.parallel.search.choice_problem import Problem

_DEVICE_COUNT_FLAG = "--xla_force_host_platform_device_count"


class Compiled(NamedTuple):
    """Communication, memory and arithmetic of a program that XLA compiled.

    Attributes:
        collectives (list[Collective]): The communication in it.
        memory (float): Bytes of each device: arguments, results and temporaries.
        operations (float): Number of arithmetic operations of each device, as XLA counts them.
        seconds (float): Time for compilation.
    """

    collectives: list[Collective]
    memory: float
    operations: float
    seconds: float

    @property
    def bytes(self) -> float:
        """Bytes that each device sends."""
        return sum(one.bytes for one in self.collectives)


def compile_strategy(
    problem: Problem,
    chosen: list[int],
    returned: dict[int, int],
    seconds: float = 600.0,
    *,
    is_constrained: bool = True,
) -> Compiled:
    """Compile a solution with XLA.

    Args:
        problem (Problem): The search problem.
        chosen (list[int]): Index of the selected choice for each node.
        returned (dict[int, int]): {output: input} of outputs that are assigned to inputs.
        seconds (float): Time limit. Default: 600.
        is_constrained (bool): If True, each equation is constrained to its choice. If False, only the inputs are,
            and XLA chooses the other shardings. Default: True.

    Raises:
        RuntimeError: If compilation fails or exceeds the time limit.
    """
    start, sizes = time.monotonic(), problem.cost_model.sizes
    settings = json.dumps({"mesh": sizes, "donated": sorted(set(returned.values())), "options": READ_ONLY})
    try:
        process = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("compile_subprocess.py"))],
            input=settings.encode() + b"\n" + export_strategy(problem, chosen, returned, is_constrained),
            env=_make_child_environment(problem.cost_model.devices),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"XLA did not compile the strategy within {seconds:.0f} seconds.") from None
    if process.returncode:
        raise RuntimeError(f"XLA could not compile the strategy:\n{process.stderr.decode(errors='replace')[-2000:]}")
    result = json.loads(process.stdout.splitlines()[-1])
    communication = collectives(result["text"], problem.cost_model.devices)
    return Compiled(communication, result["memory"], result["flops"], time.monotonic() - start)


def export_strategy(
    problem: Problem, chosen: list[int], returned: dict[int, int], is_constrained: bool = True
) -> bytes:
    """Return the program as serialized StableHLO, constrained to the choice of each node or only of each input."""
    cost_model, graph = problem.cost_model, problem.graph
    choices = [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]
    names, sizes = tuple(cost_model.sizes), tuple(cost_model.sizes.values())
    make_sharding = make_layout_sharder(
        AbstractMesh(sizes, names, axis_types=(AxisType.Auto,) * len(sizes)), {a: (a,) for a in names}
    )
    output_layouts = {output: choices[input_index].outputs[0] for output, input_index in returned.items()}
    inputs = [make_sharding(choice.outputs[0]) for choice in choices[: len(graph.inputs)]]
    outputs: Any = [
        make_sharding(output_layouts[i]) if i in output_layouts else None for i in range(len(graph.outputs))
    ]
    constrained = choices if is_constrained else choices[: len(inputs)]
    form = jax.jit(
        constrain_graph(graph, constrained, cost_model, make_sharding, output_layouts),
        in_shardings=inputs,
        out_shardings=outputs,
    )
    shapes = [jax.ShapeDtypeStruct(v.shape, v.aval.dtype) for v in graph.inputs]
    disabled_checks = [export.DisabledSafetyCheck.platform()]  # "tpu" avoids lowerings that exist only for a CPU
    return bytes(export.export(form, platforms=["tpu"], disabled_checks=disabled_checks)(*shapes).serialize())


def _make_child_environment(devices):
    """Return the environment of the other process: the number of devices, threads for all of them, and XLA's other
    flags.
    """
    flags = re.sub(rf"{_DEVICE_COUNT_FLAG}=\S+", "", os.environ.get("XLA_FLAGS", ""))
    variables = {
        "XLA_FLAGS": f"{flags} {_DEVICE_COUNT_FLAG}={devices}",
        "NPROC": str(2 * devices),
        "JAX_PLATFORMS": "cpu",
    }
    variables["JAX_ENABLE_X64"] = str(int(jax.config.jax_enable_x64))  # a random seed has 64 bits with this setting
    return {**os.environ, **variables, "TF_CPP_MIN_LOG_LEVEL": "3"}
