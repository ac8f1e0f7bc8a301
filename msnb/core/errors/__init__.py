"""Error messages and where an error comes from: source locations, Cell paths, converted code.

`cell_path` is loaded when a message needs it and is imported by its own name.
"""

from msnb.core.errors.converted_code import is_converted, register_converted
from msnb.core.errors.data_dependent_shape import (
    DataDependentShape,
    ObjectReturned,
    PathsDiffer,
    ValueNeeded,
    can_run_eagerly,
    report_eager_run,
    runs_eagerly,
)
from msnb.core.errors.messages import (
    describe,
    dtype_name,
    explain_branch,
    explain_kernel_error,
    hide_directory,
    is_library_code,
    raise_at,
    remove_jax_note,
    user_line,
)
from msnb.core.errors.source_location import format_location, label, register_namer

__all__ = [
    "DataDependentShape",
    "ObjectReturned",
    "PathsDiffer",
    "ValueNeeded",
    "can_run_eagerly",
    "describe",
    "dtype_name",
    "explain_branch",
    "explain_kernel_error",
    "format_location",
    "hide_directory",
    "is_converted",
    "is_library_code",
    "label",
    "raise_at",
    "register_converted",
    "register_namer",
    "remove_jax_note",
    "report_eager_run",
    "runs_eagerly",
    "user_line",
]
