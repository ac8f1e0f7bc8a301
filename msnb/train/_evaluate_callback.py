"""The callback with which `Model.fit` evaluates between epochs."""

import functools

import numpy as np

from msnb.train.callback import Callback


class Evaluation(Callback):
    """Evaluates a Model after selected epochs of its training.

    Args:
        when (Union[int, list[int]]): Number of epochs between evaluations, or a list of the epochs after which to
            evaluate.
        model (Model): The Model.
        dataset (Dataset): Batches for evaluation.
        callbacks (list[Callback]): Callbacks of the training; those with `on_eval_*` methods are called in evaluation
            too.
        sink_mode (bool): As in `Model.eval`.
    """

    def __init__(self, when, model, dataset, callbacks, sink_mode):
        super().__init__()
        self._due = when.__contains__ if isinstance(when, list) else lambda epoch: when > 0 and epoch % when == 0
        self._loss = _MeanLoss(model)
        callbacks = [*(callback for callback in callbacks if _has_evaluation_methods(callback)), self._loss]
        self._evaluate = functools.partial(model.eval, dataset, callbacks, sink_mode)
        self._go_on = functools.partial(model._prepare, is_train=True)
        self._model = model

    def epoch_end(self, run_context):
        moment = run_context.original_args()
        for name in ("eval_results", "metrics"):
            moment.pop(name, None)
        if self._due(moment.cur_epoch_num):
            moment.metrics = self._evaluate()
            moment.eval_results = {**moment.metrics, **self._loss.result()}
            self._model._progress.validated(moment.metrics)
            self._go_on(moment.train_network)


class _MeanLoss(Callback):
    """Computes the mean loss of an evaluation, which `EarlyStopping` and `ReduceLROnPlateau` monitor as "eval_loss"."""

    def __init__(self, model):
        super().__init__()
        self._model = model
        self._losses = []

    def on_eval_begin(self, run_context):
        self._losses = []

    def on_eval_step_end(self, run_context):
        indexes, outputs = self._model._eval_indexes, run_context.original_args().net_outputs
        # Without indexes, the position of the loss among the outputs is unknown. Fewer than three outputs are an error,
        # which the Model raises when it updates the metrics.
        if indexes is not None and isinstance(outputs, tuple) and len(outputs) >= 3:
            self._losses.append(outputs[indexes[0]])

    def result(self):
        """Return {"eval_loss": mean}, or {} if the evaluation network does not return its loss."""
        losses, self._losses = self._losses, []
        return {"eval_loss": float(np.mean([np.mean(loss.asnumpy()) for loss in losses]))} if losses else {}


def _has_evaluation_methods(callback):
    classes = type(callback).__mro__[: type(callback).__mro__.index(Callback)]
    return any(name.startswith("on_eval_") for cls in classes for name in vars(cls))
