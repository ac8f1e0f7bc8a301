"""Calls the callbacks of a ``map`` while it runs."""
from msnb.dataset.engine.chunk import Hint


class RunContext:
    """Where the map is."""

    def __init__(self, cur_epoch_num, cur_step_num_in_epoch, cur_step_num):
        self.cur_epoch_num = cur_epoch_num
        self.cur_step_num_in_epoch = cur_step_num_in_epoch
        self.cur_step_num = cur_step_num


class Watcher:
    """Calls the callbacks of one map."""

    def __init__(self, callbacks):
        self.callbacks = [(cb.create_runtime_obj(), cb.step_size) for cb in callbacks]
        self.epoch = 0
        self.steps = 0

    def _tell(self, event, step):
        for functions, size in self.callbacks:
            function = functions.get(event)
            if function is None:
                continue
            if event == "step_begin" and (step - 1) % size or event == "step_end" and step % size:
                continue
            try:
                function(RunContext(self.epoch, step, self.steps))
            except Exception as error:
                raise RuntimeError(f"{type(error).__name__}: {error}") from error

    def watch(self, node, hint):
        """The chunks of `node`, row by row, with the callbacks called."""
        step = 0
        if self.epoch == 0:
            self._tell("begin", 0)
        self.epoch += 1
        self._tell("epoch_begin", 0)
        for chunk in node.children[0].chunks(Hint(1)):
            step += 1
            self.steps += 1
            self._tell("step_begin", step)
            made = node.run(chunk)
            self._tell("step_end", step)
            yield made
        self._tell("epoch_end", step)
