"""Helper functions of training: flags, dtypes and shapes of columns, folders."""

import os

import numpy as np

from msnb import log
from msnb._checkparam import check_value_type  # noqa: F401  (its r1.1 place)
from msnb._util.placeholders import fill
from msnb.common import dtype as mstype
from msnb.common.dtype import dtype_to_nptype, pytype_to_dtype
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor


def check_flags(function: str, **flags: object) -> None:
    """Check bool arguments that MindSpore 2 has and r1.1 does not.

    Raises:
        ValueError: If an argument is not a bool. MindSpore 2 raises this error, too.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ValueError(f"For '{function}', '{name}' should be bool, but got {describe(value)}.")


def _convert_type(types):
    """Convert numpy dtypes to MindSpore dtypes."""
    return [pytype_to_dtype(t) for t in types]


def _get_types_and_shapes(dataset):
    """Return (dtypes, shapes) of the columns of a dataset."""
    return _convert_type(dataset.output_types()), dataset.output_shapes()


def _exec_datagraph(exec_dataset, dataset_size, phase="dataset", create_data_info_queue=False):
    """Raise an error, as there are no device queues.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("Device queues do not exist in msnb: iterate over the dataset instead.")


def _make_directory(path):
    """Return the absolute path of a folder, which is created if it does not exist.

    Raises:
        TypeError: If `path` is not a string, is empty, or must not be written.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).strip():
        raise TypeError(f"The path of a folder should be a string, but got {path!r}.")
    path = os.path.realpath(path)
    if not os.path.exists(path):
        log.debug("The folder %s does not exist, it is made.", path)
        try:
            os.makedirs(path, exist_ok=True)
        except PermissionError:
            raise TypeError(
                f"The folder {path!r} does not exist and must not be made: no permission to write."
            ) from None
    return path


def _construct_tensor_list(types, shapes, batch_expand_num=1):
    """Return Tensors of zeros with the given dtypes and shapes, whose first axis is multiplied by
    `batch_expand_num`."""
    if len(shapes) != len(types):
        raise ValueError(f"There should be one shape per type, but got {len(types)} types and {len(shapes)} shapes.")
    longer = [(shape[0] * batch_expand_num, *shape[1:]) if len(shape) else () for shape in shapes]
    return [Tensor(np.zeros(shape, dtype_to_nptype(kind))) for kind, shape in zip(types, longer, strict=True)]


def _to_tensor(elem, scaling_sens=None):
    """Convert numpy arrays to a tuple of Tensors, with the loss scale appended if there is one. A tuple of one element
    is replaced by the element."""
    elements = elem if isinstance(elem, (tuple, list)) else (elem,)
    scale = (Tensor(scaling_sens, mstype.float32),) if scaling_sens else ()
    tensors = (*(Tensor(element) if isinstance(element, np.ndarray) else element for element in elements), *scale)
    return tensors if len(tensors) > 1 else tensors[0]


fill(
    globals(),
    "get_parameter_redundancy remove_param_redundancy",
    "which device holds what comes with parallel training",
)
