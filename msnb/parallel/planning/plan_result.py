"""`Plan`: one way to spread a program over devices, with what it means."""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from msnb import context
from msnb.parallel.cost_model.transfer_cost import Layout
from msnb.parallel.modes.auto import apply_plan
from msnb.parallel.modes.layout_report import optimizer_states
from msnb.parallel.planning import estimate
from msnb.parallel.planning.liveness import peak_bytes
from msnb.parallel.planning.pipeline_plans import Pipeline
from msnb.parallel.planning.table import text_table
from msnb.parallel.planning.verify import Compiled
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import cost_of


class Plan:
    """One way to spread a program over devices, and what it means.

    Attributes:
        name (str): What it is called.
        collectives (list[Sent]): What devices send.
        operations (float): Arithmetic of each device.
        memory (float): Bytes that each device keeps: Parameters, what the optimizer keeps, arguments, and what else is
            there at the moment when most is; see `living.peak_bytes`.
        fits (bool): Whether that is no more than there is.
        time (Time): Of a step.
        compiled (Compiled): What XLA made of it; None where it was not asked.
        mesh (dict[str, int]): The axes of the mesh; those of a pipeline are "stages" and "rows".
        tensors (list): As those of `Plans`.
        pipeline (Pipeline): In stages; None where there are none.
    """

    def __init__(
        self, name: str, around: Any, problem: Problem, chosen: list[int], pipeline: Pipeline | None = None
    ) -> None:
        self.name, self._around, self.pipeline = name, around, pipeline
        self._problem, self._chosen = problem, chosen
        self.mesh: dict[str, int] = problem.cost_model.sizes
        self.tensors: list[tuple[str, str, Any]] = around.tensors
        self.collectives: list[estimate.Sent] = estimate.communication(problem, chosen)
        known = None
        if pipeline is not None:
            self.tensors = list(tensors_of(pipeline.program, problem))
            self.collectives += [one for sent in pipeline.inside.values() for one in sent]
            known = pipeline.loop_times(around.hardware, around.efficiency)
        self.operations: float = estimate.operations(problem, chosen)
        self.memory: float = peak_bytes(problem, chosen)
        self.fits: bool = self.memory <= around.memory
        self.time: estimate.Time = around.duration(problem, chosen, known)
        self.compiled: Compiled | None = None

    @property
    def bytes(self) -> float:
        """Bytes that each device sends in a step."""
        return sum(one.bytes for one in self.collectives)

    @property
    def rate(self) -> float:
        """Tokens or samples a second, by `Plans.unit`; 0 where the step has no batch."""
        return self._around.items / self.time.step if self.time.step else 0.0

    @property
    def utilisation(self) -> float:
        """The model's arithmetic as a share of what all devices could do in the time of a step (MFU)."""
        devices = math.prod(self.mesh.values())
        return self._around.ideal / (devices * self.time.step) if self.time.step else 0.0

    @property
    def device_hours(self) -> float:
        """Hours of devices that 1,000 steps take."""
        return 1000 * math.prod(self.mesh.values()) * self.time.step / 3600

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
                fixed = every.fix_inputs({number: layout})
                around = self._around
                then = around.search(fixed, around.memory, work=0.01)  # the bytes are asked for
                cost = cost_of(fixed, then)
            else:
                numbers = every.choice_indices((problem, self._chosen))
                numbers[number] = place
                cost = cost_of(every, numbers)
            own = layout == self._lies(number)
            found.append({"layout": layout, "chosen": own, "more": cost - now, "held": choice.stored_bytes})
        return sorted(found, key=lambda row: (row["more"], not row["chosen"]))

    def apply(self) -> None:
        """Spread programs of the same graph this way from now on: sets ``device_num`` and AUTO_PARALLEL, which takes
        the plan instead of searching, until the mode is another one. For a pipeline, ``pipeline_stages`` and
        SEMI_AUTO_PARALLEL, which has stages.

        Raises:
            RuntimeError: If the step has no `nn.PipelineCell` that divides a batch as the pipeline does; when such a
                program is called, and this machine does not have the devices.
        """
        devices = self._problem.cost_model.devices
        if self.pipeline is not None:
            if not self.pipeline.has_pipeline_cell:
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
        apply_plan(self._problem, self._chosen)
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
            "rate": self.rate,
            "utilisation": self.utilisation,
            "device_hours": self.device_hours,
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
                    "bytes": value.bytes / self._problem.cost_model.count_shards(self._lies(number)),
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
            sizes[kind] += value.bytes / self._problem.cost_model.count_shards(self._lies(number))
        sizes["results"] = self.memory - sum(sizes.values())
        return dict(sizes)

    def __repr__(self) -> str:
        around = self._around
        return text_table([self], around) + "\n" + "\n".join(self._lines())

    def _lines(self):
        for (kind, axes), (times, size) in sorted(self.by_kind().items(), key=lambda item: -item[1][1]):
            yield f"{times:6} x {kind:<18} along {', '.join(axes):<16} {size / 1e6:12,.2f} MB"


def tensors_of(program: Any, problem: Problem) -> Iterator[tuple[str, str, Any]]:
    """(name, kind, value) of each input of a program, see `Plans.tensors`."""
    written = {id(p): p for p in program.written}
    states = optimizer_states(program)
    count = 0
    for number, value in enumerate(problem.graph.inputs):
        if number < len(program.params):
            param = program.params[number]
            kind = "constant" if id(param) not in written else "state" if param.name in states else "parameter"
            yield param.name, kind, value
        elif program.random and number == len(program.params):
            yield "random", "constant", value
        else:
            yield f"argument {count}", "argument", value
            count += 1
