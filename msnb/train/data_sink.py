"""`data_sink`: a function that reads its batches from a dataset."""

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msnb.common.jit_config import JitConfig
from msnb.common.kinds import Instance, PositiveInt, checked
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.jit import jit
from msnb.train.dataset_helper import DatasetHelper

__all__ = ["data_sink"]


@checked
def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: PositiveInt = 1,
    jit_config: Annotated[JitConfig | None, Instance(JitConfig, type(None))] = None,
    input_signature: Tensor | MetaTensor | Sequence[Any] | None = None,
) -> Callable[[], Any]:
    """
    Return a function that calls `fn` with the next batches of a dataset. The dataset restarts when it ends.

    There is no queue on the device: each batch goes there when it is used.

    Args:
        fn (Callable): The function, called with the columns of a batch.
        dataset (Dataset): The dataset.
        sink_size (int): The number of batches in one call. Default: 1.
        jit_config (JitConfig): If given, `fn` is compiled. Default: None, it runs in the current mode.
        input_signature (Union[Tensor, tuple[Tensor]]): Shapes and dtypes of the columns. Default: None.

    Returns:
        Callable, without arguments; it returns the result of `fn` for the last of its batches.

    Raises:
        TypeError: If `sink_size` is not an int, `jit_config` is not a JitConfig, or `dataset` is not a dataset.
        ValueError: If `sink_size` is not positive, or a batch does not match `input_signature`.

    Examples:
        >>> import mindspore.dataset as ds
        >>> numbers = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False)
        >>> step = mindspore.data_sink(lambda x: x * 10, numbers, sink_size=2)
        >>> print(step(), step())
        20 10
    """
    batches = DatasetHelper(dataset, True, sink_size, -1)
    run = fn if jit_config is None and input_signature is None else jit(fn, input_signature)

    @functools.wraps(fn)
    def sink_process():
        result = None
        for batch in batches:
            result = run(*batch)
        return result

    del sink_process.__wrapped__  # `sink_process` has no arguments, even if `fn` has some
    return sink_process
