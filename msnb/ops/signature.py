"""Signatures of user-written operators, at MindSpore's path `mindspore.ops.signature`.

MindSpore's compiler reads them to convert arguments. Here the class only stores them for programs that read them.
"""

import enum


class sig_rw(enum.Enum):  # noqa: N801 - MindSpore's own names
    """Constants for the access to an argument: read or write."""

    RW_READ = 0
    RW_WRITE = 1
    RW_REF = 2
    RW_EMPTY_DEFAULT_VALUE = 3


class sig_kind(enum.Enum):  # noqa: N801
    """Constants for the ways of passing an argument."""

    KIND_POSITIONAL_KEYWORD = 0
    KIND_VAR_POSITIONAL = 1
    KIND_KEYWORD_ONLY = 2
    KIND_VAR_KEYWARD = 3
    KIND_EMPTY_DEFAULT_VALUE = 4


sig_dtype = enum.Enum("sig_dtype", ["T", *(f"T{i}" for i in range(1, 10)), "T_EMPTY_DEFAULT_VALUE"])


class Signature:
    """Signature of one argument: name, access, way of passing, default and type group.

    Args:
        name (str): Name.
        rw (sig_rw): The access: read or write.
        kind (sig_kind): The way of passing the argument.
        default (Any): The default value, sig_kind.KIND_EMPTY_DEFAULT_VALUE for none.
        dtype (sig_dtype): Arguments of one group are converted to a common type.
    """

    def __init__(self, name, rw, kind, default, dtype):
        self.name, self.rw, self.kind, self.default, self.dtype = name, rw, kind, default, dtype


def make_sig(
    name="var",
    rw=sig_rw.RW_READ,
    kind=sig_kind.KIND_POSITIONAL_KEYWORD,
    default=sig_kind.KIND_EMPTY_DEFAULT_VALUE,
    dtype=sig_dtype.T_EMPTY_DEFAULT_VALUE,
):
    """Create the signature of one argument.

    Args:
        name (str): Name. Default: "var".
        rw (sig_rw): The access: read or write. Default: sig_rw.RW_READ.
        kind (sig_kind): The way of passing the argument. Default: sig_kind.KIND_POSITIONAL_KEYWORD.
        default (Any): The default value. Default: sig_kind.KIND_EMPTY_DEFAULT_VALUE, none.
        dtype (sig_dtype): Arguments of one group are converted to a common type.
            Default: sig_dtype.T_EMPTY_DEFAULT_VALUE, no group.

    Returns:
        Signature.
    """
    return Signature(name, rw, kind, default, dtype)
