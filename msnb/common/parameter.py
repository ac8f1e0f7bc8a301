"""Re-export module: Parameter and ParameterTuple."""

from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.parameter import _get_unique_parameter_key as _get_unique_parameter_key
from msnb.core.tensor.parameter import _parameter_from_pickle as _parameter_from_pickle  # pickles contain this path

PARAMETER_NAME_DEFAULT = "Parameter"
PARAMETER_NAME_PREFIX_MAX_LEN = 1024

__all__ = ["Parameter", "ParameterTuple"]
