"""``SamplerFn``: fetches samples of a user's object with several threads or processes."""

from typing import Any

import numpy as np

from msnb.dataset.engine.execution.processes import ProcessPool
from msnb.dataset.engine.execution.workers import parallel_map


class SamplerFn:
    """Fetches samples of `dataset` with `num_worker` workers.

    Args:
        dataset (object): The object, with ``__getitem__``.
        num_worker (int): Number of workers.
        multi_process (bool): True to use processes, False to use threads.
    """

    def __init__(self, dataset: object, num_worker: int, multi_process: bool) -> None:
        self.dataset = dataset
        self.num_worker: int = num_worker
        self.multi_process: bool = multi_process

    def _fetch_sample(self, index):
        return self.dataset[index]

    def process(self, indices: Any) -> Any:
        """Yield the samples with these indices, in order, each as a tuple of arrays."""
        rows = [(i,) for i in indices]
        if self.multi_process:
            pool = ProcessPool([self._fetch_sample], self.num_worker)
            try:
                results = pool.map(rows)
            finally:
                pool.close()
        else:
            results = parallel_map(self._fetch_sample, rows, self.num_worker)
        for result in results:
            yield tuple(np.asarray(x) for x in (result if isinstance(result, tuple | list) else (result,)))
