"""Functions that read and write checkpoints and graphs, under r1.1's names, and tables of element types."""

from typing import Any

import numpy as np

from msnb import context, nn  # noqa: F401 - networks take `context` from here
from msnb.common import dtype as mstype
from msnb.common.missing import asked
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.api import export, load, load_mindir
from msnb.exchange.api import mindir_inputs as _get_mindir_inputs  # noqa: F401
from msnb.formats import print_file
from msnb.train._async_writer import writer
from msnb.train._convert_checkpoint import ckpt_to_safetensors, safetensors_to_ckpt
from msnb.train._load_checkpoint import (  # noqa: F401
    _check_param_prefix,
    load_checkpoint,
    load_checkpoint_async,
)
from msnb.train._load_into_net import (  # noqa: F401
    _fill_param_into_net,
    _load_dismatch_prefix_params,
    _update_param,
    load_param_into_net,
)
from msnb.train._merge_checkpoints import build_searched_strategy, load_distributed_checkpoint, merge_sliced_parameter
from msnb.train._save_checkpoint import (  # noqa: F401
    _exec_save,
    save_checkpoint,
)
from msnb.train._save_checkpoint import save_graph as _save_graph  # noqa: F401

__all__ = [
    "save_checkpoint",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_param_into_net",
    "export",
    "load",
    "load_mindir",
    "parse_print",
    "build_searched_strategy",
    "merge_sliced_parameter",
    "load_distributed_checkpoint",
    "async_ckpt_thread_status",
    "ckpt_to_safetensors",
    "safetensors_to_ckpt",
]

tensor_to_ms_type: dict[str, Any] = {
    "Int8": mstype.int8,
    "Uint8": mstype.uint8,
    "Int16": mstype.int16,
    "Uint16": mstype.uint16,
    "Int32": mstype.int32,
    "Uint32": mstype.uint32,
    "Int64": mstype.int64,
    "Uint64": mstype.uint64,
    "Float16": mstype.float16,
    "Float32": mstype.float32,
    "Float64": mstype.float64,
    "Bool": mstype.bool_,
}
tensor_to_np_type: dict[str, Any] = {
    "Int8": np.int8,
    "Uint8": np.uint8,
    "Int16": np.int16,
    "Uint16": np.uint16,
    "Int32": np.int32,
    "Uint32": np.uint32,
    "Int64": np.int64,
    "Uint64": np.uint64,
    "Float16": np.float16,
    "Float32": np.float32,
    "Float64": np.float64,
    "Bool": np.bool_,
}
SLICE_SIZE = 512 * 1024 * 1024


def async_ckpt_thread_status() -> bool:
    """Return whether a thread is writing a checkpoint.

    Returns:
        bool.
    """
    return writer.busy()


def parse_print(print_file_name: str) -> list[Any]:
    """Read the output of Print from a file that ``context.set_context(print_file_path=...)`` has created.

    Args:
        print_file_name (str): The file.

    Returns:
        list, Tensors and str in the order in which they were printed.

    Raises:
        ValueError: If the file is empty, damaged, or has another format.
        OSError: If the file cannot be read.
    """
    return [value if isinstance(value, str) else Tensor(value) for value in print_file.read(print_file_name)]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
