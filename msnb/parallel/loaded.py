"""The strategies of a file that an earlier training has written, for the operators that read the same Parameters.

MindSpore's files call a strategy by the operator and the first Parameter that it reads, ``MatMul_fc.weight``. Which
Parameter an operator is given is known while a program is traced: by the array that stands for it there, or one that
this was cast to.
"""

from collections.abc import Sequence
from typing import Any

from msnb.core import trace
from msnb.core.kernel import Kernel
from msnb.core.names import graph_name
from msnb.core.operator import REGISTRY
from msnb.formats import strategies


class Loaded:
    """The strategies of one file, while programs are traced.

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
        self._cast: list[tuple[Any, str]] = []  # arrays that Parameters were cast to, with the names of these
        self._twins: dict[tuple[Kernel, Any], Kernel] = {}

    def kernel(self, kernel: Kernel, arrays: Sequence[Any]) -> Kernel:
        """The kernel of a call, with the strategy that the file has for it; itself where it has none."""
        operator = kernel.name.meaning.operator
        names = (f"{operator}_{name}" for name in map(self._name, arrays) if name is not None)
        strategy = next((self._strategies[name] for name in names if name in self._strategies), None)
        if strategy is None or strategy == kernel.name.meaning.strategy:
            return kernel
        return self._twins.setdefault((kernel, strategy), _with_strategy(kernel, strategy))

    def ran(self, kernel: Kernel, arrays: Sequence[Any], out: Any) -> None:
        """Note what a call has made of its inputs: a Parameter in another type is still that Parameter."""
        if kernel.name.meaning.operator == "Cast" and (name := self._name(arrays[0])) is not None:
            self._cast.append((out, name))

    def _name(self, array):
        """What a Parameter is called for which an array stands now; None where it stands for none."""
        frame = trace.thread.frame
        while frame is not None:
            for ident, value in frame.values.items():
                if value is array and ident in trace.thread.frame.root().names:
                    return trace.thread.frame.root().names[ident]
            frame = frame.parent
        return next((name for made, name in self._cast if made is array), None)


def _with_strategy(kernel, strategy):
    """The same kernel under a name that has a strategy."""
    name, usual = kernel.name, getattr(REGISTRY.get(kernel.name.meaning.operator), "usual", None)
    marks = {**name.meaning.marks, "strategy": strategy}
    twin = Kernel(graph_name(name.meaning.operator, name.meaning.attributes, usual, marks, name.layout), kernel.fn)
    twin.quiet, twin.real, twin.checked, twin.rows = kernel.quiet, kernel.real, kernel.checked, kernel.rows
    return twin
