"""Conversion of a function object into its lowered form, with the same globals, closure, defaults and line numbers."""

import ast
import inspect
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from msnb.core.errors.converted_code import is_converted, register_converted
from msnb.core.script import source
from msnb.core.script.bound_names import arguments, at_location, copy_tree, load
from msnb.core.script.lower import RUNTIME, Lowering, mangle_private
from msnb.core.support.weak_identity import WeakIdentityDict, attach, attached

_FACTORY, _INNER = "__msnb_factory", "__msnb_function"
_CONVERTED = "__msnb_twin__"  # attribute of a function: (its code at conversion, converted function)
# code -> lowered code; by identity, because equal code objects may come from different files
_codes = WeakIdentityDict()

# Packages whose functions are not converted: they never branch on Tensors, or their branches must run in plain Python.
_LIBRARIES = {
    "msnb",
    "jax",
    "jaxlib",
    "numpy",
    "scipy",
    "builtins",
    "functools",
    "itertools",
    "collections",
    "math",
    "typing",
    "abc",
    "copy",
    "inspect",
    "os",
    "sys",
    "re",
    "time",
    "random",
    "logging",
    "warnings",
    "enum",
    "dataclasses",
    "operator",
    "contextlib",
    "matplotlib",
    "IPython",
    "pytest",
    "tqdm",
    "pandas",
    "sklearn",
    "torch",
    "PIL",
    "cv2",
    "threading",
    "weakref",
    "types",
    "ast",
    "pathlib",
    "json",
    "string",
    "unittest",
    "hypothesis",
    "_pytest",
    "pluggy",
    "easydict",
}
_STDLIB = os.path.dirname(os.__file__) + os.sep


def is_library(fn: Any) -> bool:
    """Return True if a function belongs to a library and is called unchanged."""
    module = getattr(fn, "__module__", None)
    if module is None:
        return True
    # Other modules of the standard library are recognised by file, because a user's module may have the same name.
    if module.partition(".")[0] in _LIBRARIES:
        return True
    filename = fn.__code__.co_filename
    return filename.startswith(_STDLIB) and "site-packages" not in filename


def is_library_module(name: str) -> bool:
    """Return True if a module belongs to a library or to Python."""
    root = name.partition(".")[0]
    return root in _LIBRARIES or root in sys.stdlib_module_names


def convert(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowered form of a Python function, or `fn` itself if it is library code or already lowered.

    Raises:
        SourceMissing: If the source is missing and the function branches or loops.
        SyntaxRefused: If it has syntax that cannot be part of a graph.
    """
    code = fn.__code__
    cached = attached(fn, _CONVERTED)
    if cached is not None and cached[0] is code:
        return cached[1]
    if is_converted(code) or is_library(fn) or getattr(fn, "__msnb_library__", False):
        return fn
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return fn
    converted = _make_converted_function(fn, code)
    attach(fn, _CONVERTED, (code, converted))
    return converted


def _make_converted_function(fn, code):
    lowered = _codes.get(code)
    if lowered is None:
        try:
            lowered = _codes[code] = _lower_code(fn, code)
        except source.SourceMissing:
            if _has_no_jumps(code):
                return fn  # without jumps, it has no branch that depends on a Tensor
            raise
    cells: dict[str, Any] = dict(zip(code.co_freevars, fn.__closure__ or ()))
    cells[RUNTIME] = _runtime
    converted = types.FunctionType(
        lowered, fn.__globals__, fn.__name__, fn.__defaults__, tuple(cells[n] for n in lowered.co_freevars)
    )
    converted.__kwdefaults__ = fn.__kwdefaults__
    converted.__module__, converted.__qualname__, converted.__doc__ = fn.__module__, fn.__qualname__, fn.__doc__
    return converted


_runtime = types.CellType()  # the run-time module; empty until `set_runtime` has been called


def set_runtime(module: types.ModuleType) -> None:
    """Register the module whose functions lowered code calls. It imports this module, so it calls this function."""
    _runtime.cell_contents = module


def _has_no_jumps(code):
    """Return True if the code has no jumps."""
    import dis

    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    return not any(i.opcode in jumps for i in dis.get_instructions(code))


def _lower_code(fn, code):
    node, class_name = source.find_definition(code, fn.__qualname__)
    node = copy_tree(node)
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(node.body), node.body)
        node = at_location(node, ast.FunctionDef(_INNER, node.args, [body], []))
        ast.copy_location(node, body)
        if sys.version_info >= (3, 12):
            node.type_params = []
    if class_name:
        mangle_private(node, class_name)
    lowered = Lowering(code.co_filename).function(node)
    lowered.name = _INNER
    none = ast.Constant(None)
    lowered.args.defaults = [none for _ in lowered.args.defaults]
    lowered.args.kw_defaults = [d and none for d in lowered.args.kw_defaults]
    factory = ast.FunctionDef(_FACTORY, arguments(*code.co_freevars, RUNTIME), [lowered, ast.Return(load(_INNER))], [])
    if sys.version_info >= (3, 12):
        factory.type_params = []
    module = ast.fix_missing_locations(ast.Module([at_location(node, factory)], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    outer = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    inner = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == _INNER)
    inner = inner.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    register_converted(inner)
    return inner
