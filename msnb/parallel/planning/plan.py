"""`plan`: a program spread over devices that are not there, in several ways that are compared."""

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msnb import context
from msnb.core.compile import program_of
from msnb.core.spreading import on_one_device
from msnb.parallel.auto import follow, returned
from msnb.parallel.layouts import kept_by_optimizers
from msnb.parallel.planning import estimate
from msnb.parallel.planning.bar import Bar
from msnb.parallel.planning.hardware import Hardware, hardware_of
from msnb.parallel.planning.living import kept
from msnb.parallel.planning.meshes import mesh_of, weights_of
from msnb.parallel.planning.pipelines import Pipeline, pipelines
from msnb.parallel.planning.strategies import Refused, named
from msnb.parallel.planning.table import html_table, text_table
from msnb.parallel.planning.verifying import Compiled, compiled
from msnb.parallel.search.choosing import cost_of, dynamic_programming
from msnb.parallel.search.costs import Layout, Machines
from msnb.parallel.search.flat import flat
from msnb.parallel.search.problem import Problem

_GIB = 2.0**30


class Plan:
    """One way to spread a program over devices, and what it means.

    Attributes:
        name (str): What it is called.
        collectives (list[Sent]): What devices send.
        operations (float): Arithmetic of each device.
        memory (float): Bytes that each device keeps: Parameters, what the optimizer keeps, arguments, and what else is
            there at the moment when most is; see `living.kept`.
        fits (bool): Whether that is no more than there is.
        time (Time): Of a step.
        compiled (Compiled): What XLA made of it; None where it was not asked.
        mesh (dict[str, int]): The axes of the mesh; those of a pipeline are "stages" and "rows".
        tensors (list): As those of `Plans`.
        pipeline (Pipeline): In stages; None where there are none.
    """

    def __init__(
        self, name: str, around: "Plans", problem: Problem, chosen: list[int], pipeline: Pipeline | None = None
    ) -> None:
        self.name, self._around, self.pipeline = name, around, pipeline
        self._problem, self._chosen = problem, chosen
        self.mesh: dict[str, int] = problem.machines.sizes
        self.tensors: list[tuple[str, str, Any]] = around.tensors
        self.collectives: list[estimate.Sent] = estimate.communication(problem, chosen)
        known = None
        if pipeline is not None:
            self.tensors = list(_tensors(pipeline.program, problem))
            self.collectives += [one for sent in pipeline.inside.values() for one in sent]
            known = pipeline.known(around.hardware, around.efficiency)
        self.operations: float = estimate.operations(problem, chosen)
        self.memory: float = kept(problem, chosen)
        self.fits: bool = self.memory <= around.memory
        self.time: estimate.Time = around.duration(problem, chosen, known)
        self.compiled: Compiled | None = None

    @property
    def bytes(self) -> float:
        """Bytes that each device sends in a step."""
        return sum(one.bytes for one in self.collectives)

    def by_kind(self) -> dict[tuple[str, tuple[str, ...]], tuple[int, float]]:
        """(how often, bytes of each device) of each kind of communication along the same axes of the mesh."""
        found: dict[Any, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        for one in self.collectives:
            times, size = found[one.kind, one.axes]
            found[one.kind, one.axes] = times + 1, size + one.bytes
        return dict(found)

    def layout(self, name: str) -> tuple[tuple[str, ...], ...]:
        """The axes of the mesh that cut each axis of a Parameter or an argument.

        Args:
            name (str): Its name; arguments are called "argument 0", "argument 1" ...

        Raises:
            ValueError: If there is none.
        """
        return self._lies(self._number(name))

    def _lies(self, number) -> Layout:
        return self._problem.nodes[number][self._chosen[number]].outputs[0]

    def _number(self, name):
        for number, (known, *_) in enumerate(self.tensors):
            if known == name:
                return number
        raise ValueError(
            f"The plan has no tensor {name!r}; there are {', '.join(known for known, *_ in self.tensors)}."
        )

    def why_not(self, name: str, search: bool = False) -> list[dict[str, Any]]:
        """What each layout of a Parameter or an argument would cost.

        Args:
            name (str): Its name.
            search (bool): Whether all the rest is searched anew around each layout. Default: False, it is held as it
                is, so that the value is moved to where it is wanted and back.

        Returns:
            list[dict], for each layout, the cheapest first: "layout", the axes of the mesh for each axis; "chosen",
            whether it is this plan's; "more", the weighted bytes that a device sends beyond this plan's; "held", the
            bytes of the value on each device.
        """
        number, problem = self._number(name), self._problem
        every = self._around.problem if self.pipeline is None else self.pipeline.problem
        now, found = cost_of(problem, self._chosen), []
        for place, choice in enumerate(every.nodes[number]):
            layout = choice.outputs[0]
            if search:
                fixed = every.fixed({number: layout})
                around = self._around
                then = around.search(fixed, around.memory, work=0.01)  # the bytes are asked for
                cost = cost_of(fixed, then)
            else:
                numbers = every.numbers((problem, self._chosen))
                numbers[number] = place
                cost = cost_of(every, numbers)
            own = layout == self._lies(number)
            found.append({"layout": layout, "chosen": own, "more": cost - now, "held": choice.held})
        return sorted(found, key=lambda row: (row["more"], not row["chosen"]))

    def apply(self) -> None:
        """Spread programs of the same graph this way from now on: sets ``device_num`` and AUTO_PARALLEL, which takes
        the plan instead of searching, until the mode is another one. For a pipeline, ``pipeline_stages`` and
        SEMI_AUTO_PARALLEL, which has stages.

        Raises:
            RuntimeError: If the step has no `nn.PipelineCell` that divides a batch as the pipeline does; when such a
                program is called, and this machine does not have the devices.
        """
        devices = self._problem.machines.devices
        if self.pipeline is not None:
            if not self.pipeline.given:
                raise RuntimeError(
                    f"The plan {self.name!r} divides a batch, and the loss of a step is then a sum of "
                    f"{self.pipeline.parts}: wrap the network that returns the loss, nn.PipelineCell(network, "
                    f"{self.pipeline.parts}), and plan the step that trains this."
                )
            context.set_auto_parallel_context(
                parallel_mode=context.ParallelMode.SEMI_AUTO_PARALLEL,
                device_num=devices,
                pipeline_stages=self.pipeline.stages,
                full_batch=True,
            )
            return
        follow(self._problem, self._chosen)
        context.set_auto_parallel_context(
            parallel_mode=context.ParallelMode.AUTO_PARALLEL, device_num=devices, pipeline_stages=1
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as numbers, texts, lists and dicts, as JSON has them."""
        made, piped = self.compiled, self.pipeline
        return {
            "name": self.name,
            "mesh": dict(self.mesh),
            "stages": 1 if piped is None else piped.stages,
            "parts": 1 if piped is None else piped.parts,
            "bubble": 0.0 if piped is None else piped.bubble,
            "fits": self.fits,
            "seconds": self.time.step,
            "computing": self.time.computing,
            "sending": self.time.sending,
            "operations": self.operations,
            "memory": self.memory,
            "memory_by_kind": self._memory_by_kind(),
            "bytes": self.bytes,
            "collectives": [
                {"kind": kind, "axes": list(axes), "times": times, "bytes": size}
                for (kind, axes), (times, size) in sorted(self.by_kind().items())
            ],
            "tensors": [
                {
                    "name": name,
                    "kind": kind,
                    "shape": list(value.shape),
                    "dtype": str(value.aval.dtype),
                    "layout": [list(axes) for axes in self._lies(number)],
                    "bytes": value.bytes / self._problem.machines.parts(self._lies(number)),
                }
                for number, (name, kind, value) in enumerate(self.tensors)
            ],
            "compiled": None
            if made is None
            else {
                "bytes": made.bytes,
                "memory": made.memory,
                "operations": made.operations,
                "seconds": made.seconds,
                "collectives": [dict(one._asdict()) for one in made.collectives],
            },
        }

    def _memory_by_kind(self):
        sizes: dict[str, float] = defaultdict(float)
        for number, (_, kind, value) in enumerate(self.tensors):
            sizes[kind] += value.bytes / self._problem.machines.parts(self._lies(number))
        sizes["results"] = self.memory - sum(sizes.values())
        return dict(sizes)

    def __repr__(self) -> str:
        around = self._around
        return text_table([self], around) + "\n" + "\n".join(self._lines())

    def _lines(self):
        for (kind, axes), (times, size) in sorted(self.by_kind().items(), key=lambda item: -item[1][1]):
            yield f"{times:6} x {kind:<18} along {', '.join(axes):<16} {size / 1e6:12,.2f} MB"


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
    """

    def __init__(self, program: Any, mesh: dict[str, int], hardware: Hardware, memory: float, told: dict[str, Any]):
        self.mesh, self.hardware, self.memory = mesh, hardware, memory
        self.efficiency: float = told["efficiency"]
        self.seconds: float = told["seconds"]
        self.title: str = program.title
        self.operation: float = hardware.inside / (self.efficiency * hardware.operations("float32"))
        self.written: float = hardware.inside / hardware.memory_bandwidth
        machines = Machines(mesh, weights_of(mesh, hardware))
        self.returned: dict[int, int] = returned(program)
        self.problem: Problem = Problem(flat(program.jaxpr), machines, self.returned)
        self.tensors: list[tuple[str, str, Any]] = list(_tensors(program, self.problem))
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
        one.compiled = compiled(
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
            "refused": [dict(one._asdict()) for one in self.refused],
        }

    def __repr__(self) -> str:
        return text_table(self._plans, self, self.refused)

    def _repr_html_(self) -> str:
        return html_table(self._plans, self, self.refused)


def plan(
    root: Any,
    batch: Any,
    devices: int = 64,
    mesh: Sequence[int] | Mapping[str, int] | None = None,
    hardware: str | Mapping[str, Any] | Hardware = "a100",
    memory: float | None = None,
    *,
    check: int = 3,
    efficiency: float = 0.5,
    seconds: float = 60.0,
    progress: bool = True,
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
        devices (int): Over how many. Default: 64.
        mesh (Union[Sequence, Mapping]): Devices along each axis, with names or without, the innermost last.
            Default: None, hosts, and the devices inside each.
        hardware (Union[str, Mapping, Hardware]): A name of `hardware.PRESETS`, or a dict of what `Hardware` has.
            Default: "a100".
        memory (float): GiB of a device. Default: None, what the hardware has.
        check (int): How many of the best XLA is asked about. Default: 3.
        efficiency (float): Share of the peak that products reach. Default: 0.5.
        seconds (float): About how long one search may take. Default: 60.
        progress (bool): Whether a bar is shown. Default: True.

    Returns:
        Plans, the best first.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the hardware is not known, or the mesh does not have so many devices.
        RuntimeError: If XLA cannot compile what was found.
    """
    chosen = hardware_of(hardware)
    sizes = mesh_of(devices, mesh, chosen)
    arguments = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
    with on_one_device():
        program = program_of(root, *arguments, anew=True)
    limit = chosen.memory if memory is None else memory * _GIB
    plans = Plans(program, sizes, chosen, limit, {"efficiency": efficiency, "seconds": seconds})
    with Bar(progress) as said:
        for way in named(plans):
            said(f"planned: {way[0]}")
            plans.refused.append(way) if isinstance(way, Refused) else plans.add(*way)
        weights = functools.partial(weights_of, hardware=chosen)
        for way in pipelines(root, arguments, devices, weights):
            if isinstance(way, Refused):
                plans.refused.append(way)
                continue
            name = f"{way.stages} stages, {way.parts} parts"
            said(f"planned: {name}")
            plans.add(name, way.strategy, way)
        for one in [one for one in plans if one.fits][:check]:
            said(f"XLA compiles: {one.name}")
            plans.check(one)
    return plans


def _tensors(program, problem):
    """(name, kind, value) of each input."""
    written = {id(p): p for p in program.written}
    kept = kept_by_optimizers(program)
    count = 0
    for number, value in enumerate(problem.graph.inputs):
        if number < len(program.params):
            param = program.params[number]
            kind = "constant" if id(param) not in written else "state" if param.name in kept else "parameter"
            yield param.name, kind, value
        elif program.random and number == len(program.params):
            yield "random", "constant", value
        else:
            yield f"argument {count}", "argument", value
            count += 1
