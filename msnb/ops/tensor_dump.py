"""Write Tensors of a running program to ``.npy`` files."""

import itertools
from pathlib import Path

import numpy as np

from msnb._util.atomic_file import writing
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops.debug import at_run_time

_number = itertools.count()  # the number of the next file of this process


@host_operator()
class TensorDump(HostPrimitive):
    """Write a Tensor to a ``.npy`` file when the program reaches this point, also in a compiled graph.

    The file is ``NAME_DTYPE_ID.npy``. The id counts the files of the process from 0. Missing folders are created. A
    value of bfloat16 is written as float32.

    Args:
        input_output (str): "in" or "out". On several devices MindSpore writes the value before or after resharding;
            here both write the same value. Default: "out".

    Inputs:
        - **file** (str) - Path without the id. A final ``.npy`` is removed.
        - **input_x** (Tensor) - The value, of any shape and type.

    Raises:
        TypeError: If `file` is not a str, or `input_x` is not a Tensor.
        ValueError: If `file` is empty, or `input_output` is neither "in" nor "out".

    Examples:
        >>> import glob, os
        >>> ops.TensorDump()("hidden", Tensor([1.0, 2.0], mindspore.float32))
        >>> [path] = glob.glob("hidden_float32_*.npy")
        >>> print(np.load(path))
        [1. 2.]
        >>> os.remove(path)
    """

    def __init__(self, input_output="out"):
        super().__init__()
        _check_in_or_out("input_output", input_output)

    def __call__(self, file, input_x):
        _dump_tensor("file", file, "input_x", input_x)


@spelling(TensorDump, function="tensordump")
def tensordump(file_name: str, tensor: Tensor, mode: str = "out") -> None:
    """Write a Tensor to the file ``NAME_DTYPE_ID.npy`` when the program reaches this point; see `TensorDump`.

    Args:
        file_name (str): Path without the id.
        tensor (Tensor): The value, of any shape and type.
        mode (str): "in" or "out", which write the same value here. Default: "out".

    Raises:
        TypeError: If `file_name` is not a str, or `tensor` is not a Tensor.
        ValueError: If `file_name` is empty, or `mode` is neither "in" nor "out".
    """
    _check_in_or_out("mode", mode)
    _dump_tensor("file_name", file_name, "tensor", tensor)


def _check_in_or_out(argument, side):
    if side not in ("in", "out"):
        raise ValueError(f"For 'TensorDump', '{argument}' should be 'in' or 'out', but got {side!r}.")


def _dump_tensor(name_argument, name, argument, tensor):
    if not isinstance(name, str):
        raise TypeError(f"For 'TensorDump', '{name_argument}' should be a string, but got {describe(name)}.")
    if not name:
        raise ValueError(f"For 'TensorDump', '{name_argument}' should not be empty.")
    tensor_argument("TensorDump", argument, tensor)
    path = name.removesuffix(".npy")
    dtype = str(tensor.dtype).lower()

    def write(value):
        file_path = Path(f"{path}_{dtype}_{next(_number)}.npy")
        file_path.parent.mkdir(parents=True, exist_ok=True)
        array = value.asnumpy()
        with writing(file_path, durable=False) as file:
            np.save(file, array.astype(np.float32) if array.dtype.kind == "V" else array)

    at_run_time(write, [tensor])
