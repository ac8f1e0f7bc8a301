"""`GradientMonitor`: record the gradients of a training."""

import weakref
from typing import TYPE_CHECKING, Any, Self

from jax.extend.core import ClosedJaxpr

from msnb.core.program import extra_outputs
from msnb.insight.gradients.eager_recorder import Tape
from msnb.insight.gradients.locate import locate
from msnb.insight.gradients.plan import LEVELS, Plan
from msnb.insight.gradients.recording import Recording
from msnb.insight.gradients.rows import trainable
from msnb.train.callback import Callback

if TYPE_CHECKING:  # used only in annotations
    from msnb.common.callback import RunContext
    from msnb.core.program.extra_outputs import Run
    from msnb.core.program.program import Program
    from msnb.insight.gradients.findings import Finding
    from msnb.nn.cell import Cell

_MAX_PENDING_BYTES = 64 << 20  # bytes of step inputs that may wait for their statistics
_plans = weakref.WeakKeyDictionary()  # Program -> {(level, patterns): Plan}


class GradientMonitor(Callback):
    """Records the gradients of every step: a callback of `Model.train`, or a context manager around any loop.

    The statistics of a step are computed while the next one runs. An observed program does not donate the old
    Parameters, so old and new Parameters are in memory at the same time. Outside of the `with` block or of
    `Model.train`, programs run without measurements.

    Args:
        level (str): "parameters" records the gradient of each Parameter, its change in each step, and the origin of the
            first NaN or infinity; "all" records every operator's output and the gradient with respect to it
            as well. Default: "parameters".
        tensors (Union[str, list, tuple]): names, or patterns such as "conv*.weight", of tensors to record with all
            values. The name of a Parameter selects its gradient and its values, and "weight:NAME" only its values. With
            level "all", operators can be selected by scope and name. Default: ().
        keep (int): maximum number of stored steps. If a training is longer, only every second, fourth, ... step is
            stored. Default: 500.
        memory (int): bytes for full tensors. If they need more, only those of every second, fourth, ... step are
            stored. Default: 64 MiB.
        net (Cell): only programs with one of its Parameters are recorded; all if None. Its trainable
            Parameters without a gradient are reported. Default: None.
        locate (bool): if True, the first NaN or infinity is traced back to the operator that produced it. The inputs of
            a step, including its Parameters, then stay in memory while the next steps run, and the step is run again if
            a value is not finite. In PYNATIVE mode the activations stay in memory until they are checked. If False,
            only the Parameter whose gradient is not finite is named. Default: True.

    Raises:
        ValueError: If `level`, `keep` or `memory` is out of range.
        TypeError: If an element of `tensors` is not a str, `net` is not a Cell, or `locate` is not a bool.

    Examples:
        >>> monitor = GradientMonitor()
        >>> model.train(1, dataset, callbacks=monitor)
        >>> monitor                                     # the view
        >>> with GradientMonitor("all") as monitor:     # a loop of one's own
        ...     for x, y in dataset.create_tuple_iterator(num_epochs=1):
        ...         train_step(x, y)
        >>> monitor.findings()
    """

    def __init__(
        self,
        level: str = "parameters",
        tensors: str | list[Any] | tuple[Any, ...] = (),
        keep: int = 500,
        memory: int = 64 << 20,
        net: "Cell | None" = None,
        locate: bool = True,
    ) -> None:
        super().__init__()
        if level not in LEVELS:
            raise ValueError(f"For 'GradientMonitor', 'level' should be one of {', '.join(LEVELS)}, but got {level!r}.")
        tensors = (tensors,) if isinstance(tensors, str) else tuple(tensors)
        if not all(isinstance(t, str) for t in tensors):
            raise TypeError(f"For 'GradientMonitor', 'tensors' should be names, but got {tensors!r}.")
        for name, value, least in (("keep", keep, 2), ("memory", memory, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(
                    f"For 'GradientMonitor', '{name}' should be an int of at least {least}, but got {value!r}."
                )
        if net is not None and not hasattr(net, "trainable_params"):
            raise TypeError(f"For 'GradientMonitor', 'net' should be a Cell, but got {type(net).__name__}.")
        if not isinstance(locate, bool):
            raise TypeError(f"For 'GradientMonitor', 'locate' should be bool, but got {locate!r}.")
        self.level = level
        self.tensors: tuple[Any, ...] = tensors
        self.net: Cell | None = net
        self.locate: bool = locate
        self.room: int = 0  # see `Plan`; for callers that observe a few steps only
        self.recording = Recording(keep, memory, level)
        self._plans = weakref.WeakKeyDictionary()
        self._tape = Tape(self)
        self._on, self._listener = 0, None

    # ------------------------------------------------------------------ on and off
    def start(self) -> Self:
        """Record from the next step on. Return the monitor."""
        self._on += 1
        if self._on == 1:
            extra_outputs.add(self)
            self._listener = self._tape.listen()
        return self

    def stop(self) -> None:
        """Stop recording."""
        self._on -= 1
        if self._on == 0:
            extra_outputs.remove(self)
            self._listener.close()
            if self._listener.complaint:
                self.dropped(self._listener.complaint)
            self._tape.close()
            self.recording.settle()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *err: Any) -> None:
        self.stop()

    def step_end(self, run_context: "RunContext") -> None:
        """End the step of the recording.

        Args:
            run_context (RunContext): Context of the training.
        """
        if self._on:
            self._tape.close()
            self.recording.end_step(run_context.original_args().cur_step_num)

    # ------------------------------------------------------------------ an observer of compiled programs
    def rewrite(self, program: "Program") -> ClosedJaxpr | None:
        """Return the program with its measurements. Return None for a program that is not part of a training step."""
        if program not in self._plans:
            self._plans[program] = self._get_plan(program) if self._includes_program(program) else None
            self._add_plan_to_recording(self._plans[program])
        plan = self._plans[program]
        return plan.jaxpr if plan is not None else None

    def _get_plan(self, program):
        """Return the plan of a program. Monitors with equal options use the same plan, so the program is compiled
        once.
        """
        plans, key = _plans.setdefault(program, {}), (self.level, tuple(self.tensors), self.room)
        if key not in plans:
            plans[key] = Plan(program, *key)
        return plans[key]

    def _includes_program(self, program):
        if self.net is None:
            return True
        own = {id(p) for p in self.net.get_parameters()}
        return any(id(p) in own for p in program.params)

    def _add_plan_to_recording(self, plan):
        recording = self.recording
        if plan is None or plan.jaxpr is None:
            return
        recording.add_rows(plan.rows)
        if self.locate or plan.outside:
            recording.lag = min(recording.lag, max(2, _MAX_PENDING_BYTES // max(plan.retained_bytes, 1)))
        recording.missed = sorted({*recording.missed, *plan.missed})
        recording.in_loops = max(recording.in_loops, plan.in_loops)
        with_backward = plan.has_gradients or plan.differentiates  # False for a program that only runs the optimizer
        if with_backward and (recording.graph is None or len(plan.graph) > len(recording.graph)):
            recording.graph, recording.jaxpr = plan.graph, plan.own
            recording.operators = [
                (place, node.op) for place, node in enumerate(plan.graph.all_nodes()) if node.direction == "forward"
            ]
        with_gradient = {row.name for row in plan.rows if row.kind == "parameter"}
        if with_gradient:
            recording.mode = "GRAPH"
            recording.unread = sorted({*recording.unread, *(with_gradient - plan.first_use.keys())})
        if self.net is not None and with_gradient:
            row_names = {row.name for row in recording.rows("parameter")}
            recording.untrained = [p.name for p in trainable(self.net) if p.name not in row_names]

    def receive(self, program: "Program", run: "Run") -> None:
        """Add the measurements of one run to the recording."""
        plan, inputs = self._plans[program], run.inputs if self.locate else None
        self._tape.exclude_updated(plan.updates)

        def first():
            return locate(program, inputs, plan.rows) if inputs is not None else None

        self.recording.add(plan.collect(run), first)

    def dropped(self, why: str) -> None:
        """Record that observation has failed, because a recording without findings would look like a healthy training.

        Args:
            why (str): A sentence.
        """
        self.recording.problem = why

    # ------------------------------------------------------------------ results
    def findings(self) -> "list[Finding]":
        """Return diagnoses of the training: a list of Finding."""
        return self.recording.findings()

    def __repr__(self) -> str:
        return repr(self.recording)
