"""Script that compiles an exported program for the number of virtual devices that the environment defines.

The standard input has a line of JSON (the mesh, the donated inputs and XLA's options), followed by the program in the
format of `jax.export`. The standard output gets JSON: the text of the compiled program, and XLA's figures for memory
and operations. The script does not import msnb, because its operators have already been lowered to StableHLO.
"""

import json
import sys
from typing import Any

import jax
import numpy as np
from jax import export


def main() -> None:
    """Compile the program in the standard input and print the result."""
    settings = json.loads(sys.stdin.buffer.readline())
    exported = export.deserialize(bytearray(sys.stdin.buffer.read()))
    axes = settings["mesh"]
    devices = np.array(jax.devices()[: exported.nr_devices]).reshape(tuple(axes.values()))
    shardings = exported.in_shardings_jax(jax.sharding.Mesh(devices, tuple(axes)))
    call = jax.jit(exported.call, in_shardings=shardings, donate_argnums=settings["donated"])
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    compiled = call.lower(*shapes).compile(settings["options"])
    memory: Any = compiled.memory_analysis()
    costs: Any = compiled.cost_analysis() or {}
    argument_bytes = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    result = {"text": compiled.as_text() or "", "memory": argument_bytes + memory.temp_size_in_bytes}
    print(json.dumps({**result, "flops": costs.get("flops", 0.0)}))


if __name__ == "__main__":
    main()
