"""`SummaryCollector`: imports, and comes later."""

from typing import Any

from msnb._later import not_yet
from msnb.common.arguments import answered
from msnb.train.callback._callback import Callback


class SummaryCollector(Callback):
    """Collects loss, graph, inputs and Parameters of a training run; comes later.

    Args:
        summary_dir (str): Folder to write to.
        collect_freq (int): Steps from one collection to the next. Default: 10.
        collect_specified_data (Union[None, dict]): What is collected. Default: None.
        keep_default_action (bool): Whether the rest is collected too. Default: True.
        custom_lineage_data (Union[dict, None]): Values to keep with the run. Default: None.
        collect_tensor_freq (Optional[int]): Steps from one collection of tensors to the next. Default: None.
        max_file_size (Optional[int]): Most bytes per file. Default: None.

    Raises:
        NotImplementedError: Always.
    """

    @answered
    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        collect_specified_data: None | dict[Any, Any] = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[Any, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
    ) -> None:
        super().__init__()
        raise not_yet("SummaryCollector", "use LossMonitor, or a Callback of your own that keeps what you need")
