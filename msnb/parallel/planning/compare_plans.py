"""`plan`: compare ways to shard a program over devices that are not available."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msnb.common.kinds import Between, Bool, Float, Int, NonNegInt, PositiveFloat, checked
from msnb.common.progress import Wait
from msnb.core.program.program_cache import program_of
from msnb.core.sharding.partitioner import on_one_device
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import flatten_jaxpr
from msnb.parallel.modes.auto import written_outputs
from msnb.parallel.planning import estimate
from msnb.parallel.planning.hardware import Hardware, hardware_of
from msnb.parallel.planning.pipeline_plans import Pipeline, pipelines
from msnb.parallel.planning.plan_mesh import mesh_of, weights_of
from msnb.parallel.planning.plan_result import Plan, tensors_of
from msnb.parallel.planning.strategies import Refused, named_strategies
from msnb.parallel.planning.table import html_table, text_table
from msnb.parallel.planning.verify import Compiled, compile_strategy
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import dynamic_programming

_GIB = 2.0**30


class Plans(Sequence[Plan]):
    """The result of `plan`, the best plan first: plans that fit into the memory, ordered by the time of a step.

    Attributes:
        mesh (dict[str, int]): The axes of the mesh; the last one is inside a host, if any is.
        hardware (Hardware): The hardware.
        memory (float): Bytes of a device.
        tensors (list): (name, kind, value) of each input of the program; the kinds are "parameter", "state" (of an
            optimizer), "constant" (a Parameter that is only read) and "argument".
        problem (Problem): The search problem.
        refused (list[Refused]): The strategies that are not possible, with their reasons.
        notes (list[str]): Notes about all plans, such as a batch that the devices do not divide.
        rows (int), items (int), unit (str): Examples of a batch, and the number of its items: "tokens" if the first
            argument is a matrix of integers, otherwise "samples", which are the examples; 0 without a batch.
        ideal (float): Seconds of a step's matrix products and convolutions on one device at its peak.
    """

    def __init__(self, program: Any, mesh: dict[str, int], hardware: Hardware, memory: float, settings: dict[str, Any]):
        self.mesh, self.hardware, self.memory = mesh, hardware, memory
        self.efficiency: float = settings["efficiency"]
        self.seconds: float = settings["seconds"]
        self.title: str = program.title
        self.operation_price: float = hardware.inside / (self.efficiency * hardware.operations("float32"))
        self.write_price: float = hardware.inside / hardware.memory_bandwidth
        cost_model = MeshCostModel(mesh, weights_of(mesh, hardware))
        self.returned: dict[int, int] = written_outputs(program)
        self.problem: Problem = Problem(flatten_jaxpr(program.jaxpr), cost_model, self.returned)
        self.tensors: list[tuple[str, str, Any]] = list(tensors_of(program, self.problem))
        self.rows, self.items, self.unit = batch_size_of(self.tensors)
        self.notes: list[str] = notes_on(self.tensors, mesh)
        self.ideal: float = estimate.least_time(self.problem, hardware)
        self._plans: list[Plan] = []
        self.refused: list[Refused] = []

    def search(
        self, problem: Problem, memory: float | None, seconds: float | None = None, work: float = 1.0
    ) -> list[int]:
        """Return the index of the choice for each node with which the total cost is lowest.

        The cost is the time of sending, arithmetic and memory writes on the hardware. The time of arithmetic and writes
        is multiplied by `work`.
        """
        prices = work * self.operation_price, work * self.write_price
        return dynamic_programming(problem, memory, seconds or self.seconds, *prices)

    def duration(self, problem: Problem, chosen: list[int], loop_times: Any = None) -> estimate.Time:
        """Return the predicted times of a step, see `estimate.step_time`."""
        return estimate.step_time(problem, chosen, self.hardware, self.efficiency, loop_times)

    def add(self, name: str, strategy: tuple[Problem, list[int]], pipeline: Pipeline | None = None) -> Plan:
        """Add a plan for a strategy, named `name`."""
        added = Plan(name, self, *strategy, pipeline)
        self._plans.append(added)
        self._plans.sort(key=lambda plan: (not plan.fits, plan.time.step if plan.fits else plan.memory))
        return added

    def check(self, plan: Plan) -> Compiled:
        """Compile a plan with XLA in another process. The tables then show XLA's memory and communication."""
        plan.compiled = compile_strategy(
            plan._problem, plan._chosen, self.returned if plan.pipeline is None else plan.pipeline.returned
        )
        return plan.compiled

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._plans[key]
        for plan in self._plans:
            if plan.name == key:
                return plan
        raise KeyError(f"There is no plan {key!r}; there are {', '.join(plan.name for plan in self._plans)}.")

    def __len__(self) -> int:
        return len(self._plans)

    def as_dict(self) -> dict[str, Any]:
        """Return the plans as numbers, strings, lists and dicts, for JSON."""
        return {
            "title": self.title,
            "devices": math.prod(self.mesh.values()),
            "mesh": dict(self.mesh),
            "hardware": self.hardware._asdict() | {"peak": dict(self.hardware.peak)},
            "memory": self.memory,
            "plans": [entry.as_dict() for entry in self._plans],
            "notes": list(self.notes),
            "unit": self.unit,
            "refused": [dict(entry._asdict()) for entry in self.refused],
        }

    def __repr__(self) -> str:
        return text_table(self._plans, self, self.refused)

    def _repr_html_(self) -> str:
        return html_table(self._plans, self, self.refused)


def batch_size_of(tensors: list[tuple[str, str, Any]]) -> tuple[int, int, str]:
    """Return (rows, items, unit) of a batch, see `Plans`."""
    first = next((value for _, kind, value in tensors if kind == "argument" and value.shape), None)
    if first is None:
        return 0, 0, "samples"
    is_text = len(first.shape) == 2 and first.aval.dtype.kind in "iu"
    return first.shape[0], math.prod(first.shape) if is_text else first.shape[0], "tokens" if is_text else "samples"


def notes_on(tensors: list[tuple[str, str, Any]], mesh: dict[str, int]) -> list[str]:
    """Return notes about a batch whose examples cannot be distributed evenly."""
    rows, devices = batch_size_of(tensors)[0], math.prod(mesh.values())
    if not rows or rows % devices == 0:
        return []
    max_shards = math.gcd(rows, devices)
    fewer_devices, smaller_batch = max(n for n in range(1, devices) if rows % n == 0), rows // devices * devices
    advice = f"a batch of {smaller_batch} or {smaller_batch + devices}" if smaller_batch else f"a batch of {devices}"
    advice += f", or {fewer_devices} devices" if fewer_devices > 1 else ""
    consequence = (
        "each device computes all of it" if max_shards == 1 else f"at most {max_shards} devices get rows of their own"
    )
    return [f"The batch has {rows:,} rows, which {devices} devices do not divide: {consequence}. Take {advice}."]


@checked
def plan(
    root: Any,
    batch: Any,
    devices: Annotated[int, Between(Int, 2, None)] = 64,
    mesh: Sequence[int] | Mapping[str, int] | None = None,
    hardware: str | Mapping[str, Any] | Hardware = "a100",
    memory: PositiveFloat | None = None,
    *,
    check: NonNegInt = 3,
    efficiency: Annotated[float, Between(Float, 0, 1, low_in=False)] = 0.5,
    seconds: PositiveFloat = 60.0,
    progress: Bool = True,
) -> Plans:
    """Compare ways to shard a program over devices that need not be available.

    The program is traced as in GRAPH mode. Each plan is a layout of every value in it:

    - "data parallel": each device has a shard of the batch and all Parameters.
    - "optimizer sharded": data parallel with sharded optimizer states (ZeRO-1).
    - "fully sharded": all Parameters and states are sharded.
    - "searched": the fastest plan that fits in memory, out of the solutions of the search and the plans above. If data
      parallel fits in memory, this plan does not send more bytes than data parallel.

    The best plans are compiled by XLA on virtual devices in another process, and their communication is counted. A
    strategy that is not possible has a row with the reason.

    If the network that a step trains has equal blocks, there are pipelines as well, see `nn.PipelineCell`. The number
    of stages divides the blocks and the devices. There are up to four micro-batches per stage, or the number that a
    step requires. The devices of a stage share the examples of each micro-batch. The time of a step includes rounds
    in which a stage idles.

    Args:
        root (Union[Cell, Callable]): The program, such as `nn.TrainOneStepCell` to plan training.
        batch (Union[Tensor, tuple]): Arguments of the program for all devices together; only shapes and dtypes matter.
        devices (int): Number of devices, at least two. Default: 64.
        mesh (Union[Sequence, Mapping]): Devices along each axis, with names or without, the innermost last.
            Default: None, which means two axes: the hosts, and the devices of one host.
        hardware (Union[str, Mapping, Hardware]): A name of `hardware.PRESETS`, or a dict of `Hardware`'s attributes.
            Default: "a100".
        memory (float): Memory of a device in GiB. Default: None, which means that of `hardware`.
        check (int): Number of the best plans that XLA compiles. Default: 3.
        efficiency (float): Speed of matrix products and convolutions, as a fraction of the device's peak. Default: 0.5.
        seconds (float): Approximate time limit of one search. Default: 60.
        progress (bool): True for a line that shows the progress. Default: True.

    Returns:
        Plans, the best first.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the hardware is unknown, or the mesh has another number of devices.
        RuntimeError: If XLA cannot compile a plan.
    """
    machine = hardware_of(hardware)
    sizes = mesh_of(devices, mesh, machine)
    arguments = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
    with on_one_device():
        program = program_of(root, *arguments, anew=True)
    limit = machine.memory if memory is None else memory * _GIB
    plans = Plans(program, sizes, machine, limit, {"efficiency": efficiency, "seconds": seconds})
    with Wait("plan", quiet=not progress) as wait:

        def show_progress(text):
            wait.what = f"plan, {text}"

        for strategy in named_strategies(plans, show_progress):
            show_progress(f"planned: {strategy[0]}")
            plans.refused.append(strategy) if isinstance(strategy, Refused) else plans.add(*strategy)
        weights = functools.partial(weights_of, hardware=machine)
        show_progress("stages of a pipeline, one search for each number")
        for pipeline in pipelines(root, arguments, devices, weights):
            if isinstance(pipeline, Refused):
                plans.refused.append(pipeline)
                continue
            name = f"{pipeline.stages} stages, {pipeline.parts} parts"
            show_progress(f"planned: {name}")
            plans.add(name, pipeline.strategy, pipeline)
        candidates = [candidate for candidate in plans if candidate.fits][:check]
        for number, candidate in enumerate(candidates, 1):
            show_progress(f"XLA check {number} of {len(candidates)}: {candidate.name}")
            plans.check(candidate)
    return plans
