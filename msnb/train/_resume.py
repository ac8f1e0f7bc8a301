"""Going on with a recorded training that broke off: what is kept for it in the folder of the run, and how it is taken.

One file, ``checkpoints/last.ckpt``, is replaced in one step, so that a process may be killed at any moment. It holds
the Parameters of the train network, the optimizer's with them, and as a text what else a step depends on: how far the
training is, where the stream of random numbers stands, and what a loss scale manager counts.

Of the dataset the batches that were trained are read once more and left out: whatever it shuffles and augments by its
seeds comes out as before.
"""

import json
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common import seed
from msnb.communication.management import get_rank
from msnb.core.state import random_stream
from msnb.parallel.modes.multiprocess_mesh import gather_tensors
from msnb.train._async_writer import writer
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._load_into_net import load_param_into_net
from msnb.train._save_checkpoint import chosen, save

if TYPE_CHECKING:  # named in annotations alone
    from msnb.train.model import Model
    from msnb.train.recording import Recording

_KEY = "training that can go on"  # of the text beside the Parameters


class Resumption:
    """Where a training goes on, and what is kept so that it can.

    Args:
        folder (Path): That of the run.
        every (int): Steps from one checkpoint to the next within an epoch; 0 for none but at its end. Default: 0.

    Attributes:
        epoch (int): Epochs that are complete.
        batch (int): Steps that are complete in the next one.
        step (int): Steps that are complete in all.
    """

    def __init__(self, folder: Path, every: int = 0) -> None:
        self.path = folder / "checkpoints" / "last.ckpt"
        self.epoch = self.batch = self.step = 0
        self._every, self._told = every, None

    def load(self, model: "Model", batches: int) -> None:
        """Give the networks of `model` what was kept, if something was.

        Raises:
            ValueError: If the file is no checkpoint of such a training, or an epoch has another number of steps now.
        """
        if not self.path.exists():
            return
        values = load_checkpoint(str(self.path))
        told = values.pop(_KEY, None)
        if not isinstance(told, str):
            raise ValueError(f"{self.path} is no checkpoint of a training that can go on.")
        told = json.loads(told)
        if told["batches"] != batches:
            raise ValueError(
                f"The training in {self.path.parent.parent} had {told['batches']} steps in an epoch, but now there are "
                f"{batches}: go on with the same dataset, batch size and sink_size, or record under another name."
            )
        load_param_into_net(model._train_network, values, strict_load=True)
        if told["scaling"]:
            vars(model._loss_scale_manager).update(told["scaling"])
        self.epoch, self.batch, self.step = told["epoch"], told["batch"], told["step"]
        self._told = told
        log.info("Model.train goes on after step %d, from %s.", self.step, self.path)
        if self.step and seed.get_seed() is None:
            log.once(
                "Model.train(resume=...): no seed is set, so the dataset may be shuffled otherwise than in the first "
                "part of the training; mindspore.set_seed(1) at the beginning of the program makes it the same."
            )

    def pass_by(self, number: int, batches: Iterator[Any]) -> bool:
        """Read past the batches of epoch `number` that were trained already; whether those were all."""
        trained = None if number <= self.epoch else self.batch if number == self.epoch + 1 else 0
        deque(islice(batches, trained), 0)
        return trained is None

    def go_on(self) -> None:
        """The next step is one that was not trained: random numbers go on where they were."""
        if self._told is not None:
            random_stream.default.base, random_stream.default.count = self._told["stream"]
            seed.go_on_with(self._told["operators"])
            self._told = None

    def after_step(self, model: "Model", moment: Any) -> None:
        """Keep where the training is within an epoch, if it is time."""
        if self._every and moment.cur_step_num % self._every == 0:
            self._keep(model, moment, False)

    def after_epoch(self, model: "Model", moment: Any, stopped: bool) -> None:
        """Keep where the training is at the end of an epoch, which may have been `stopped` before."""
        self._keep(model, moment, not stopped)

    def _keep(self, model, moment, whole):
        values = gather_tensors(chosen(model._train_network), "a checkpoint of Model.train")
        if get_rank():
            return  # the first process does
        step, batches, epochs = moment.cur_step_num, moment.batch_num, moment.cur_epoch_num
        batch = 0 if whole else step - (epochs - 1) * batches
        if batch == batches:
            batch, whole = 0, True
        manager = model._loss_scale_manager
        told = {
            "epoch": epochs if whole else epochs - 1,
            "batch": batch,
            "step": step,
            "batches": batches,
            "stream": [random_stream.default.base, random_stream.default.count],
            "operators": seed.operator_seeds(),
            "scaling": {name: v for name, v in vars(manager).items() if type(v) in (int, float)} if manager else {},
        }
        try:
            save(values, str(self.path), True, {_KEY: json.dumps(told)})
        except OSError as error:  # of the file before; the training is worth more
            log.warning("%s could not be written: %s.", self.path, error.strerror or error)

    def wait(self) -> None:
        """Return when what was kept is on the disk."""
        try:
            writer.wait()
        except OSError as error:
            log.warning("%s could not be written: %s.", self.path, error.strerror or error)


def resumption_of(resume: bool | int | Resumption, record: "bool | str | Recording") -> Resumption | None:
    """What `Model.train` is asked for; None where that is nothing.

    Raises:
        TypeError: If `resume` is neither bool nor int.
        ValueError: If it is a number that is not positive, or the record has no name to find it by.
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
