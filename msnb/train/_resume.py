"""Resuming a recorded training: the checkpoint in the folder of the run, and loading it.

One file, ``checkpoints/last.ckpt``, is replaced atomically, so the process may be killed at any moment. It holds the
Parameters of the train network, the optimizer's included, and a JSON text with the remaining state: epoch and step,
the state of the random stream, the counters of a loss scale manager, and the number of calls of each program.

The batches of the dataset that were trained are read once more and skipped. Shuffling and augmentation with seeds give
the same results as before.
"""

import json
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msnb import log
from msnb.common import seed
from msnb.communication.management import get_rank
from msnb.core.program import program_cache
from msnb.core.state import random_stream
from msnb.parallel.modes.multiprocess_mesh import gather_tensors
from msnb.train._async_writer import writer
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._load_into_net import load_param_into_net
from msnb.train._save_checkpoint import save, select_values

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell
    from msnb.train.loss_scale_manager import LossScaleManager
    from msnb.train.recording import Recording

_KEY = "training that can go on"  # name of the JSON text among the Parameters


class Resumable(Protocol):
    """The attributes of a `Model` that a checkpoint stores."""

    _train_network: "Cell"
    _loss_scale_manager: "LossScaleManager | None"


class Resumption:
    """The state of a training that can be resumed, and its checkpoint.

    Args:
        folder (Path): The folder of the run.
        every (int): Number of steps between checkpoints within an epoch; 0 saves only at the end of epochs. Default: 0.

    Attributes:
        epoch (int): Epochs that are complete.
        batch (int): Steps that are complete in the current epoch.
        step (int): Steps that are complete in all epochs.
    """

    def __init__(self, folder: Path, every: int = 0) -> None:
        self.path = folder / "checkpoints" / "last.ckpt"
        self.epoch = self.batch = self.step = 0
        self._every, self._state, self._network = every, None, None

    def load(self, model: Resumable, batches: int) -> None:
        """Load the checkpoint into the networks of `model`, if there is one.

        Raises:
            ValueError: If the file is not a checkpoint of a resumable training, or the number of steps in an epoch
                differs.
        """
        if not self.path.exists():
            return
        values = load_checkpoint(str(self.path))
        state = values.pop(_KEY, None)
        if not isinstance(state, str):
            raise ValueError(f"{self.path} is no checkpoint of a training that can go on.")
        state = json.loads(state)
        if state["batches"] != batches:
            raise ValueError(
                f"The training in {self.path.parent.parent} had {state['batches']} steps in an epoch, but now there "
                f"are {batches}: go on with the same dataset, batch size and sink_size, or record under another name."
            )
        load_param_into_net(model._train_network, values, strict_load=True)
        if state["scaling"]:
            vars(model._loss_scale_manager).update(state["scaling"])
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]
        self._state, self._network = state, model._train_network
        log.info("Model.train goes on after step %d, from %s.", self.step, self.path)
        if self.step and seed.get_seed() is None:
            log.once(
                "Model.train(resume=...): no seed is set, so the dataset may be shuffled otherwise than in the first "
                "part of the training; mindspore.set_seed(1) at the beginning of the program makes it the same."
            )

    def pass_by(self, number: int, batches: Iterator[Any]) -> bool:
        """Skip the batches of epoch `number` that were trained already. Returns whether all batches of the epoch were
        trained."""
        trained = None if number <= self.epoch else self.batch if number == self.epoch + 1 else 0
        deque(islice(batches, trained), 0)
        return trained is None

    def go_on(self) -> None:
        """Restore the random stream before the first step that was not trained."""
        if self._state is not None:
            random_stream.default.base, random_stream.default.count = self._state["stream"]
            program_cache.restore_call_counts(self._network, self._state.get("calls", {}))
            seed.restore_operator_seeds(self._state["operators"])
            self._state = None

    def after_step(self, model: Resumable, moment: Any) -> None:
        """Save the state within an epoch if a checkpoint is due."""
        if self._every and moment.cur_step_num % self._every == 0:
            self._save_state(model, moment, False)

    def after_epoch(self, model: Resumable, moment: Any, stopped: bool) -> None:
        """Save the state at the end of an epoch, which may have been `stopped` early."""
        self._save_state(model, moment, not stopped)

    def _save_state(self, model, moment, is_complete):
        values = gather_tensors(select_values(model._train_network), "a checkpoint of Model.train")
        if get_rank():
            return  # the first process saves
        step, batches, epochs = moment.cur_step_num, moment.batch_num, moment.cur_epoch_num
        batch = 0 if is_complete else step - (epochs - 1) * batches
        if batch == batches:
            batch, is_complete = 0, True
        manager = model._loss_scale_manager
        state = {
            "epoch": epochs if is_complete else epochs - 1,
            "batch": batch,
            "step": step,
            "batches": batches,
            "stream": [random_stream.default.base, random_stream.default.count],
            "operators": seed.operator_seeds(),
            "calls": program_cache.call_counts(model._train_network),
            "scaling": {name: v for name, v in vars(manager).items() if type(v) in (int, float)} if manager else {},
        }
        try:
            save(values, str(self.path), True, {_KEY: json.dumps(state)})
        except OSError as error:  # the error, perhaps of the previous file, must not end the training
            log.warning("%s could not be written: %s.", self.path, error.strerror or error)

    def wait(self) -> None:
        """Wait until the checkpoint is on disk."""
        try:
            writer.wait()
        except OSError as error:
            log.warning("%s could not be written: %s.", self.path, error.strerror or error)


def resumption_of(resume: bool | int | Resumption, record: "bool | str | Recording") -> Resumption | None:
    """Return the `Resumption` for the arguments of `Model.train`, or None.

    Raises:
        TypeError: If `resume` is neither bool nor int.
        ValueError: If `resume` is an int below 1, or the record has no name.
    """
    if isinstance(resume, Resumption):
        return resume
    if not isinstance(resume, int):
        raise TypeError(f"For 'Model.train', 'resume' should be a bool or an int, but got {type(resume).__name__}.")
    if resume is False:
        return None
    if resume < 1:
        raise ValueError(f"For 'Model.train', 'resume' should be True or a positive number of steps, but got {resume}.")
    if record is True or not record:
        raise ValueError(
            "For 'Model.train', 'resume' needs the name of a run, which is where the training is looked for: "
            "record='NAME'."
        )
    return Resumption(
        Path("runs") / record if isinstance(record, str) else record.folder, 0 if resume is True else resume
    )
