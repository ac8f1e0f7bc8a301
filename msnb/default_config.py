"""Build information of MindSpore's package: here, the devices that JAX lists."""

from typing import Any

__package_name__ = "mindspore"


def __getattr__(name: str) -> Any:
    if name != "__device_target__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import jax  # lazy import: programs that do not ask for devices need no search for them

    return ",".join(sorted({"cpu", *(device.platform for device in jax.devices())}))
