"""Conversions between MindSpore's types, numpy's dtypes and the type names of schemas."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype

_NAMES = {"bool": np.bool_, "string": np.bytes_}


def numpy_type(type_: Any) -> np.dtype:
    """Return the numpy dtype of a MindSpore type, a type name or a numpy type. Strings have kind ``S``."""
    if isinstance(type_, mstype.Type):
        return np.dtype(np.bytes_) if type_ == mstype.string else mstype.np_dtype(type_)
    if isinstance(type_, str):
        return np.dtype(_NAMES.get(type_, type_))
    return np.dtype(type_)


def mstype_to_detype(type_: Any) -> np.dtype:
    """Return the numpy dtype of a MindSpore type; see :func:`numpy_type`.

    Raises:
        NotImplementedError: If `type_` is not a MindSpore type.
    """
    if not isinstance(type_, mstype.Type):
        raise NotImplementedError(f"A mindspore dtype is needed, but got {type_!r}.")
    return numpy_type(type_)


def mstypelist_to_detypelist(types: Any) -> list[np.dtype | None]:
    """Convert every element by :func:`mstype_to_detype`. None stays None."""
    return [None if t is None else mstype_to_detype(t) for t in types]
