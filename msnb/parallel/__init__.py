"""Face of ``mindspore.parallel``: parameters of the search for sharding strategies."""

from msnb.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]
