"""The magics `%ms_pipeline dataset` and `%%ms_pipeline dataset`: monitor a data pipeline while it runs."""

import ast
import time
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb.core.errors.messages import describe
from msnb.notebook import pipeline
from msnb.notebook.kernel.magic_options import expression, parse
from msnb.notebook.kernel.magic_registration import register_magics

_MONITOR = ("msnb.dataset.engine.execution.monitor", "Monitor")


@magics_class
class PipelineMagics(Magics):
    """The magics `%ms_pipeline` and `%%ms_pipeline`, for data pipelines."""

    @no_var_expand
    @magic_arguments("%ms_pipeline")
    @argument("-s", "--seconds", type=float, default=5.0, help="Stop after so many seconds (default 5).")
    @argument("-e", "--epochs", type=int, default=1, help="Or after so many epochs (default 1).")
    @argument("dataset", nargs="+", help="The pipeline: a variable or an expression.")
    @line_cell_magic("ms_pipeline")
    def ms_pipeline(self, line: str, cell: str | None = None) -> None:
        """`%ms_pipeline dataset` runs a data pipeline and shows throughput and time of every operator, and the
        bottleneck, while it runs. `%%ms_pipeline dataset` shows the same while the cell runs, which can be a training
        that uses the pipeline.

            %ms_pipeline -s 10 train_set
        """
        options = parse(self.ms_pipeline, line)
        if options.seconds <= 0 or options.epochs < 1:
            raise UsageError(
                "%ms_pipeline: --seconds should be positive and --epochs at least 1, but got "
                f"{options.seconds:g} and {options.epochs}."
            )
        text = " ".join(options.dataset)
        tree = expression("%ms_pipeline", text)
        dataset = eval(compile(ast.Expression(tree), "<%ms_pipeline>", "eval"), self.shell.user_ns)
        try:
            view = pipeline.watch(dataset)
        except TypeError:
            raise UsageError(f"%ms_pipeline takes a data set, but got {describe(dataset)}.") from None
        with view:
            if cell is not None:
                self.shell.run_cell(cell)
            else:
                _run_pipeline(dataset, options.epochs, options.seconds)


def _run_pipeline(dataset, epochs, seconds):
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    end = time.perf_counter() + seconds
    try:
        for _ in range(epochs):
            for _ in iterator:
                if time.perf_counter() > end:
                    return
    finally:
        iterator.stop()


def install(shell: Any) -> Any:
    """Register the magics and the display of a Monitor with a shell. Return the undo function."""
    remove_magics = register_magics(shell, PipelineMagics(shell))
    formatter = shell.display_formatter.formatters["text/html"]
    # registered by name, so that the class Monitor is not imported
    formatter.for_type_by_name(*_MONITOR, lambda monitor: pipeline.monitor_html(monitor))

    def undo():
        remove_magics()
        formatter.pop(".".join(_MONITOR), None)

    return undo
