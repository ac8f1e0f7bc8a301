"""Tools subscribe to events (`msnb.core.state.events`) and replace nothing that another module defines.

Part of the architecture's tests: the modules are read, never run.
"""

import ast
from pathlib import Path

import pytest
from trees import tree_of

PACKAGE = Path(__file__).parent.parent / "msnb"

# Attributes that describe a function, class, module or exception, and do not change its behaviour.
_SAYS = set(
    "__name__ __qualname__ __doc__ __module__ __signature__ __wrapped__ __annotations__ __kwdefaults__ __code__ "
    "__all__ __file__ __path__ __spec__ __loader__ __package__ __version__ __notes__ __cause__ __context__ "
    "__suppress_context__ __traceback__".split()
)
_PATCHING = {"unittest.mock", "mock", "pytest", "gorilla", "wrapt"}


def replaced(tree):
    """Return (line, text) of each place in a module's syntax tree that

    * assigns to or deletes an attribute of a class that stands in another module, or a dunder of anything but itself,
    * gives an object that it was handed, or a module that it imports, a function in place of its own,
    * calls `setattr` or `delattr` on anything but itself and its own classes, or uses a patching library.
    """
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    results = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Call) and _sets(node, own):
            results.append((node.lineno, ast.unparse(node)))
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = (
                [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
            )
            results += [(node.lineno, ast.unparse(node)) for name in names if name in _PATCHING]
            continue
        else:
            continue
        value = getattr(node, "value", None)
        is_function = isinstance(value, ast.Lambda) or isinstance(value, ast.Name) and value.id in functions
        for target in (part for whole in targets for part in ast.walk(whole)):
            if isinstance(target, ast.Attribute) and isinstance(target.ctx, (ast.Store, ast.Del)):
                if _is_own(target.value, own) or _root(target) in ("self", "cls"):
                    continue
                a_class = _last_name(target.value)[:1].isupper() and not _last_name(target.value).isupper()
                dunder = target.attr.startswith("__") and target.attr.endswith("__") and target.attr not in _SAYS
                if a_class or dunder or is_function:
                    results.append((node.lineno, ast.unparse(node).partition("\n")[0]))
    return sorted(set(results))


def _sets(call, own):
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return name in ("setattr", "delattr") and bool(call.args) and not _is_own(call.args[0], own)


def _is_own(owner, own):
    """Check that it is the object itself, its class, or a class of this module."""
    return isinstance(owner, ast.Name) and owner.id in own | {"self", "cls"}


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last_name(owner):
    return owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""


# Where something is replaced, or looks like it: (module, how the line begins) -> why. A debt is named as one.
REPLACED = {
    (
        "msnb.insight.terminal_traceback",
        "sys.excepthook = ",
    ): "how Python is told who shows an error; another's hook is kept",
    ("msnb.alias", "setattr(self._namespace, "): "the package's own names, while the alias is on",
    ("msnb.alias", "delattr(self._namespace, "): "the package's own names, while the alias is on",
    ("msnb.mindspore2", "setattr(self.__dict__['_module'], "): "a face hands on what a program sets on it",
    ("msnb.mindspore2", "delattr(self.__dict__['_module'], "): "a face hands on what a program deletes from it",
    ("msnb.run_check", "sys.modules[__name__].__class__"): "the module itself, which is called by its name",
    ("msnb.communication.management", "GlobalComm."): "values, which MindSpore keeps on this class",
    ("msnb.compression.quant.qat", "delattr(cell, "): "an operator of the network that it is given to convert",
    ("msnb.labelling.features", "setattr(owner, "): "a Cell of a copy that it has made of the network",
    ("msnb.core.compat.jax_private", "_pjit._infer_params = "): "private JAX, in a module that may touch it",
    (
        "msnb.core.compat.jax_compilation",
        "_compiler.compile_or_get_cached = ",
    ): "private JAX; the function itself is called",
    (
        "msnb.core.compat.jax_compilation",
        "_mlir.lower_jaxpr_to_module = ",
    ): "private JAX; called where it is needed",
    (
        "msnb.core.compat.jax_compilation",
        "_pxla.MeshComputation.stablehlo = ",
    ): "private JAX; the method itself is called",
    ("msnb.core.compat.jax_compilation", "_mlir.make_ir_context = "): "private JAX, as JAX 0.12 has it",
    ("msnb.core.compat.jax_compilation", "setattr(_pxla, "): "private JAX; what is called is, and a Stop in it heard",
    ("msnb.core.state.events", "setattr(subscribers, "): "its own table of listeners",
    (
        "msnb.core.operator.api_generations",
        "setattr(first, ",
    ): "a class of two names: what a program replaces under one of them",
    (
        "msnb.core.operator.api_generations",
        "delattr(first, ",
    ): "a class of two names: what a program puts back under one of them",
    ("msnb.core.support.interrupts", "sys.unraisablehook = "): "how Python is told who takes such errors",
    (
        "msnb.core.tensor.lazy",
        "parameter.__class__ = ",
    ): "its own kind of Parameter, and what that is once it has values",
    ("msnb.core.tensor.cell_state", "setattr(self.cell, "): "a Tensor of the user's, as what its graph can set",
    ("msnb.core.program.program", "setattr(cell, "): "what construct sets, set by the call that ran it",
    ("msnb.core.script.jump_flags", "setattr(node, "): "fields of a syntax tree",
    ("msnb.core.script.runtime", "setattr(owner, "): "what the user's own statement sets",
    ("msnb.core.script.bound_names", "setattr(copied_node, "): "fields of a syntax tree",
    (
        "msnb.core.operator.api_generations",
        "Parameter.takes_any_shape_and_type = ",
    ): "a switch that Parameter has for the generation in use",
    (
        "msnb.core.operator.api_generations",
        "Tensor._is_filled_without_init = ",
    ): "a switch that Tensor has for the generation in use",
    ("msnb.core.operator.traced_attributes", "opened.fn = "): "a copy that it has made itself",
    ("msnb.dataset.engine.graphserver", "setattr(graph, "): "a stand-in that it has made itself",
    ("msnb.insight.profile.figures", "setattr(cell, "): "a sum, in a row of its own table",
    (
        "msnb.nn.probability.distribution.transformed_distribution",
        "Bijector._transformed = ",
    ): "a class that stands above names itself to the one below, which makes it",
    ("msnb.nn.probability.transforms.transform_bnn", "setattr(net, "): "a layer of the user's network, as they asked",
    ("msnb.train._uncertainty_evaluation", "setattr(net, "): "a layer of a copy of the user's network",
    ("msnb.train._uncertainty_evaluation", "setattr(ale_model, "): "a layer of a copy of the user's network",
    ("msnb.notebook.kernel.errors", "error._render_traceback_ = "): "how IPython is told to show an error",
    (
        "msnb.notebook.debugger.controls",
        "comm._reply_subshell_for = ",
    ): "debt: ipykernel 7.4 sends buttons to the main shell, which the paused cell blocks",
    (
        "msnb.notebook.kernel.errors",
        "shell.showtraceback = ",
    ): "debt: short errors; IPython's set_custom_exc is for those of the cell's own statements alone",
}


def test_nobody_replaces_what_another_module_defines():
    places = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        places += [(module, line, text) for line, text in replaced(tree_of(path))]
    allowed = {
        (m, start) for m, start in REPLACED for module, _, text in places if m == module and text.startswith(start)
    }
    wrong = [
        f"{module}:{line} {text}"
        for module, line, text in places
        if not any(m == module and text.startswith(start) for m, start in allowed)
    ]
    assert not wrong, "be told of it by msnb.core.state.events, or ask its module for a way:\n" + "\n".join(wrong)
    assert allowed == REPLACED.keys(), f"no longer so, take it out of REPLACED: {REPLACED.keys() - allowed}"


@pytest.mark.parametrize(
    "code",
    [
        "from msnb.nn.cell import Cell\nCell._run_with_precision_and_hooks = watched",
        "from msnb.core import api\napi.JitFunction.__call__ = watched",
        "from msnb.core.eager.kernel import Kernel\ndel Kernel.run",
        "def hook():\n    from msnb.nn import Cell\n    Cell.a, b = 1, 2",
        "for kind in kinds:\n    kind.__call__ = watch(kind)",
        "for owner, name in hooked:\n    setattr(owner, name, before)",
        "def install(shell):\n    def run():\n        pass\n    shell.run_ast_nodes = run",
        "import builtins\nbuiltins.print = lambda *a: None",
        "from unittest import mock",
        "import unittest.mock",
    ],
)
def test_a_replacement_is_detected(code):
    assert replaced(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "class Own:\n    pass\nOwn.run = run",
        "class Own:\n    def set(self):\n        self.run = lambda: 1\n        self.kind.run = 2",
        "def wraps(made, fn):\n    made.__name__, made.__doc__ = fn.__name__, fn.__doc__",
        "thread.results_observed = True\nbox._array = array",
    ],
)
def test_what_a_module_does_with_its_own_is_no_replacement(code):
    assert not replaced(ast.parse(code))
