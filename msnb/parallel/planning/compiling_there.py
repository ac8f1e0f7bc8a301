"""Run by itself: what XLA makes of an exported program on as many virtual devices as the environment says.

``python compiling_there.py PROGRAM SETTINGS RESULT``: the program as `jax.export` writes it; the mesh and which inputs
are given away, as JSON; where the text of the compiled program, and beside it what it says of memory, is written.
Nothing of msnb is needed here: its operators are StableHLO by now.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export


def main(program: str, settings: str, result: str) -> None:
    """Compile the file `program`."""
    exported = export.deserialize(bytearray(Path(program).read_bytes()))
    told = json.loads(Path(settings).read_text())
    axes = told["mesh"]
    devices = np.array(jax.devices()[: exported.nr_devices]).reshape(tuple(axes.values()))
    places = exported.in_shardings_jax(jax.sharding.Mesh(devices, tuple(axes)))
    call = jax.jit(exported.call, in_shardings=places, donate_argnums=told["given"])
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    compiled = call.lower(*shapes).compile()
    memory: Any = compiled.memory_analysis()
    counted: Any = compiled.cost_analysis() or {}
    kept = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    Path(result).write_text(compiled.as_text() or "")
    Path(f"{result}.json").write_text(
        json.dumps({"memory": kept + memory.temp_size_in_bytes, "flops": counted.get("flops", 0.0)})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
