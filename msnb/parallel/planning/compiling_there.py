"""Run by itself: what XLA makes of an exported program on as many virtual devices as the environment says.

In the standard input stand a line of JSON, the mesh, which inputs are given away and XLA's options, and the program as
`jax.export` writes it. To the standard output goes JSON: the text of the compiled program, and what XLA says of memory
and work. Nothing of msnb is needed here: its operators are StableHLO by now.
"""

import json
import sys
from typing import Any

import jax
import numpy as np
from jax import export


def main() -> None:
    """Compile what stands in the standard input, and tell of it."""
    told = json.loads(sys.stdin.buffer.readline())
    exported = export.deserialize(bytearray(sys.stdin.buffer.read()))
    axes = told["mesh"]
    devices = np.array(jax.devices()[: exported.nr_devices]).reshape(tuple(axes.values()))
    places = exported.in_shardings_jax(jax.sharding.Mesh(devices, tuple(axes)))
    call = jax.jit(exported.call, in_shardings=places, donate_argnums=told["given"])
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    compiled = call.lower(*shapes).compile(told["options"])
    memory: Any = compiled.memory_analysis()
    counted: Any = compiled.cost_analysis() or {}
    kept = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    found = {"text": compiled.as_text() or "", "memory": kept + memory.temp_size_in_bytes}
    print(json.dumps({**found, "flops": counted.get("flops", 0.0)}))


if __name__ == "__main__":
    main()
