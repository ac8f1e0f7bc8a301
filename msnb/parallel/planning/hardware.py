"""Hardware presets of `plan`, each with the source of its figures.

Peak operation rates are those of dense matrix products. Bandwidths count one direction. The chips of a TPU use the same
links inside a host and between the hosts of a slice; the bandwidth is that of all links of a chip.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msnb.core.errors.messages import describe


class Hardware(NamedTuple):
    """Speed and memory of one kind of machine.

    Attributes:
        name (str): Name of the machine.
        peak (Mapping[str, float]): Operations per second by the name of the dtype; other dtypes use the value of
            float32.
        memory (float): Bytes of a device.
        memory_bandwidth (float): Bytes per second that a device reads or writes.
        inside (float): Bytes per second that a device sends inside a host.
        between (float): Bytes per second that a device sends to other hosts.
        devices_a_host (int): Number of devices in a host.
        latency (float): Seconds until a communication starts. Default: 1e-5.
        source (str): Source of the figures.
    """

    name: str
    peak: Mapping[str, float]
    memory: float
    memory_bandwidth: float
    inside: float
    between: float
    devices_a_host: int
    latency: float = 1e-5
    source: str = "the user"

    def operations(self, dtype: str) -> float:
        """Return the operations per second for a dtype."""
        return self.peak.get(dtype, self.peak["float32"])


def _make_preset(name, half, single, gigabytes, bandwidth, inside, between, devices, source):
    """Return a `Hardware`. `half` and `single` are TFLOP/s of 16 and of 32 bits; bandwidths are in GB/s."""
    peak = {"float16": half * 1e12, "bfloat16": half * 1e12, "float32": single * 1e12}
    memory, memory_bandwidth, inside_bandwidth, outside_bandwidth = (
        n * 1e9 for n in (gigabytes, bandwidth, inside, between)
    )
    return Hardware(name, peak, memory, memory_bandwidth, inside_bandwidth, outside_bandwidth, devices, source=source)


_DGX = "NVIDIA's data sheet of the {0} (SXM, dense) and of the DGX {0}: {1}"
_TPU = "https://cloud.google.com/tpu/docs/{0}: {1}"
PRESETS = {
    row.name: row
    for row in (
        _make_preset(
            *("v100", 125, 15.7, 32, 900, 150, 6.25, 8),
            "NVIDIA's data sheet of the V100 (SXM2), white paper WP-08437 of the DGX-1: 6 NVLinks of 25 GB/s each way, "
            "4 x 100 Gb/s InfiniBand for 8",
        ),
        _make_preset(
            *("a100", 312, 19.5, 80, 2039, 300, 25, 8),
            _DGX.format("A100", "NVLink 600 GB/s both ways together, a ConnectX-6 of 200 Gb/s for each"),
        ),
        _make_preset(
            *("h100", 989, 67, 80, 3350, 450, 50, 8),
            _DGX.format("H100", "NVLink 900 GB/s both ways together, a ConnectX-7 of 400 Gb/s for each"),
        ),
        _make_preset(
            *("h200", 989, 67, 141, 4800, 450, 50, 8),
            _DGX.format("H200", "NVLink 900 GB/s both ways together, a ConnectX-7 of 400 Gb/s for each"),
        ),
        _make_preset(
            *("b200", 2250, 80, 180, 8000, 900, 50, 8),
            _DGX.format("B200", "1,440 GB for 8, NVLink 1.8 TB/s both ways together, 400 Gb/s for each"),
        ),
        _make_preset(
            *("mi300x", 1307, 163.4, 192, 5300, 448, 50, 8),
            "AMD's data sheet of the Instinct MI300X: dense, 7 Infinity Fabric links of 64 GB/s each way; "
            "a network card of 400 Gb/s for each is assumed",
        ),
        _make_preset(
            *("ascend910a", 256, 16, 32, 1200, 90, 12.5, 8),
            "Huawei at Hot Chips 31: 256 TFLOP/s, 3 HCCS ports of 240 Gb/s, RoCE; no page of Huawei's was found for "
            "float32 and the memory",
        ),
        _make_preset(
            *("ascend910b", 313, 75, 64, 1600, 196, 25, 8),
            "as is commonly said of the Atlas 800T A2, with half of 392 GB/s of HCCS; SGLang's manual has its "
            "8 x 64 GB, no page of Huawei's was found for the rest",
        ),
        _make_preset(
            *("tpu_v4", 275, 275, 34.4, 1200, 268, 268, 4),
            _TPU.format("v4", "32 GiB; 1.1 PB/s of all-reduce for the 4,096 chips of a pod"),
        ),
        _make_preset(
            *("tpu_v5e", 197, 197, 16, 819, 200, 200, 8),
            _TPU.format("v5e", "links of 400 GB/s both ways together; 51.2 TB/s of all-reduce for 256 chips"),
        ),
        _make_preset(
            *("tpu_v5p", 459, 459, 95, 2765, 600, 600, 4),
            _TPU.format("v5p", "links of 4,800 Gb/s"),
        ),
        _make_preset(
            *("tpu_v6e", 918, 918, 32, 1638, 400, 400, 8),
            _TPU.format("v6e", "links of 800 GB/s both ways together; 102.4 TB/s of all-reduce for 256 chips"),
        ),
        _make_preset(
            "laptop", 0.1, 0.1, 16, 20, 10, 0.125, 1, "a guess: four cores of a processor, and Gigabit Ethernet"
        ),
    )
}


def hardware_of(hardware: str | Mapping[str, Any] | Hardware) -> Hardware:
    """Return the hardware of a preset name or of a dict of `Hardware`'s attributes.

    Raises:
        ValueError: If there is no preset with that name, or an attribute is missing or unknown.
        TypeError: If `hardware` has another type.
    """
    if isinstance(hardware, Hardware):
        return hardware
    if isinstance(hardware, str):
        preset = PRESETS.get(hardware.lower())
        if preset is None:
            raise ValueError(
                f"For 'plan', 'hardware' should be one of {', '.join(PRESETS)}, or a dict, but got {hardware!r}."
            )
        return preset
    if not isinstance(hardware, Mapping):
        raise TypeError(f"For 'plan', 'hardware' should be a name or a dict, but got {describe(hardware)}.")
    fields = {"name": "own", **hardware}
    unknown = [name for name in fields if name not in Hardware._fields]
    missing = [f for f in Hardware._fields if f not in fields and f not in Hardware._field_defaults]
    if unknown or missing or "float32" not in fields["peak"]:
        raise ValueError(
            f"For 'plan', 'hardware' should have {', '.join(Hardware._fields[1:])}, and of 'peak' at least float32; "
            f"missing: {missing}, unknown: {unknown}."
        )
    return Hardware(**fields)
