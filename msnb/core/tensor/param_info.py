"""`ParamInfo`: the record of a Parameter's settings, which MindSpore keeps in C++."""

from typing import Any, Self

# Settings that a Parameter has itself, with the values of a record without Parameter.
_OF_PARAMETER: dict[str, Any] = {
    "name": "Parameter",
    "requires_grad": True,
    "layerwise_parallel": False,
    "parallel_optimizer": True,
    "parallel_optimizer_comm_recompute": False,
}
# Settings of MindSpore's compiler, which have no effect here. A record stores them.
_STORED: dict[str, Any] = {
    "cache_enable": False,
    "comm_fusion": 1,
    "interleaved_parallel": False,
    "is_in_pynative_shard": False,
    "is_param_init": False,
    "is_pipeline_shared_param": False,
    "is_quant_int4": False,
    "key": -1,
    "requires_aggr": True,
    "storage_format": "",
    "use_persistent_storage": False,
}


class ParamInfo:
    """Settings of a Parameter. Those that a Parameter has itself are read from it and written to it.

    Programs may set other attributes, which belong to the Parameter's record alone.

    Args:
        parameter (Parameter): The Parameter. Default: None, for a record of its own.
    """

    def __init__(self, parameter: Any = None) -> None:
        own = {} if parameter is None else parameter.__dict__.setdefault("_param_info", {})
        object.__setattr__(self, "_parameter", parameter)
        object.__setattr__(self, "_own", own)

    @property
    def parameter_shape(self) -> list[int]:
        """Shape of the Parameter; empty without one."""
        return [] if self._parameter is None else [*self._parameter.shape]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name not in ("_parameter", "_own"):  # a copy does not have these two yet
            if name in _OF_PARAMETER and self._parameter is not None:
                return getattr(self._parameter, name)
            for settings in (self._own, _OF_PARAMETER, _STORED):
                if name in settings:
                    return settings[name]
        raise AttributeError(f"A ParamInfo has no {name!r}.", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OF_PARAMETER and self._parameter is not None:
            self._parameter._change_setting(name, value)
        elif name != "parameter_shape":
            self._own[name] = value

    def clone(self) -> Self:
        """Return a record of its own with the same settings, without the attributes that programs have added."""
        copy = type(self)()
        copy._own.update({name: getattr(self, name) for name in (*_OF_PARAMETER, *_STORED)})
        return copy

    def write_to(self, parameter: Any) -> None:
        """Write the settings and attributes of this record to a Parameter."""
        for name in _OF_PARAMETER:
            parameter._change_setting(name, getattr(self, name))
        type(self)(parameter)._own.update(
            {name: value for name, value in self._own.items() if name not in _OF_PARAMETER}
        )
