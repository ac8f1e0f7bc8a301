"""Re-export module of checks and casts of parameters at MindSpore's path. Distributions that users write import
them."""

from msnb.nn.probability._parameters import (
    CheckTensor,
    CheckTuple,
    cast_to_tensor,
    check_distribution_name,
    check_greater,
    check_greater_equal_zero,
    check_greater_zero,
    check_prob,
    check_rank,
    check_sum_equal_one,
    set_param_type,
)

__all__ = [
    "CheckTensor",
    "CheckTuple",
    "cast_to_tensor",
    "check_distribution_name",
    "check_greater",
    "check_greater_equal_zero",
    "check_greater_zero",
    "check_prob",
    "check_rank",
    "check_sum_equal_one",
    "set_param_type",
]
