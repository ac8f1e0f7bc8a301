"""`Plan`: one way to shard a program over devices, and its predicted costs."""

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
    """One way to shard a program over devices, and its predicted costs.

    Attributes:
        name (str): Name of the strategy.
        collectives (list[Sent]): Predicted communication.
        operations (float): Number of arithmetic operations of each device.
        memory (float): Peak bytes of each device: Parameters, optimizer states, arguments and intermediate values, see
            `liveness.peak_bytes`.
        fits (bool): True if `memory` fits into the memory of a device.
        time (Time): Predicted times of a step.
        compiled (Compiled): Results of compilation by XLA; None if it was not compiled.
        mesh (dict[str, int]): The axes of the mesh; those of a pipeline are "stages" and "rows".
        tensors (list): (name, kind, value) of each input of the program, see `Plans`.
        pipeline (Pipeline): The stages; None without a pipeline.
    """

    def __init__(
        self, name: str, owner: Any, problem: Problem, chosen: list[int], pipeline: Pipeline | None = None
    ) -> None:
        self.name, self._owner, self.pipeline = name, owner, pipeline
        self._problem, self._chosen = problem, chosen
        self.mesh: dict[str, int] = problem.cost_model.sizes
        self.tensors: list[tuple[str, str, Any]] = owner.tensors
        self.collectives: list[estimate.Sent] = estimate.communication(problem, chosen)
        loop_times = None
        if pipeline is not None:
            self.tensors = list(tensors_of(pipeline.program, problem))
            self.collectives += [transfer for transfers in pipeline.inside.values() for transfer in transfers]
            loop_times = pipeline.loop_times(owner.hardware, owner.efficiency)
        self.operations: float = estimate.operations(problem, chosen)
        self.memory: float = peak_bytes(problem, chosen)
        self.fits: bool = self.memory <= owner.memory
        self.time: estimate.Time = owner.duration(problem, chosen, loop_times)
        self.compiled: Compiled | None = None

    @property
    def bytes(self) -> float:
        """Bytes that each device sends in a step."""
        return sum(transfer.bytes for transfer in self.collectives)

    @property
    def rate(self) -> float:
        """Tokens or samples per second, by `Plans.unit`; 0 if the step has no batch."""
        return self._owner.items / self.time.step if self.time.step else 0.0

    @property
    def utilisation(self) -> float:
        """Model FLOPs utilisation (MFU): the model's arithmetic as a fraction of the peak of all devices."""
        devices = math.prod(self.mesh.values())
        return self._owner.ideal / (devices * self.time.step) if self.time.step else 0.0

    @property
    def device_hours(self) -> float:
        """Device hours of 1,000 steps."""
        return 1000 * math.prod(self.mesh.values()) * self.time.step / 3600

    def by_kind(self) -> dict[tuple[str, tuple[str, ...]], tuple[int, float]]:
        """Return {(kind of communication, mesh axes): (number of operations, bytes that each device sends)}."""
        totals: dict[Any, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        for transfer in self.collectives:
            count, size = totals[transfer.kind, transfer.axes]
            totals[transfer.kind, transfer.axes] = count + 1, size + transfer.bytes
        return dict(totals)

    def layout(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return the mesh axes that shard each axis of a Parameter or an argument.

        Args:
            name (str): Name of the Parameter; arguments are called "argument 0", "argument 1" ...

        Raises:
            ValueError: If there is no such tensor.
        """
        return self._get_layout(self._find_tensor_index(name))

    def _get_layout(self, number) -> Layout:
        return self._problem.nodes[number][self._chosen[number]].outputs[0]

    def _find_tensor_index(self, name):
        for number, (tensor_name, *_) in enumerate(self.tensors):
            if tensor_name == name:
                return number
        raise ValueError(
            f"The plan has no tensor {name!r}; there are {', '.join(tensor_name for tensor_name, *_ in self.tensors)}."
        )

    def why_not(self, name: str, search: bool = False) -> list[dict[str, Any]]:
        """Return the cost of each layout of a Parameter or an argument.

        Args:
            name (str): Name of the Parameter or argument.
            search (bool): True to search all other layouts again for each layout. Default: False, the other layouts are
                fixed, and the value is resharded for its readers.

        Returns:
            list[dict], one for each layout, the cheapest first: "layout", the mesh axes of each axis; "chosen", True
            for the layout of this plan; "more", the weighted bytes that a device sends in addition to those of this
            plan; "held", the bytes of the value on each device.
        """
        number, problem = self._find_tensor_index(name), self._problem
        alternatives = self._owner.problem if self.pipeline is None else self.pipeline.problem
        current_cost, rows = cost_of(problem, self._chosen), []
        for index, choice in enumerate(alternatives.nodes[number]):
            layout = choice.outputs[0]
            if search:
                fixed = alternatives.fix_inputs({number: layout})
                owner = self._owner
                # The result counts bytes sent, so the search gives computation a low weight.
                solution = owner.search(fixed, owner.memory, work=0.01)
                cost = cost_of(fixed, solution)
            else:
                numbers = alternatives.choice_indices((problem, self._chosen))
                numbers[number] = index
                cost = cost_of(alternatives, numbers)
            is_chosen = layout == self._get_layout(number)
            rows.append(
                {"layout": layout, "chosen": is_chosen, "more": cost - current_cost, "held": choice.stored_bytes}
            )
        return sorted(rows, key=lambda row: (row["more"], not row["chosen"]))

    def apply(self) -> None:
        """Shard programs with the same graph by this plan from now on.

        Sets ``device_num`` and AUTO_PARALLEL, which uses the plan instead of a search until the mode changes. For a
        pipeline, sets ``pipeline_stages`` and SEMI_AUTO_PARALLEL, which supports stages.

        Raises:
            RuntimeError: If the step has no `nn.PipelineCell` that divides a batch as the pipeline does. A call of such
                a program raises it if this machine does not have the devices.
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
        """Return the plan as numbers, strings, lists and dicts, for JSON."""
        compiled, pipeline = self.compiled, self.pipeline
        return {
            "name": self.name,
            "mesh": dict(self.mesh),
            "stages": 1 if pipeline is None else pipeline.stages,
            "parts": 1 if pipeline is None else pipeline.parts,
            "bubble": 0.0 if pipeline is None else pipeline.bubble,
            "fits": self.fits,
            "seconds": self.time.step,
            "computing": self.time.computing,
            "sending": self.time.sending,
            "rate": self.rate,
            "utilisation": self.utilisation,
            "device_hours": self.device_hours,
            "operations": self.operations,
            "memory": self.memory,
            "memory_by_kind": self._sum_memory_by_kind(),
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
                    "layout": [list(axes) for axes in self._get_layout(number)],
                    "bytes": value.bytes / self._problem.cost_model.count_shards(self._get_layout(number)),
                }
                for number, (name, kind, value) in enumerate(self.tensors)
            ],
            "compiled": None
            if compiled is None
            else {
                "bytes": compiled.bytes,
                "memory": compiled.memory,
                "operations": compiled.operations,
                "seconds": compiled.seconds,
                "collectives": [dict(one._asdict()) for one in compiled.collectives],
            },
        }

    def _sum_memory_by_kind(self):
        sizes: dict[str, float] = defaultdict(float)
        for number, (_, kind, value) in enumerate(self.tensors):
            sizes[kind] += value.bytes / self._problem.cost_model.count_shards(self._get_layout(number))
        sizes["results"] = self.memory - sum(sizes.values())
        return dict(sizes)

    def __repr__(self) -> str:
        owner = self._owner
        return text_table([self], owner) + "\n" + "\n".join(self._format_collectives())

    def _format_collectives(self):
        for (kind, axes), (times, size) in sorted(self.by_kind().items(), key=lambda item: -item[1][1]):
            yield f"{times:6} x {kind:<18} along {', '.join(axes):<16} {size / 1e6:12,.2f} MB"


def tensors_of(program: Any, problem: Problem) -> Iterator[tuple[str, str, Any]]:
    """Yield (name, kind, value) of each input of a program, see `Plans.tensors`."""
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
