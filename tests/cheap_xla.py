"""A compiler that is quick, for programs that run once: a plugin where notebooks run, and imported by `conftest.py`.

Two thirds of the time of these tests would go into machine code that runs once. Whoever sets XLA_FLAGS, be it to
nothing, gets the compiler as users have it; so does `make newest`. An unknown flag ends the process.
"""

import importlib.metadata
import os

CHEAP = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
]
if importlib.metadata.version("jaxlib").startswith("0.10."):  # later ones know the dearer way to make loops only
    CHEAP.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(CHEAP))
