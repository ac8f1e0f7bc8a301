"""What XLA makes of a strategy, asked in another process that counts as many devices: none is needed, and no memory."""

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

from msnb.core.kernel_options import READ_ONLY
from msnb.parallel.collectives import Collective, collectives
from msnb.parallel.search.pinned import constrain_graph, make_layout_sharder
from msnb.parallel.search.problem import Problem

_COUNT = "--xla_force_host_platform_device_count"


class Compiled(NamedTuple):
    """What XLA made.

    Attributes:
        collectives (list[Collective]): The communication in it.
        memory (float): Bytes of each device: arguments, results and what is in between.
        operations (float): Arithmetic of each device, as XLA counts it.
        seconds (float): How long it took to find out.
    """

    collectives: list[Collective]
    memory: float
    operations: float
    seconds: float

    @property
    def bytes(self) -> float:
        """Bytes that each device sends."""
        return sum(one.bytes for one in self.collectives)


def compiled(
    problem: Problem, chosen: list[int], returned: dict[int, int], seconds: float = 600.0, *, held: bool = True
) -> Compiled:
    """What XLA makes of a choice for each node.

    Args:
        problem (Problem): The choices.
        chosen (list[int]): One for each node.
        returned (dict[int, int]): {output: input} of what goes back to where it came from.
        seconds (float): How long it may take. Default: 600.
        held (bool): Whether each equation is held to its choice. Default: True; otherwise the inputs alone are, and
            XLA decides about all that follows from them.

    Raises:
        RuntimeError: If it does not compile, or not in time.
    """
    started, sizes = time.monotonic(), problem.cost_model.sizes
    settings = json.dumps({"mesh": sizes, "given": sorted(set(returned.values())), "options": READ_ONLY})
    try:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("compiling_there.py"))],
            input=settings.encode() + b"\n" + exported(problem, chosen, returned, held),
            env=_environment(problem.cost_model.devices),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"XLA did not compile the strategy within {seconds:.0f} seconds.") from None
    if done.returncode:
        raise RuntimeError(f"XLA could not compile the strategy:\n{done.stderr.decode(errors='replace')[-2000:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    found = collectives(told["text"], problem.cost_model.devices)
    return Compiled(found, told["memory"], told["flops"], time.monotonic() - started)


def exported(problem: Problem, chosen: list[int], returned: dict[int, int], held: bool = True) -> bytes:
    """The program held to a choice for each node, or for each input alone, as StableHLO for as many devices."""
    machines, graph = problem.cost_model, problem.graph
    choices = [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]
    names, sizes = tuple(machines.sizes), tuple(machines.sizes.values())
    place = make_layout_sharder(
        AbstractMesh(sizes, names, axis_types=(AxisType.Auto,) * len(sizes)), {a: (a,) for a in names}
    )
    back = {output: choices[given].outputs[0] for output, given in returned.items()}
    inputs = [place(choice.outputs[0]) for choice in choices[: len(graph.inputs)]]
    outputs: Any = [place(back[i]) if i in back else None for i in range(len(graph.outputs))]
    pins = choices if held else choices[: len(inputs)]
    form = jax.jit(constrain_graph(graph, pins, machines, place, back), in_shardings=inputs, out_shardings=outputs)
    shapes = [jax.ShapeDtypeStruct(v.shape, v.aval.dtype) for v in graph.inputs]
    anywhere = [export.DisabledSafetyCheck.platform()]  # without what is made for a CPU alone
    return bytes(export.export(form, platforms=["tpu"], disabled_checks=anywhere)(*shapes).serialize())


def _environment(devices):
    """Of the other process: so many devices, threads for all of them, and XLA's other flags as they are here."""
    flags = re.sub(rf"{_COUNT}=\S+", "", os.environ.get("XLA_FLAGS", ""))
    told = {"XLA_FLAGS": f"{flags} {_COUNT}={devices}", "NPROC": str(2 * devices), "JAX_PLATFORMS": "cpu"}
    told["JAX_ENABLE_X64"] = str(int(jax.config.jax_enable_x64))  # a random number's seed is one of 64 bits
    return {**os.environ, **told, "TF_CPP_MIN_LOG_LEVEL": "3"}
