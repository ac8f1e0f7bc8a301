"""GRAPH mode: tracing a function into a Program, the in-memory and on-disk caches, and the XLA call.

Other packages use `program.Program`, `program_cache` (`find`, `program_of`, `programs_of`, `all_programs`),
`extra_outputs`, `persistent_cache`, `background_compile` and `xla_options`. They are not imported here, because
`core/__init__` loads these modules in a certain order.
"""
