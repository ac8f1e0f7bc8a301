"""Functions that create graph views: of a Cell, function, program or file, of two networks, and of a failed trace."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jax.extend.core import ClosedJaxpr

from msnb.core.errors.messages import describe
from msnb.core.program.program_cache import program_of
from msnb.core.transforms.jit import ms_function
from msnb.exchange.open_file import graph_in, holds_weights, weights_in
from msnb.exchange.tracing import evaluating
from msnb.insight.dump.dumped_run import is_dump
from msnb.ir.anf import FuncGraph
from msnb.ir.api import graph, name_of
from msnb.ir.partial_graph import graph_before
from msnb.ir.stages import Stages
from msnb.notebook.display.checkpoint_diff import Changes
from msnb.notebook.display.checkpoint_table import Contents, contents
from msnb.notebook.graph import live
from msnb.notebook.graph.node_values import Caller
from msnb.notebook.graph.value_diff_view import compare_values
from msnb.notebook.graph.view import HEIGHT, GraphView
from msnb.notebook.kernel import cell_names

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.nn.cell import Cell


def view(
    net: "Cell | Callable[..., Any] | Program | FuncGraph | ClosedJaxpr | str | os.PathLike[str]",
    *inputs: Any,
    stages: tuple[str, ...] | None = None,
    height: int = HEIGHT,
    values: bool = False,
    labels: Any = None,
) -> GraphView | Contents:
    """Return an interactive graph of a Cell or a function.

    As the last expression of a notebook cell the view is interactive: open and close scopes, search, see each node's
    attributes, shapes, costs and source line. Without widgets it is a standalone page inside the notebook, and without
    scripts a picture.

    Args:
        net (Union[Cell, Callable, Program, FuncGraph, ClosedJaxpr, str]): the network. It is traced but not run. Only
            the stage "optimised" compiles it. Programs come from events of `core.state.events`. A str is a file name:
            the graph of ``"model.mindir"``, ``"model.onnx"`` or ``"model.stablehlo"`` is read and not run;
            ``"net.ckpt"`` and ``"net.safetensors"`` have no graph, so their Parameters are listed.
        inputs: the arguments of the call of `net` to trace.
        stages (tuple[str]): the stages in the view: ``"traced"`` (MindSpore's operators), ``"differentiated"`` (with
            the operators of the gradient; "traced" then has the forward program only), ``"primitives"`` (JAX's
            primitives), ``"StableHLO"`` (the input of XLA) and ``"optimised"`` (XLA's kernels). With two or more the
            first two are shown side by side, with their differences. In a running notebook the other stages are
            computed on demand. Default: None, the complete program in MindSpore's operators.
        height (int): height in pixels. Default: 560.
        values (bool): run the network on `inputs` and show the value of every node, see `GraphView.run`. Default:
            False.
        labels (Any): tokens for the axes of attention, with `values`; see `GraphView.run`. Default: None.

    Returns:
        GraphView, or Contents of a file that has no graph.

    Raises:
        TypeError: If `net` is of another type, or `labels` have another form.
        FileNotFoundError: If there is no such file.
        ValueError: If a file can't be read, `height` is not a positive int, a stage is unknown, or there are `labels`
            without `values`.
        Exception: The error of `net` during tracing; a notebook shows the part before it, with the failing operator in
            red.

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, nn
        >>> from msnb.notebook import graph
        >>> graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
        GraphView(Dense: 2 nodes)
    """
    if labels is not None and not values:
        raise ValueError("For 'view', 'labels' are tokens for the pictures of attention: they need values=True.")
    if isinstance(net, (str, os.PathLike)):
        if holds_weights(net):
            return contents(net)
        net = graph_in(net)
    traced = hasattr(net, "jaxpr") and hasattr(net, "inputs")
    if isinstance(net, FuncGraph) or not traced and (hasattr(net, "jaxpr") or not callable(net)):
        return GraphView(graph(net, *inputs), height=height)
    root = net if traced or hasattr(net, "_graph_call") else ms_function(net)
    try:
        program = net if traced else program_of(root, *inputs)
    except Exception as error:
        show_before(error, net, inputs, {}, height)
        raise
    graph_view = of_program(program, net.name if traced else name_of(net), stages, height)
    if not traced:
        graph_view.attach(Caller(root, program, inputs, name_of(net)))
        if cell_names.shell() is not None:
            live.follow(graph_view, net, inputs, {})
    if values:
        graph_view.run(labels=labels)
    return graph_view


def of_program(program: Any, name: str | None, stages: Any = None, height: int = HEIGHT) -> GraphView:
    """Return a view of a traced program; its other stages are computed when the view asks for them."""
    every = Stages(program, name)
    return GraphView(
        {stage: every[stage] for stage in stages or (every.main,)},
        height=height,
        make=every.__getitem__,
        offered=every.offered,
        wait=every.wait,
        weights=program.params,
    )


def show_before(error: BaseException, net: Any, args: Any, kwargs: Any, height: int = HEIGHT) -> None:
    """Show the part of a network that was traced before `error`, with the failing operator marked.

    It does nothing outside a notebook. The view is updated while the user edits the cell.
    """
    message = live.sentence_of(error, net, args) if cell_names.shell() is not None else None
    graph = graph_before(error, name_of(net), message) if message is not None else None
    if graph is not None:
        from IPython.display import display

        graph_view = GraphView(graph, height=height)
        display(graph_view)
        live.follow(graph_view, net, args, kwargs)


def diff(
    old: "Cell | Callable[..., Any] | FuncGraph | ClosedJaxpr | str | os.PathLike[str]",
    new: "Cell | Callable[..., Any] | FuncGraph | ClosedJaxpr | str | os.PathLike[str]",
    *inputs: Any,
    names: tuple[str, ...] = ("old", "new"),
    height: int = HEIGHT,
    values: bool = False,
    rtol: float | None = None,
    pairs: Mapping[Any, Any] | None = None,
    weights: str | None = None,
) -> GraphView | Changes:
    """Compare two networks, or two versions of one, side by side: equal, changed, removed and added nodes. Each can be
    the name of a file. If one is a file, the other is traced in evaluation mode, because files have graphs of that
    mode. If one is a file with Parameters only, ``"net.ckpt"`` or ``"net.safetensors"``, its values are compared with
    the Parameters of the other.

    With ``values=True`` both networks run on the inputs. Each node shows how much of its difference comes from its
    operands and how much the node itself adds, relative to its largest value. `first` of the result is the first node
    that adds more than rounding explains. `explain()` describes it in a text. With ``values=True``, `old` and `new` can
    also be ``msnb.in_mode("PYNATIVE", net)``, ``msnb.in_dtype("float16", net)``, ``msnb.on_device("GPU", net)``,
    ``msnb.in_onnxruntime("net.onnx")``, ``(timeline, step)``, the folder of a dump that msnb or MindSpore has written,
    or ``(folder, iteration)``. A network runs in GRAPH mode, unless `in_mode` says otherwise. Parameters do not change:
    a compared training step does not train.

    Args:
        old (Union[Cell, Callable, FuncGraph, ClosedJaxpr, str]): the network on the left.
        new (Union[Cell, Callable, FuncGraph, ClosedJaxpr, str]): the network on the right.
        inputs: the inputs of the networks that are not files. A comparison of Parameters needs none.
        names (tuple[str]): names of the two networks in the view. Default: ("old", "new").
        height (int): height in pixels. Default: 560.
        values (bool): compare the values of all nodes. Default: False, the graphs only.
        rtol (float): for values, the tolerance of a node relative to its largest value. Default: None, a tolerance
            that depends on the node's dtype and on the number of terms that it adds.
        pairs (dict): for values, additional pairs of nodes to compare, which are not matched automatically. Keys are
            queries for nodes of `old`, values are queries for nodes of `new`, such as
            ``{"op:Conv2D line:12": "op:Conv2D line:40"}``. Default: None.
        weights (str): for values, ``"copy"`` to use the Parameters of `old` in both, or ``"as they are"`` to compare
            networks with different Parameters. Default: None, different Parameters are an error.

    Returns:
        GraphView, or Changes if one is a file with Parameters only. Its `comparison` counts the differences. With
        ``values=True`` the result is a ValueDiffView.

    Raises:
        ValueError: If `names` are not two different words, or a file can't be read. For values, if the Parameters
            differ, no node is common, or a dump belongs to another network or batch.
        TypeError: If one is a file of Parameters, and the other has none.
        FileNotFoundError: If there is no such file.
    """
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"For 'diff', 'names' should be two different words, but got {names!r}.")
    if values:
        return compare_values(old, new, inputs, names, height, rtol, pairs, weights)
    unused = [name for name, value in (("rtol", rtol), ("pairs", pairs), ("weights", weights)) if value is not None]
    if unused:
        raise ValueError(f"For 'diff', '{unused[0]}' has an effect on values only: pass values=True.")
    both = old, new
    if any(map(is_dump, both)):
        raise ValueError("For 'diff', a dump has values and no graph: pass values=True and the dumped batch.")
    files = [isinstance(one, (str, os.PathLike)) for one in both]
    if any(is_file and holds_weights(one) for one, is_file in zip(both, files, strict=True)):
        return Changes(_map_parameters_by_name(old), _map_parameters_by_name(new), names)
    graphs = []
    for one, is_file in zip(both, files, strict=True):
        with evaluating(one) if any(files) else contextlib.nullcontext():
            graphs.append(graph_in(one) if is_file else graph(one, *inputs))
    return GraphView(dict(zip(names, graphs, strict=True)), height=height, is_difference=True)


def _map_parameters_by_name(source):
    """Return the Parameters of a file, a graph or a network by name."""
    if isinstance(source, (str, os.PathLike)) and holds_weights(source):
        return weights_in(source)
    if hasattr(source, "parameters_and_names"):
        return {p.name: p for p in source.get_parameters()}
    graph = graph_in(source) if isinstance(source, (str, os.PathLike)) else source
    if not getattr(graph, "weights", None):
        raise TypeError(
            f"For 'diff', a file of Parameters is compared with Parameters, but {describe(source)} has none."
        )
    return graph.weights
