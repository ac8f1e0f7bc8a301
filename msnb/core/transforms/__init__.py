"""Function transformations of the public API: `jit`, `grad`, `vmap`, `recompute`, hooks and custom gradients."""
