"""The callback that lets `Model.fit` evaluate between epochs."""

import functools

from msnb.train.callback import Callback


class Evaluation(Callback):
    """Evaluates a Model after some of its training epochs.

    Args:
        when (Union[int, list[int]]): Epochs from one evaluation to the next, or the epochs to evaluate after.
        model (Model): The Model.
        dataset (Dataset): What it is evaluated with.
        callbacks (list[Callback]): Callbacks of the training; those with `on_eval_*` methods serve evaluation too.
        sink_mode (bool): As in `Model.eval`.
    """

    def __init__(self, when, model, dataset, callbacks, sink_mode):
        super().__init__()
        self._due = when.__contains__ if isinstance(when, list) else lambda epoch: when > 0 and epoch % when == 0
        callbacks = [callback for callback in callbacks if _watches_evaluation(callback)]
        self._evaluate = functools.partial(model.eval, dataset, callbacks, sink_mode)
        self._go_on = functools.partial(model._prepare, is_train=True)
        self._model = model

    def epoch_end(self, run_context):
        moment = run_context.original_args()
        moment.pop("eval_results", None)
        if self._due(moment.cur_epoch_num):
            moment.eval_results = self._evaluate()
            self._model._progress.validated(moment.eval_results)
            self._go_on(moment.train_network)


def _watches_evaluation(callback):
    own = type(callback).__mro__[: type(callback).__mro__.index(Callback)]
    return any(name.startswith("on_eval_") for cls in own for name in vars(cls))
