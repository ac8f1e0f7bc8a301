"""The profiler's public path; measuring networks comes in a later version."""
from msnb._later import fill

WHY = "use %%mindspore --time for wall, compile and run seconds, or jax.profiler."
fill(globals(), "Profiler ProfileOption", WHY)
