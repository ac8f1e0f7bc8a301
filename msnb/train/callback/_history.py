"""`History`: a callback that collects losses and metrics."""

from typing import TYPE_CHECKING, Any

from msnb.train.callback._callback import Callback, _handle_loss

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class History(Callback):
    """
    Collects the loss of each epoch's last step, and the metrics of `Model.fit` and `Model.eval`, in a dict of lists.

    Examples:
        >>> history = mindspore.History()
        >>> model.train(2, dataset, callbacks=history)
        >>> sorted(history.history), history.epoch
        (['net_output'], {'epoch': [1, 2]})
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {"epoch": []}

    def begin(self, run_context: "RunContext") -> None:
        """Clear the list of epochs; the history remains.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: "RunContext") -> None:
        """Append the values of this epoch.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        self.epoch["epoch"].append(moment.get("cur_epoch_num", 1))
        measured = moment.get("metrics") or {}
        for name, value in {"net_output": _handle_loss(moment.get("net_outputs")), **measured}.items():
            self.history.setdefault(name, []).append(value)
