"""`data_sink`: a function that takes its batches by itself."""

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
    A function that runs `fn` on the next batches of a dataset, which begins anew when it ends.

    There is no queue on the device: each batch goes there when its turn comes, on any device.

    Args:
        fn (Callable): What is run, on the columns of a batch.
        dataset (Dataset): Where the batches come from.
        sink_size (int): How many batches one call takes. Default: 1.
        jit_config (JitConfig): Given, `fn` is compiled. Default: None, it runs as the mode says.
        input_signature (Union[Tensor, tuple[Tensor]]): What the columns have to look like. Default: None.

    Returns:
        Callable, takes nothing and returns what `fn` returned for the last of its batches.

    Raises:
        TypeError: If `sink_size` is no int, `jit_config` no JitConfig, or `dataset` no dataset.
        ValueError: If `sink_size` is not positive, or a batch does not look like `input_signature`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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

    del sink_process.__wrapped__  # it takes nothing, whatever `fn` takes
    return sink_process
