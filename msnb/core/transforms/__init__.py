"""Function transformations of the public API: `jit`, `grad`, `vmap`, `recompute`, hooks and custom gradients.

They are imported from their modules, for example `jit.jit`, `grad.grad`, `functional.vmap` and `recompute.recompute`.
This package does not export them, because a name such as `jit` would hide the module of the same name. The modules
`compiler_hints` and `recompute` are loaded on first use.
"""
