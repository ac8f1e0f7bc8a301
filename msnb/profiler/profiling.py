"""`Profiler`: measures a program from its construction to the call of `analyse()`."""

import enum
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self

from msnb import log
from msnb._util.atomic_file import writing
from msnb.insight.profile import Profile, Recorder, machine
from msnb.ir.source import show
from msnb.profiler.schedule import ProfilerAction

if TYPE_CHECKING:  # used only in annotations
    from msnb.nn.cell import Cell

_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
INIT_OP_NAME = "Default/InitDataSetQueue"


class ProfileOption(enum.Enum):
    """Names of the quantities that `Profiler.profile` counts."""

    trainable_parameters = 0


class Profiler:
    """Measures everything that runs between its construction and `analyse`: steps, operators, Cells, kernels, memory,
    the dataset.

    Args:
        output_path (str): Folder for the files of `analyse`: ``timeline.json`` (opens in https://ui.perfetto.dev and
            chrome://tracing), ``operators.csv``, ``cells.csv`` and ``profile.txt``. Default: None, nothing is written.
        start_profile (bool): True to begin at construction; otherwise call `start`. Default: True.
        steps (int): Number of steps whose kernels are traced; further steps are only timed. Default: 30.
        schedule (Callable): Maps the number of a step to its action, see `profiler.schedule`; `step()` is then called
            between steps. Default: None, all steps are measured.
        on_trace_ready (Callable): Called with this object after the last step of a round of the schedule, and at the
            end. Default: None.
        kwargs (dict): Arguments of MindSpore for other devices (``optypes_not_deal``, ``ascend_job_id``,
            ``profiler_level``, ...), which have no effect; that is logged once.

    Raises:
        TypeError: If an argument is of the wrong type.
        RuntimeError: If another profile is in progress.

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, context, nn
        >>> from msnb.profiler import Profiler
        >>> context.set_context(mode=context.GRAPH_MODE)
        >>> net, x = nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32))
        >>> profiler = Profiler()
        >>> for _ in range(4):
        ...     y = net(x)
        >>> result = profiler.analyse()
        >>> len(result.steps)
        3
    """

    def __init__(
        self,
        output_path: str | None = None,
        start_profile: bool = True,
        steps: int = 30,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        for name in kwargs:
            log.once(
                f"Profiler: '{name}' has no effect here; it takes output_path, start_profile and steps, and "
                f"measures everything."
            )
        if output_path is not None and not isinstance(output_path, (str, os.PathLike)):
            raise TypeError(f"For 'Profiler', 'output_path' should be a str, but got {type(output_path).__name__}.")
        if not isinstance(start_profile, bool):
            raise TypeError(f"For 'Profiler', 'start_profile' should be a bool, but got {start_profile!r}.")
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise TypeError(f"For 'Profiler', 'steps' should be a positive int, but got {steps!r}.")
        for name, function in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if function is not None and not callable(function):
                raise TypeError(f"For 'Profiler', '{name}' should be a function, but got {function!r}.")
        self._plan, self._handler, self._at = schedule, on_trace_ready, 0
        self.output_path = output_path
        self.result: Profile | None = None
        self._most = steps
        self._recorder = self._recording = None
        self._metadata = {}
        if start_profile:
            self.start()

    def start(self) -> None:
        """Begin to measure, if the constructor did not.

        Raises:
            RuntimeError: If this or another Profiler is measuring already.
        """
        self._at = 0
        if self._plan is None or self._plan(0) in _RECORDS:
            self._start_recorder()

    def _start_recorder(self):
        machine()  # called here, so that its time is not measured
        self._recording, self.result = None, None
        self._recorder = Recorder(steps=self._most).start()

    def stop(self) -> None:
        """Stop measuring; `analyse` returns the result.

        Raises:
            RuntimeError: If it is not measuring.
        """
        if self._recorder is None:
            if self._plan is not None:
                return
            raise RuntimeError("The Profiler is not measuring: start() it first.")
        recorder, self._recorder = self._recorder, None
        self._recording = recorder.stop()
        if self._handler is not None:
            self._handler(self)

    def step(self) -> None:
        """Mark the end of a step. Steps are detected from the calls of the network, so this is only needed if a step
        consists of calls of different networks."""
        if self._recorder is None and self._plan is None:
            raise RuntimeError("The Profiler is not measuring: start() it first.")
        if self._recorder is not None:
            self._recorder.mark()
        if self._plan is None:
            return
        if self._plan(self._at) is ProfilerAction.RECORD_AND_SAVE:
            self.stop()
        self._at += 1
        if self._recorder is None and self._plan(self._at) in _RECORDS:
            self._start_recorder()

    def analyse(
        self,
        offline_path: str | None = None,
        pretty: bool = False,
        step_list: list[Any] | None = None,
        mode: str = "sync",
    ) -> "Profile":
        """Stop measuring and return the profile: the time by operator, Cell and kernel.

        Args:
            offline_path (str): Data of another run, which is not supported. Default: None.
            pretty (bool): No effect. Default: False.
            step_list (list): No effect, all steps are reported. Default: None.
            mode (str): No effect, the call is synchronous. Default: "sync".

        Returns:
            Profile; a view in a notebook, a table when printed. Further calls return the same one.

        Raises:
            RuntimeError: If nothing was measured.
            ValueError: If `offline_path` is given.
        """
        if offline_path is not None:
            raise ValueError(
                "For 'Profiler.analyse', 'offline_path' should be None: a profile is made from what this "
                "process has measured. Saved timelines open in https://ui.perfetto.dev."
            )
        if pretty or step_list is not None or mode != "sync":
            log.once("Profiler.analyse: 'pretty', 'step_list' and 'mode' have no effect here.")
        if self._recorder is not None:
            self.stop()
        if self.result is None:
            if self._recording is None:
                raise RuntimeError("The Profiler has measured nothing: start() it before the network runs.")
            self.result = Profile(self._recording)
            if self.output_path is not None:
                self._write_profile_files(self.result)
        return self.result

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> list[dict[Any, Any]]:
        """Return the rows of some operators.

        Args:
            op_name (Union[str, list[str]]): Names of operators, such as ``"Conv2D"``.
            device_id (int): No effect. Default: None.

        Returns:
            list[dict], with ``op``, ``cell``, ``line``, ``seconds`` (per step), ``calls`` and ``how``.
        """
        if device_id is not None:
            log.once("Profiler.op_analyse: 'device_id' has no effect here.")
        names = {op_name} if isinstance(op_name, str) else set(op_name)
        return [_convert_row_to_dict(row) for row in self.analyse().rows if row.op in names]

    def add_metadata(self, key: str, value: str) -> None:
        """Store a text in the timeline.

        Args:
            key (str): Name of the text.
            value (str): The text.
        """
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                f"For 'add_metadata', key and value should be str, but got {type(key).__name__} and "
                f"{type(value).__name__}."
            )
        self._metadata[key] = value

    add_metadata_json = add_metadata

    @staticmethod
    def profile(network: "Cell | None" = None, profile_option: ProfileOption | None = None) -> dict[Any, Any]:
        """Count all Parameters of a network. As in r1.1, the count includes Parameters that are not trainable.

        Args:
            network (Cell): The network.
            profile_option (ProfileOption): The quantities to count.

        Returns:
            dict, ``{"trainable_parameters": number of Parameters}``.

        Raises:
            ValueError: If an argument is missing or the option is unknown.
        """
        if network is None or not hasattr(network, "parameters_dict"):
            raise ValueError("For 'Profiler.profile', 'network' should be a Cell.")
        if profile_option != ProfileOption.trainable_parameters:
            raise ValueError(
                "For 'Profiler.profile', 'profile_option' should be ProfileOption.trainable_parameters, "
                f"but got {profile_option!r}."
            )
        return {"trainable_parameters": len(network.parameters_dict())}

    def _write_profile_files(self, profile):
        import csv
        import json
        import pathlib

        folder = pathlib.Path(self.output_path)
        folder.mkdir(parents=True, exist_ok=True)
        timeline = profile.timeline()
        timeline["otherData"].update(self._metadata)
        with writing(folder / "timeline.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(timeline, separators=(",", ":")))
        for name, records in (
            ("operators", [_convert_row_to_dict(row) for row in profile.rows]),
            (
                "cells",
                [
                    {
                        "cell": c.scope,
                        "seconds": c.seconds,
                        "forward": c.forward,
                        "backward": c.backward,
                        "update": c.update,
                    }
                    for c in profile.cells
                ],
            ),
        ):
            with writing(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(records[0]) if records else ["nothing"])
                writer.writeheader()
                writer.writerows(records)
        with writing(folder / "profile.txt", "w", encoding="utf-8") as file:
            file.write(profile.text(100))

    def __enter__(self) -> Self:
        if self._recorder is None and self._recording is None:
            self.start()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Literal[False]:
        if self._recorder is not None:
            self.stop()
        if kind is None and self._recording is not None:
            self.analyse()
        return False


def _convert_row_to_dict(row):
    """Return a row as plain values."""
    return {
        "op": row.op,
        "direction": row.direction,
        "cell": row.scope,
        "line": show(row.source),
        "seconds": row.seconds,
        "calls": row.calls,
        "flops": int(row.flops),
        "bytes": int(row.nbytes),
        "how": row.how,
    }
