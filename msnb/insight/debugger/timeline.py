"""Record the inputs of the steps of a training, so that the values of any step can be computed later.

A step is recorded as the inputs of its program: Parameters, batch and random number. Arrays that several steps share
are stored once. A value is computed when it is requested, by replay of that step.

In memory, only the last steps are stored. If `every` is n, every n-th step is recorded. The other steps run the
unchanged program at full speed.

On disk, the batch of every step is stored, but the Parameters only of every 50th step. The Parameters of other steps
are recomputed: the steps since the last stored Parameters are replayed. A replay of a step in PYNATIVE mode rounds
differently, so its Parameters are always stored.
"""

import dataclasses
import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import jax
import numpy as np

from msnb import context, log
from msnb.core.program import extra_outputs
from msnb.core.program.program_cache import find
from msnb.core.state import events, trace_state
from msnb.core.tensor.tensor import Tensor, box
from msnb.formats import safetensors
from msnb.insight.debugger.replay import Replay, Round, as_inputs
from msnb.insight.debugger.selection import select_nodes
from msnb.ir.api import name_of, of_program
from msnb.nn.cell import Cell
from msnb.nn.optim import Optimizer

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_recorded: list[Any] = []  # weak references to timelines, in the order in which their recording began
_CHECKPOINT_EVERY = 50  # the Parameters of every 50th step are written to disk


@dataclasses.dataclass
class _Step:
    """One recorded step.

    Attributes:
        number (int): number of the step, from 1.
        program (Program): the program that ran.
        call (int): number of the run among the calls of the program.
        inputs (Union[list, None]): inputs of the program; None if they are on disk.
    """

    number: int
    program: Any
    call: int
    inputs: list[Any] | None


class Timeline:
    """The recorded steps of a training; see `msnb.timeline`.

    Attributes:
        steps (list[int]): numbers of the steps whose values can be computed, from 1.
        n_dropped (int): number of recorded steps that were dropped because `memory` is full.
        problem (str): the reason why the recording has ended early; "" if it has not.
    """

    def __init__(self, net: Any, every: int, memory: int, disk: Path | None) -> None:
        self.n_dropped: int = 0
        self._net, self._every, self._memory, self._disk = net, every, memory, disk
        self._own = {id(p) for p in net.get_parameters()}
        self._records: dict[int, _Step] = {}
        # id of an array -> array, bytes, number of steps that have it
        self._sizes: dict[int, tuple[Any, int, int]] = {}
        self._nbytes = self._count = 0
        self._graphs: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._replays: dict[int, Replay] = {}
        self._listener: Any = None
        self._calls: list[Any] = []  # (call, stored Parameters or None) of the running calls
        self._pending: Any = None  # (program, inputs, call) of a gradient whose update has not run yet
        self._pending_call: Any = None  # (call, Parameters) in PYNATIVE mode whose update has not run yet
        self._has_gradient: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._notes: set[str] = set()  # sentences that were logged
        self._arrays_after: list[Any] = []  # arrays of the Parameters after the last step
        self.problem: str = ""

    # ------------------------------------------------------------------ recording
    def __enter__(self) -> Self:
        if self._disk is not None:
            self._disk.mkdir(parents=True, exist_ok=True)
        _recorded.append(weakref.ref(self, _recorded.remove))
        extra_outputs.add(self)
        self._listener = events.listen(entered=self._on_call_begin, left=self._on_call_end, name="timeline", here=True)
        return self

    def __exit__(self, *error: Any) -> None:
        extra_outputs.remove(self)
        self._listener.close()
        if not self._count and not any(error):
            log.warning("%s", f"timeline: no step of {name_of(self._net)} has run; nothing was recorded.")

    def rewrite(self, program: "Program") -> Any:
        """Return the unchanged jaxpr if the program trains the network, so its inputs are recorded. Otherwise return
        None.
        """
        reads = any(id(p) in self._own for p in program.params)
        self._has_gradient[program] = _takes_gradient(program)
        return program.jaxpr if reads and (self._updates_network(program) or self._has_gradient[program]) else None

    def wants(self, program: "Program") -> bool:
        """Count the step that begins, and return True if it is recorded."""
        if self._runs_in_pynative_call():
            # The PYNATIVE call is the step. True here keeps the program from donating Parameters that the record has.
            return self._should_record_step(self._count + 1)
        if not self._updates_network(program):
            return self._should_record_step(self._count + 1)
        self._count += 1
        return self._should_record_step(self._count)

    def _should_record_step(self, number):
        return self._disk is not None or (number - 1) % self._every == 0

    def _runs_in_pynative_call(self):
        return bool(self._calls) and self._calls[0][1] is not None

    def _updates_network(self, program):
        return any(id(p) in self._own for p in program.written)

    def receive(self, program: "Program", run: extra_outputs.Run) -> None:
        """Record the inputs of one run.

        A step ends when a program updates the network. If gradient and optimizer are separate programs, the program
        of the gradient is recorded.
        """
        if self._runs_in_pynative_call():
            return
        if not self._updates_network(program):
            self._pending = program, run.inputs, run.call
            return
        pending, self._pending = self._pending, None
        if not self._should_record_step(self._count):
            return  # another observer requested this run
        if pending is not None and not self._has_gradient[program]:
            self._record_inputs(*pending)
        else:
            self._record_inputs(program, run.inputs, run.call)
            new = zip(program.written, run.outputs[program.n_results :], strict=True)
            after = {id(p): array for p, array in zip(program.params, run.inputs, strict=False)}
            after.update((id(p), array) for p, array in new)
            self._arrays_after = [after[id(p)] for p in program.params]

    def dropped(self, why: str) -> None:
        """Store the reason why the recording has ended."""
        self.problem = why

    def _on_call_begin(self, call):
        """Record the Parameters before an outermost call in PYNATIVE mode."""
        if call.around is None and not call.traced and isinstance(call.net, Cell):
            self._calls.append((call, self._snapshot_parameters(call.net)))

    def _snapshot_parameters(self, net):
        if context.get_context("mode") != context.PYNATIVE_MODE:
            return None
        parameters = list(net.get_parameters())
        if not any(id(p) in self._own for p in parameters):
            return None
        return {id(p): p._get_stored_array() for p in parameters}

    def _on_call_end(self, call):
        if not self._calls or self._calls[-1][0] is not call:
            return
        _, before = self._calls.pop()
        if before is None or call.error is not None:
            return
        changed = any(
            p._get_stored_array() is not before[id(p)] for p in call.net.get_parameters() if id(p) in self._own
        )
        if not changed or trace_state.thread.recording:  # the optimizer runs in a later call
            self._pending_call = call, before
            return
        pending, self._pending_call = self._pending_call, None
        self._count += 1
        if not self._should_record_step(self._count):
            return
        if pending is not None and isinstance(call.net, Optimizer):
            self._warn_once(
                f"the gradient of {name_of(pending[0].net)} is taken outside of a Cell, so in PYNATIVE mode its steps "
                "have forward values only. nn.TrainOneStepCell, or GRAPH mode, has gradients and updates, too."
            )
            call, before = pending
        self._record_pynative_call(call, before)

    def _record_pynative_call(self, call, before):
        """Record a step that ran in PYNATIVE mode. A replay computes the values of this step in GRAPH mode."""
        graph_call = call.net._graph_call(call.args, call.kwargs)
        program, arrays, _ = find(call.net, *graph_call, for_inspection=True)
        number = [0] if program.random else []
        if program.random:
            self._warn_once(
                f"{name_of(call.net)} draws random numbers in PYNATIVE mode. A replay draws others, so values behind "
                "its Dropout differ from those of the training; in GRAPH mode they are equal."
            )
        stored = [before[id(p)] if id(p) in before else p._get_stored_array() for p in program.params]
        self._record_inputs(program, [*stored, *number, *arrays], program.next_call, is_exact=False)

    def _warn_once(self, text):
        if text not in self._notes:
            self._notes.add(text)
            log.warning("%s", f"timeline: {text}")

    def _record_inputs(self, program, inputs, call, is_exact=True):
        """Record the inputs of a step. `is_exact` is True if a replay computes the same bits as the training."""
        number = self._count
        if self._disk is not None:
            self._write_step(number, program, inputs, call, is_exact)
            return
        inputs = as_inputs(program, inputs)
        self._records[number] = _Step(number, program, call, inputs)
        for array in inputs:
            _, nbytes, users = self._sizes.get(id(array), (array, array.nbytes, 0))
            self._nbytes += nbytes if not users else 0
            self._sizes[id(array)] = array, nbytes, users + 1
        while self._nbytes > self._memory and len(self._records) > 1:
            self._drop_oldest_step()

    def _drop_oldest_step(self):
        number = next(iter(self._records))
        for array in self._records.pop(number).inputs or ():
            kept, nbytes, users = self._sizes[id(array)]
            if users == 1:
                del self._sizes[id(array)]
                self._nbytes -= nbytes
            else:
                self._sizes[id(array)] = kept, nbytes, users - 1
        self._replays.pop(number, None)
        self.n_dropped += 1

    # ------------------------------------------------------------------ on disk
    def _write_step(self, number, program, inputs, call, is_exact):
        """Write the batch of a step to disk.

        The Parameters are written in every `_CHECKPOINT_EVERY`-th step, and when a replay of the previous step
        would not compute them.
        """
        n_params = len(program.params)
        inputs = as_inputs(program, inputs)
        rest = {str(index): np.asarray(array) for index, array in enumerate(inputs[n_params:])}
        safetensors.write(self._disk / f"step-{number:06}.safetensors", rest)
        # a replay of this program computes the next Parameters only if the program updates them itself
        is_alone = self._updates_network(program)
        if (
            (number - 1) % _CHECKPOINT_EVERY == 0
            or not is_alone
            or not is_exact
            or not self._are_parameters_unchanged(inputs[:n_params])
            or self._get_previous_program(number) is not program
        ):
            stored = {str(index): np.asarray(array) for index, array in enumerate(inputs[:n_params])}
            safetensors.write(self._disk / f"parameters-{number:06}.safetensors", stored)
        self._records[number] = _Step(number, program, call, None)

    def _are_parameters_unchanged(self, arrays):
        """Return True if the Parameters are the arrays that the previous step returned: no other code changed them."""
        after = self._arrays_after
        return len(arrays) == len(after) and all(one is other for one, other in zip(arrays, after, strict=True))

    def _get_previous_program(self, number):
        before = self._records.get(number - 1)
        return None if before is None else before.program

    def _read_inputs(self, number):
        """Read the inputs of a step. Parameters are read from the last file that is not after this step. The steps
        since then are replayed.
        """
        start = max(at for at in map(_parse_step_number, self._disk.glob("parameters-*.safetensors")) if at <= number)
        program = self._records[start].program
        params = _read_arrays(self._disk / f"parameters-{start:06}.safetensors")
        position = {id(p): index for index, p in enumerate(program.params)}
        for step in range(start, number):
            inputs = [*params, *_read_arrays(self._disk / f"step-{step:06}.safetensors")]
            new = Replay(program, self.graph(program), inputs, self._records[step].call).updates()
            for parameter, array in zip(program.written, new, strict=True):
                if id(parameter) in position:
                    params[position[id(parameter)]] = array
        return [*params, *_read_arrays(self._disk / f"step-{number:06}.safetensors")]

    # ------------------------------------------------------------------ reading
    @property
    def steps(self) -> list[int]:
        """Numbers of the steps whose values can be computed."""
        numbers = list(self._records)
        return numbers if self._disk is None else numbers[:: self._every]

    def graph(self, program: "Program | None" = None) -> Any:
        """Return the graph of a program of the training, by default of the program of the last step."""
        program = program or self._records[self.steps[-1]].program
        if program not in self._graphs:
            self._graphs[program] = of_program(program, program.name)
        return self._graphs[program]

    def program_of(self, step: int) -> "Program":
        """Return the program of a recorded step."""
        return self._records[step].program

    def replay(self, step: int | None = None) -> Replay:
        """Return the replay of a step.

        Args:
            step (int): number of the step, from 1. Default: None, the last one.

        Raises:
            ValueError: If the step was not recorded, or was dropped.
        """
        if not self._records:
            raise ValueError("The timeline is empty: no training step has run inside its `with` block.")
        step = self.steps[-1] if step is None else step
        if step not in self._records:
            hint = (
                f" {self.n_dropped} earlier ones were dropped; `memory=` or `disk=` keeps more."
                if self.n_dropped
                else ""
            )
            raise ValueError(f"Step {step} is not in the timeline, which has {_format_steps(self.steps)}.{hint}")
        if step not in self._replays:
            record = self._records[step]
            inputs = record.inputs if record.inputs is not None else self._read_inputs(step)
            if any(getattr(array, "is_deleted", bool)() for array in inputs):
                raise ValueError(
                    f"Step {step} can't be computed again: another program has overwritten its Parameters. "
                    "A timeline with 'disk=' stores them."
                )
            if len(self._replays) >= 8:
                self._replays.pop(next(iter(self._replays)))
            self._replays[step] = Replay(record.program, self.graph(record.program), inputs, record.call)
        return self._replays[step]

    def value(self, node: Any, step: int | None = None, round: Round | None = None, kind: str = "output") -> Tensor:
        """Return the main result of a node in one step.

        Args:
            node (Union[str, int, CNode]): a query that selects one node, such as ``"op:ReLU line:12"``.
            step (int): number of the step. Default: None, the last one.
            round (Union[int, tuple[int]]): iteration of the loops around the node. Default: None, the last one.
            kind (str): ``"output"``, or ``"gradient"`` with respect to the output. Default: "output".

        Returns:
            Tensor.

        Raises:
            ValueError: If the step is not recorded, no node matches, or the value can't be read.
        """
        replayed = self.replay(step)
        return box(replayed.value(select_nodes(replayed.graph, node)[0], round=round, kind=kind))

    def losses(self) -> dict[int, float]:
        """Return {number of a step: its first result}, for steps whose first result is a scalar."""
        return {
            step: float(results[0])
            for step in self.steps
            if (results := self.replay(step).results) and results[0].ndim == 0
        }

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in memory."""
        return self._nbytes

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        if not self._records:
            return f"Timeline({name_of(self._net)}: no steps)"
        where = f"in {self._disk}" if self._disk is not None else f"{self._nbytes / 2**20:.1f} MiB"
        return f"Timeline({name_of(self._net)}: steps {self.steps[0]} to {self.steps[-1]}, {where})"


def timeline_of(parameter: Any = None) -> Timeline | None:
    """Return the latest timeline that has recorded a Parameter, given as object or name; None if there is none.

    Without a Parameter, return the latest timeline with a step.
    """
    for reference in reversed(_recorded):
        recorded = reference()
        if recorded is not None and len(recorded):
            if parameter is None or any(
                p is parameter or p.name == parameter for p in recorded.program_of(recorded.steps[-1]).params
            ):
                return recorded
    return None


def _takes_gradient(program):
    return any("transpose(" in str(eqn.source_info.name_stack) for eqn in program.jaxpr.jaxpr.eqns)


def parse_size(size: str | int) -> int:
    """Convert a size to bytes. It is an int, or a text such as ``"256MB"``.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", size.upper()) if isinstance(size, str) else None
    if match is None or match[2] not in _UNITS or not float(match[1]):
        raise ValueError(f"For 'timeline', 'memory' should be a size such as '256MB' or 1 << 28, but got {size!r}.")
    return int(float(match[1]) * _UNITS[match[2]])


def _format_steps(steps):
    """Return "steps 1 to 7" for consecutive steps, else "steps 1, 3, 5, 7"; of many, the first and the last."""
    if steps[-1] - steps[0] == len(steps) - 1:
        return f"steps {steps[0]} to {steps[-1]}"
    shown = [*map(str, steps)] if len(steps) <= 8 else [*map(str, steps[:4]), "…", str(steps[-1])]
    return f"steps {', '.join(shown)}".replace(", …,", " …")


def _parse_step_number(path):
    return int(re.findall(r"\d+", path.name)[-1])


def _read_arrays(path):
    file: Mapping[str, Any] = safetensors.read(path)
    return [jax.numpy.asarray(file[str(index)]) for index in range(len(file))]
