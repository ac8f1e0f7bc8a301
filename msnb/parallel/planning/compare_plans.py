"""`plan`: a program spread over devices that are not there, in several ways that are compared."""

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
    """What `plan` found, the best first: those that fit into the memory, by the time of a step.

    Attributes:
        mesh (dict[str, int]): The axes of the mesh; the last one is inside a host, if any is.
        hardware (Hardware): What it was planned for.
        memory (float): Bytes of a device.
        tensors (list): (name, kind, value) of each input of the program; the kinds are "parameter", "state" (what an
            optimizer keeps), "constant" (a Parameter that is only read) and "argument".
        problem (Problem): What was searched.
        refused (list[Refused]): The ways that there are not, each with its reason.
        notes (list[str]): What a reader has to know of all of them, such as a batch that the devices do not divide.
        rows (int), items (int), unit (str): Rows of a batch, and what is counted in it: "tokens" where the first
            argument is a matrix of whole numbers, else "samples", which are its rows; 0 where there is none.
        ideal (float): Seconds that the products of a step take on one device that reaches its peak.
    """

    def __init__(self, program: Any, mesh: dict[str, int], hardware: Hardware, memory: float, told: dict[str, Any]):
        self.mesh, self.hardware, self.memory = mesh, hardware, memory
        self.efficiency: float = told["efficiency"]
        self.seconds: float = told["seconds"]
        self.title: str = program.title
        self.operation: float = hardware.inside / (self.efficiency * hardware.operations("float32"))
        self.written: float = hardware.inside / hardware.memory_bandwidth
        machines = MeshCostModel(mesh, weights_of(mesh, hardware))
        self.returned: dict[int, int] = written_outputs(program)
        self.problem: Problem = Problem(flatten_jaxpr(program.jaxpr), machines, self.returned)
        self.tensors: list[tuple[str, str, Any]] = list(tensors_of(program, self.problem))
        self.rows, self.items, self.unit = rows_of(self.tensors)
        self.notes: list[str] = notes_on(self.tensors, mesh)
        self.ideal: float = estimate.least_time(self.problem, hardware)
        self._plans: list[Plan] = []
        self.refused: list[Refused] = []

    def search(
        self, problem: Problem, memory: float | None, seconds: float | None = None, work: float = 1.0
    ) -> list[int]:
        """The choices of least cost, where sending, arithmetic and writing cost what they take on the hardware; the
        last two so many times that."""
        prices = work * self.operation, work * self.written
        return dynamic_programming(problem, memory, seconds or self.seconds, *prices)

    def duration(self, problem: Problem, chosen: list[int], known: Any = None) -> estimate.Time:
        """How long a step takes; see `estimate.step_time`."""
        return estimate.step_time(problem, chosen, self.hardware, self.efficiency, known)

    def add(self, name: str, strategy: tuple[Problem, list[int]], pipeline: Pipeline | None = None) -> Plan:
        """One more way."""
        new = Plan(name, self, *strategy, pipeline)
        self._plans.append(new)
        self._plans.sort(key=lambda one: (not one.fits, one.time.step if one.fits else one.memory))
        return new

    def check(self, one: Plan) -> Compiled:
        """What XLA makes of a plan, in another process; it is in the tables from then on."""
        one.compiled = compile_strategy(
            one._problem, one._chosen, self.returned if one.pipeline is None else one.pipeline.returned
        )
        return one.compiled

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self._plans[which]
        for one in self._plans:
            if one.name == which:
                return one
        raise KeyError(f"There is no plan {which!r}; there are {', '.join(one.name for one in self._plans)}.")

    def __len__(self) -> int:
        return len(self._plans)

    def as_dict(self) -> dict[str, Any]:
        """All of it as numbers, texts, lists and dicts, as JSON has them."""
        return {
            "title": self.title,
            "devices": math.prod(self.mesh.values()),
            "mesh": dict(self.mesh),
            "hardware": self.hardware._asdict() | {"peak": dict(self.hardware.peak)},
            "memory": self.memory,
            "plans": [one.as_dict() for one in self._plans],
            "notes": list(self.notes),
            "unit": self.unit,
            "refused": [dict(one._asdict()) for one in self.refused],
        }

    def __repr__(self) -> str:
        return text_table(self._plans, self, self.refused)

    def _repr_html_(self) -> str:
        return html_table(self._plans, self, self.refused)


def rows_of(tensors: list[tuple[str, str, Any]]) -> tuple[int, int, str]:
    """(rows, items, unit) of a batch, see `Plans`."""
    first = next((value for _, kind, value in tensors if kind == "argument" and value.shape), None)
    if first is None:
        return 0, 0, "samples"
    is_text = len(first.shape) == 2 and first.aval.dtype.kind in "iu"
    return first.shape[0], math.prod(first.shape) if is_text else first.shape[0], "tokens" if is_text else "samples"


def notes_on(tensors: list[tuple[str, str, Any]], mesh: dict[str, int]) -> list[str]:
    """Sentences about a batch whose rows cannot be shared out evenly."""
    rows, devices = rows_of(tensors)[0], math.prod(mesh.values())
    if not rows or rows % devices == 0:
        return []
    most = math.gcd(rows, devices)
    fewer, below = max(n for n in range(1, devices) if rows % n == 0), rows // devices * devices
    ways = f"a batch of {below} or {below + devices}" if below else f"a batch of {devices}"
    ways += f", or {fewer} devices" if fewer > 1 else ""
    share = "each device computes all of it" if most == 1 else f"at most {most} devices get rows of their own"
    return [f"The batch has {rows:,} rows, which {devices} devices do not divide: {share}. Take {ways}."]


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
    """Ways to spread a program over devices that need not be there, and what each of them means.

    The program is traced, as GRAPH mode does, and each way is a layout for every value in it: data parallel (each
    device has its rows, and all Parameters), where Parameters are written data parallel with what the optimizer keeps
    cut (ZeRO-1), and all that is kept cut (full sharding), and the fastest within the memory of what the search finds
    and these, "searched", which sends no more than data parallel where that fits. The first ones are compiled by XLA on
    virtual devices in another process, and what they send is counted. A way that there is not has a row with the
    reason.

    Where the network that a step trains has equal blocks, there are pipelines as well, see `nn.PipelineCell`: of as
    many stages as divide blocks and devices, and of at most four parts for each stage, or of as many as a step says.
    The devices of a stage have rows of each part, and rounds in which a stage idles are in the time of a step.

    Args:
        root (Union[Cell, Callable]): What is called: a train step, such as `nn.TrainOneStepCell`, to plan a training.
        batch (Union[Tensor, tuple]): Its arguments, of all devices together; only shapes and types are looked at.
        devices (int): Over how many, at least two. Default: 64.
        mesh (Union[Sequence, Mapping]): Devices along each axis, with names or without, the innermost last.
            Default: None, hosts, and the devices inside each.
        hardware (Union[str, Mapping, Hardware]): A name of `hardware.PRESETS`, or a dict of what `Hardware` has.
            Default: "a100".
        memory (float): GiB of a device. Default: None, what the hardware has.
        check (int): How many of the best XLA is asked about. Default: 3.
        efficiency (float): Share of the peak that products reach. Default: 0.5.
        seconds (float): About how long one search may take. Default: 60.
        progress (bool): Whether a line shows the progress. Default: True.

    Returns:
        Plans, the best first.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument has a value that cannot be: no hardware that is known, a mesh of other devices.
        RuntimeError: If XLA cannot compile what was found.
    """
    chosen = hardware_of(hardware)
    sizes = mesh_of(devices, mesh, chosen)
    arguments = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
    with on_one_device():
        program = program_of(root, *arguments, anew=True)
    limit = chosen.memory if memory is None else memory * _GIB
    plans = Plans(program, sizes, chosen, limit, {"efficiency": efficiency, "seconds": seconds})
    with Wait("plan", quiet=not progress) as wait:

        def show(text):
            wait.what = f"plan, {text}"

        for way in named_strategies(plans, show):
            show(f"planned: {way[0]}")
            plans.refused.append(way) if isinstance(way, Refused) else plans.add(*way)
        weights = functools.partial(weights_of, hardware=chosen)
        show("stages of a pipeline, one search for each number")
        for way in pipelines(root, arguments, devices, weights):
            if isinstance(way, Refused):
                plans.refused.append(way)
                continue
            name = f"{way.stages} stages, {way.parts} parts"
            show(f"planned: {name}")
            plans.add(name, way.strategy, way)
        asked = [one for one in plans if one.fits][:check]
        for number, one in enumerate(asked, 1):
            show(f"XLA check {number} of {len(asked)}: {one.name}")
            plans.check(one)
    return plans
