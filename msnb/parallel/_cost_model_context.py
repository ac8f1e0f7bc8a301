"""Settings of the search for sharding strategies: memory of a device, and costs of transfers and computations."""

from msnb import context, log
from msnb._config.settings_table import Settings
from msnb.common.kinds import Bool, Int, StrictFloat

_number = StrictFloat
_costs = Settings(
    "set_cost_model_context",
    {
        "device_memory_capacity": (16.0 * 1024**3, _number),
        "costmodel_alpha": (1.0, _number),
        "costmodel_beta": (400.0, _number),
        "costmodel_gamma": (0.001, _number),
        "costmodel_communi_threshold": (2048.0, _number),
        "costmodel_communi_const": (3072.0, _number),
        "costmodel_communi_bias": (1024.0, _number),
        "run_phase": (0, Int),
        "costmodel_allreduce_fusion_algorithm": (0, Int),
        "costmodel_allreduce_fusion_times": (0, Int),
        "costmodel_allreduce_fusion_tail_percent": (0.1, _number),
        "costmodel_allreduce_fusion_tail_time": (0.1, _number),
        "costmodel_allreduce_fusion_allreduce_inherent_time": (0.1, _number),
        "costmodel_allreduce_fusion_allreduce_bandwidth": (0.1, _number),
        "costmodel_allreduce_fusion_computation_time_parameter": (0.1, _number),
        "multi_subgraphs": (False, Bool),
        "single_loop": (True, Bool),
        "rp_matmul_mem_coef": (0.1, _number),
    },
)


def set_cost_model_context(**kwargs):
    """Change settings of the cost model. ``device_memory_capacity``, in bytes, limits the memory that "auto_parallel"
    uses on a device. All other settings have no effect, and a message says so once.

    Raises:
        ValueError: If a key is unknown.
        TypeError: If a value has another type.
    """
    checked = _costs.check(kwargs)
    if set(checked) - {"device_memory_capacity"}:
        log.once(
            "set_cost_model_context has no effect but by device_memory_capacity: the search is an integer linear "
            "program and counts bytes."
        )
    _costs.assign(checked)
    context._notify_parallel_listeners()


def get_cost_model_context(attr_key):
    """Return a setting of :func:`set_cost_model_context`. Raise ValueError if there is none of that name."""
    return getattr(_costs.values, _costs.find(attr_key))


def reset_cost_model_context():
    """Reset every setting of :func:`set_cost_model_context` to its default."""
    _costs.reset()
    context._notify_parallel_listeners()


def _set_multi_subgraphs(multi_subgraph=True):
    set_cost_model_context(multi_subgraphs=multi_subgraph)


def _get_multi_subgraphs():
    return get_cost_model_context("multi_subgraphs")


def _set_algo_single_loop(single_loop=True):
    set_cost_model_context(single_loop=single_loop)


def _get_algo_single_loop():
    return get_cost_model_context("single_loop")


def _set_rp_matmul_mem_coef(coef):
    set_cost_model_context(rp_matmul_mem_coef=coef)


def _get_rp_matmul_mem_coef():
    return get_cost_model_context("rp_matmul_mem_coef")
