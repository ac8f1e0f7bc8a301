"""Apply the strategies of a strategy file to the operators that read the Parameters named in it.

MindSpore's files name a strategy by the operator and the first Parameter that it reads, ``MatMul_fc.weight``. While a
program is traced, an operator's Parameter is recognised by the traced array that represents it, or by a cast of that
array.
"""

from collections.abc import Sequence
from typing import Any

from msnb.core.eager.kernel import Kernel
from msnb.core.jaxpr.op_names import graph_name
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.state import trace_state
from msnb.formats import strategies


class StrategyFile:
    """The strategies of one file, applied while programs are traced.

    Args:
        path (str): The file, as ``set_auto_parallel_context(strategy_ckpt_load_file=...)`` names it.

    Raises:
        ValueError: If it cannot be read.
    """

    def __init__(self, path: str) -> None:
        try:
            self._strategies = strategies.read(path)[0]
        except OSError as error:
            raise ValueError(
                f"The file {path!r} (strategy_ckpt_load_file) cannot be read: {error.strerror or error}."
            ) from None
        self._casts: list[tuple[Any, str]] = []  # (result of a cast, name of the Parameter)
        self._kernels: dict[tuple[Kernel, Any], Kernel] = {}

    def apply(self, kernel: Kernel, arrays: Sequence[Any]) -> Kernel:
        """Return a copy of `kernel` with the strategy saved in the file, or `kernel` if there is none."""
        operator = kernel.name.meaning.operator
        names = (f"{operator}_{name}" for name in map(self._find_parameter_name, arrays) if name is not None)
        strategy = next((self._strategies[name] for name in names if name in self._strategies), None)
        if strategy is None or strategy == kernel.name.meaning.strategy:
            return kernel
        return self._kernels.setdefault((kernel, strategy), _copy_with_strategy(kernel, strategy))

    def record_cast(self, kernel: Kernel, arrays: Sequence[Any], out: Any) -> None:
        """Record the result of a Cast: a Parameter in another type is still that Parameter."""
        if kernel.name.meaning.operator == "Cast" and (name := self._find_parameter_name(arrays[0])) is not None:
            self._casts.append((out, name))

    def _find_parameter_name(self, array):
        """Return the name of the Parameter that an array represents in the trace, or None."""
        frame = trace_state.thread.frame
        while frame is not None:
            for ident, value in frame.values.items():
                if value is array:
                    name = next((p.name for p in frame.trace.params if id(p) == ident), None)
                    if name is not None:
                        return name
            frame = frame.parent
        return next((name for result, name in self._casts if result is array), None)


def _copy_with_strategy(kernel, strategy):
    """Return a copy of `kernel` that is sharded by `strategy`."""
    name, defaults = kernel.name, getattr(REGISTRY.get(kernel.name.meaning.operator), "usual", None)
    marks = {**name.meaning.marks, "strategy": strategy}
    copy = Kernel(graph_name(name.meaning.operator, name.meaning.attributes, defaults, marks, name.layout), kernel.fn)
    copy.quiet, copy.real, copy.checked, copy.rows = kernel.quiet, kernel.real, kernel.checked, kernel.rows
    return copy
