"""A ``map`` that omits or replaces samples for which a function fails."""

from collections.abc import Iterator, Sequence
from typing import Any

from msnb.dataset.core.config import ErrorSamplesMode
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.chunk import Chunk, Hint
from msnb.dataset.engine.execution.errors import rows_before


class SalvagingMap(nodes.Map):
    """A `Map` that omits or replaces samples for which a step fails, depending on `mode`.

    As in MindSpore, replacements come at the end of the epoch: they are the first samples of the epoch that did not
    fail, repeated as often as needed.
    """

    def __init__(self, child: nodes.Node, steps: Sequence[Any], columns: Sequence[str], mode: ErrorSamplesMode) -> None:
        super().__init__(child, steps, columns)
        self.mode: ErrorSamplesMode = mode

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        received = yielded = 0
        good: list[Chunk] = []
        for chunk in self.children[0].chunks(hint):
            received += chunk.n
            for part in self._run_skipping_failures(chunk):
                yield part.moved(yielded)
                yielded += part.n
                if self.mode is ErrorSamplesMode.REPLACE:
                    good.append(part)
        missing = received - yielded if good else 0
        while missing:
            for part in good:
                if missing:
                    again = part.part(0, min(part.n, missing))
                    yield again.moved(yielded)
                    yielded += again.n
                    missing -= again.n

    def _run_skipping_failures(self, chunk):
        """Yield the results of the samples of a chunk that do not fail, in one or several chunks."""
        try:
            yield self.run(chunk)
            return
        except Exception as error:
            columns, n = rows_before(error)
        if n:
            yield Chunk(columns, n, chunk.first, chunk.origin)
        for row in range(n, chunk.n):
            try:
                yield self.run(chunk.part(row, row + 1))
            except Exception:
                continue

    def size(self) -> int | None:
        return super().size() if self.mode is ErrorSamplesMode.REPLACE else None

    def describe(self) -> str:
        return f"{super().describe()}, failing samples: {self.mode.name}"
