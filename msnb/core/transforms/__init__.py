"""Function transformations of the public API: `jit`, `grad`, `vmap`, `recompute`, hooks and custom gradients.

They are imported from their modules: `jit.jit`, `grad.grad`, `grad.value_and_grad`, `functional.vmap`,
`recompute.recompute`. A name exported here would hide the module of the same name, and `compiler_hints` and `recompute`
are loaded on first use.
"""
