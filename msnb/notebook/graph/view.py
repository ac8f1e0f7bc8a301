"""The graph view of a network: live widget, standalone page, still picture, text."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import jax

from msnb.core.tensor.tensor import Tensor, box
from msnb.insight.debugger.replay import Replay, Round
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.interventions.what_if import AttributeEdit, Edit, Outcome
from msnb.ir.anf import FuncGraph
from msnb.ir.api import dot, text
from msnb.ir.compare import compare
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.layout.picture import Pictures
from msnb.ir.overlay import check_column, pack_column, transfer_column
from msnb.ir.payload import difference, gzipped, listings, pack, stage
from msnb.ir.table import of_cells, of_nodes
from msnb.notebook.display import page
from msnb.notebook.display.tensor_html import tensor_html
from msnb.notebook.graph.background_stages import StageBuilder
from msnb.notebook.graph.node_values import (
    Caller,
    NodeValues,
    describe_change,
    statistic_column,
    with_values_of,
)
from msnb.notebook.graph.what_if import KEY, ViewedEdits, describe_attributes, describe_outcome
from msnb.notebook.graph.widget import HEIGHT, MODULE, widget_class
from msnb.notebook.kernel import cell_names, cell_views
from msnb.notebook.view import Renewed, checked_height

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.tensor.parameter import Parameter

_COLOURS = ("kind", "dtype", "flops", "bytes")
_SOME = ("memory", "sent")  # columns that some graphs lack; these graphs are then coloured by kind
_LARGE = 5000  # maximum nodes of a graph that is saved in full; larger ones are saved without repeated blocks


class GraphView(Renewed):
    """The result of `view` and `diff`; it can be saved as .html, .svg, .png, .dot or .ir (text).

    Args:
        graphs (Union[FuncGraph, dict[str, FuncGraph]]): one graph, or several by name; two or more are compared.
        height (int): height in pixels. Default: 560.
        columns (dict): values per node of the first graph, by key, in the form of `set_column`. Default: None.
        colour (str): initial colouring: ``"kind"``, ``"dtype"``, ``"flops"``, ``"bytes"``, ``"memory"``,
            ``"sent"`` (bytes that devices send, if the stage has them) or a key of `columns`. Default: "kind".
        make (Callable): returns the graph of a stage from its name, on demand. Default: None.
        offered (tuple[str]): stages that `make` supports. Default: ().
        wait (Callable): returns the estimated seconds of a stage, see `StageBuilder`. Default: None, all stages are
            fast.
        weights (Iterable[Parameter]): the Parameters whose values the user may query. Default: (), no values.
        is_difference (bool): True if the first two graphs are two networks whose differences are drawn. Default:
            False, they are stages of one network.
    """

    def __init__(
        self,
        graphs: FuncGraph | dict[str, FuncGraph],
        height: int = HEIGHT,
        columns: dict[Any, Any] | None = None,
        colour: str = "kind",
        make: Callable[..., Any] | None = None,
        offered: tuple[str, ...] = (),
        wait: Callable[[str], float | None] | None = None,
        weights: "Iterable[Parameter]" = (),
        is_difference: bool = False,
    ) -> None:
        super().__init__()
        self._is_difference = is_difference
        self._compared = (), None  # the graphs and their comparison
        self.height = checked_height("view", height)
        self.graphs: dict[str, FuncGraph] = graphs if isinstance(graphs, dict) else {"traced": graphs}
        if not self.graphs:
            raise ValueError("For 'view', 'stages' should name at least one stage, but is empty.")
        self._columns = {}  # (stage, key) -> column
        self._measured = {}  # (stage, key) -> (graph at the time of `set_column`, column)
        self.is_closed: bool = False
        self._payload = self._saved = None
        self._trees = {}
        for key, column in (columns or {}).items():
            self.set_column(key, column, colour=False)
        colours = (*_COLOURS, *_SOME, *(columns or {}))
        if colour not in colours:
            raise ValueError(f"For 'GraphView', 'colour' should be one of {', '.join(colours)}, but got {colour!r}.")
        self._colour = colour
        self._stage_builder = StageBuilder(make, offered, wait)
        self._weights = WeakValueDictionary((parameter.name, parameter) for parameter in weights)
        self._caller: Caller | None = None
        self._values: NodeValues | None = None
        self._stepper: Any = None
        self._edits: ViewedEdits | None = None
        self._followed_values: NodeValues | None = None
        self._runs = 0

    @property
    def graph(self) -> FuncGraph:
        """The (first) FuncGraph."""
        return next(iter(self.graphs.values()))

    @property
    def comparison(self) -> Any:
        """The differences of the first two graphs, None if there is only one."""
        pair = tuple(self.graphs.values())[:2]
        if len(pair) < 2:
            return None
        graphs, comparison = self._compared
        if comparison is None or any(one is not other for one, other in zip(graphs, pair, strict=True)):
            comparison = compare(*pair)
            self._compared = pair, comparison
        return comparison

    def __repr__(self) -> str:
        return f"GraphView({self._format_title()})"

    def _format_title(self):
        last = self.graph.nodes[-1] if self.graph.nodes else None
        stop = f", stops at {last.op}" if last is not None and last.problem is not None else ""
        return f"{self.graph.name}: {len(self.graph)} nodes{stop}"

    @property
    def colour(self) -> Any:
        """The current colouring, which the user can change in the view."""
        return self._colour if self._widget is None else self._widget.colour

    @property
    def columns(self) -> Any:
        """The columns of the first graph, {key: column}."""
        first = next(iter(self.graphs))
        return {key: column for (stage, key), column in self._columns.items() if stage == first}

    def set_column(
        self, key: str, column: dict[Any, Any] | None, colour: bool = True, stage: str | None = None
    ) -> None:
        """Show a number per node: as its colour, in its panel, and as the sum or maximum on each closed scope. A view
        on the screen is updated, and its open scopes and selected node stay; its saved form is updated, too.

        Args:
            key (str): name of the column. An existing column of that name is replaced.
            column (Union[dict, None]): ``values``, one number per node in the order of ``graph.all_nodes()``, None for
                a node without one; and optionally ``label``, ``unit`` (``"s"`` and ``"B"`` are written with
                prefixes: 0.0004 s is 400 µs), ``note`` (words per node for its panel, or None), ``fold`` (``"sum"`` or
                ``"max"`` of the nodes in a closed scope, or ``"largest"``, the value of largest magnitude; default
                ``"sum"``) and ``scale`` (``"linear"`` or ``"log"``, default ``"linear"``). None removes the column.
            colour (bool): True to colour the boxes by a new column from now on. If a column is replaced, the user's
                choice of colours does not change. Default: True.
            stage (str): name of the graph in `graphs` that the column belongs to. Default: None, the first.

        Raises:
            ValueError: If the number of values is not the number of nodes, or a key or word in `column` is unknown.
            TypeError: If a value is no number.

        Examples:
            >>> import numpy as np
            >>> from msnb import Tensor, nn
            >>> from msnb.notebook import graph
            >>> view = graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
            >>> view.set_column("time", {"unit": "s", "values": [0.002, 0.0005]})
            >>> view.columns["time"]["fold"], view.colour
            ('sum', 'time')
        """
        stage = next(iter(self.graphs)) if stage is None else stage
        if stage not in self.graphs:
            raise ValueError(
                f"For 'GraphView.set_column', 'stage' should be one of {', '.join(self.graphs)}, but got {stage!r}."
            )
        if key in (*_COLOURS, "difference"):
            raise ValueError(
                f"For 'GraphView.set_column', 'key' should not be the name of a colour scheme that is "
                f"there already, but got {key!r}."
            )
        new = (stage, key) not in self._columns
        if column is None:
            self._columns.pop((stage, key), None)
            self._measured.pop((stage, key), None)
        else:
            self._columns[stage, key] = check_column(key, column, len(self.graphs[stage]))
            self._measured[stage, key] = self.graphs[stage], self._columns[stage, key]
        self._payload = self._saved = None
        choice = key if colour and new and column is not None else None
        if choice is not None:
            self._colour = choice
        cell_views.changed(self)
        if self._widget is not None:
            with self._widget.hold_sync():
                self._widget.columns = self._pack_columns()
                if choice is not None:
                    self._widget.colour = choice

    # ------------------------------------------------------------------ values
    def run(self, *inputs: Any, labels: Any = None, saves: bool = True, **kwargs: Any) -> Self:
        """Compute the value of every node for these inputs; a click on a node then shows its values.

        The program of the view is run with the current Parameters, which do not change: a viewed training step does not
        train. If the shapes of the inputs have changed, the view shows the graph of the new shapes.

        Args:
            inputs (Tensor): arguments of the call, as for `view`. Default: those of the last run.
            labels (Any): tokens for the axes of attention: a list of str; a list of such lists, one per example; or a
                tuple of two of these, for queries and keys. Default: None.
            saves (bool): save the values of the viewed nodes with the notebook, up to 2 MB. Default: True.
            kwargs: keyword arguments of the call.

        Returns:
            GraphView, this view.

        Raises:
            ValueError: If the view shows a file or a graph, which have no network to run.
            TypeError: If `labels` has another form.
        """
        if self._caller is None:
            raise ValueError(
                "This view has no network to run: it shows a file, a graph or a difference. "
                "Call msnb.view with a Cell or a function, such as msnb.view(net, x).run(x)."
            )
        program, arrays = self._caller.call(inputs, kwargs)
        stages = self._caller.stages(program)
        if program is not self._caller.program:
            self._caller.program = program
            self.update(
                stages[stages.main], stages.main, stages.__getitem__, stages.offered, stages.wait, program.params
            )
        replay = Replay(program, self.graphs.get(stages.main) or stages[stages.main], arrays)
        self.show_values(NodeValues(lambda step: replay, stages.main, labels=labels, saves=saves))
        return self

    def attach(self, caller: Caller) -> None:
        """Set the network that `run` calls."""
        self._caller = caller

    def attach_stepper(self, stepper: Any) -> None:
        """Set the cursor over a paused step that the page shows and moves: an object with ``state`` and ``answer``."""
        self._stepper = stepper
        self.show_stepper()

    def show_stepper(self) -> None:
        """Show the state of the cursor."""
        if self._widget is not None and self._stepper is not None:
            self._widget.debug = self._stepper.state

    def values_to_follow(self) -> NodeValues | None:
        """Return the values of `run` that follow an edit of the network; None if there are none."""
        values = self._values if self._values is not None else self._followed_values
        return values if self._caller is not None and values is not None and len(values.steps) == 1 else None

    def follow_network(self, net: Any, program: Any) -> None:
        """Let `run` call another version of the network, with the inputs of the last call."""
        if self._caller is not None:
            self._caller = self._caller.with_net(net, program)

    def follow_values(self, before: NodeValues, net: Any, program: Any, is_edited: bool) -> None:
        """Compute the values of another version of the network on the inputs of the last run, and show the change.

        A line above the graph has the change of the output, and of the loss if it is a scalar. The column ``change``
        has the relative change of each node. If the values can't be computed, the line has the reason.

        Args:
            before (NodeValues): values of the previous version.
            net (Union[Cell, Callable]): the network.
            program (Program): its program, which the view shows.
            is_edited (bool): True for a network that was rebuilt from edited text. Its Parameters can lack values.
        """
        assert self._caller is not None, "only a view with a network has values to follow"
        caller = self._caller.with_net(net, program)
        try:
            traced, arrays = caller.call((), {})
            if traced is not program:
                raise ValueError("the inputs have other shapes than those of the last run; call run(...) again")
            replay = Replay(
                program, self.graph, with_values_of(before.replay, program, arrays) if is_edited else arrays
            )
            values = NodeValues(lambda step: replay, next(iter(self.graphs)), labels=before.labels, saves=before.saves)
            said, column = describe_change(before.replay, replay)
        except Exception as error:
            self.note(f"The values wait for the cell to run: {type(error).__name__}: {error}"[:300], stale=False)
            return
        self._caller, self._followed_values = caller, None
        self.show_values(values)
        self._recompute_statistics()
        self.set_column("change", column)
        self.note(said, stale=False)

    def show_values(self, values: "NodeValues") -> None:
        """Show the values of the nodes of one graph."""
        self._remove_change_column()  # this column belongs to the earlier values
        self._values, self._edits = values, ViewedEdits(values)
        self._runs += 1
        self._payload = self._saved = None
        if self._widget is not None:
            with self._widget.hold_sync():
                self._send_value_state(self._widget)

    def _get_state_of_all_values(self):
        values = self._values
        if values is None:
            return {"valued": "", "runs": self._runs, "steps": [], "step": 0}
        return {"valued": values.stage, "runs": self._runs, "steps": values.steps, "step": values.step}

    def _send_value_state(self, widget):
        state = self._get_state_of_all_values()
        widget.valued, widget.runs = state["valued"], state["runs"]
        widget.steps, widget.step = state["steps"], state["step"]

    def value(self, node: Any, slot: int | None = None, round: Round | None = None, kind: str = "output") -> Tensor:
        """Return a value of the last `run`.

        Args:
            node (Union[str, int, CNode]): a query as in the search of the view, such as ``"op:ReLU line:12"``; the
                first node that it selects. An int is the number of a node.
            slot (int): index of the result of a node with several results. Default: None, the one that other nodes
                read.
            round (Union[int, tuple[int]]): iteration of the loop around the node, from 0. In nested loops, one int
                per loop from the outermost. Default: None, the last one.
            kind (str): ``"output"``, or ``"gradient"`` with respect to the output. Default: "output".

        Returns:
            Tensor.

        Raises:
            ValueError: If nothing has run, no node matches, or the value can't be read.
        """
        if self._values is None:
            raise ValueError("The view has no values yet: call its run(...) first.")
        replay = self._values.replay
        return box(replay.value(select_nodes(replay.graph, node)[0], slot, round, kind))

    def preview(self, *nodes: Any) -> Self:
        """Store the values of nodes in the saved form of the view, as a click on each node does.

        Args:
            nodes (Union[str, int, CNode]): queries as for `value`; each stores all nodes that it selects.

        Returns:
            GraphView, this view.

        Raises:
            ValueError: If nothing has run, or no node matches.
        """
        if self._values is None:
            raise ValueError("The view has no values yet: call its run(...) first.")
        for query in nodes:
            for node in select_nodes(self._values.replay.graph, query):
                self._values.answer({"node": node.id})
        self._payload = self._saved = None
        cell_views.changed(self)
        return self

    def values(self, stat: str = "abs_mean") -> None:
        """Colour the nodes by a statistic of their first output.

        Args:
            stat (str): ``"abs_mean"``, ``"mean"``, ``"std"``, ``"min"``, ``"max"``, ``"zeros"`` (share), ``"nan"`` or
                ``"inf"`` (counts). Default: "abs_mean".

        Raises:
            ValueError: If nothing has run, or there is no such statistic.
        """
        if self._values is None:
            raise ValueError("The view has no values yet: call its run(...) first.")
        replay, stage = self._values.replay, self._values.stage
        if stage not in self.graphs:
            raise ValueError(
                f"The values belong to the stage {stage!r}, which the view does not show: select it first."
            )
        self.set_column(f"value {stat}", statistic_column(replay, replay.graph, stat), stage=stage)

    def change(
        self,
        node: Any,
        factor: float = 0.0,
        shift: float = 0.0,
        channel: int | None = None,
        attribute: tuple[str, float] | None = None,
    ) -> Outcome | None:
        """Change the value of one node in the last `run`, and colour the nodes by the change of their values.

        The value becomes ``value * factor + shift``. The defaults set it to 0. Only this view's run is affected: no
        Parameter is written, and the network does not change. To change the network's own calls, use `msnb.intervene`.

        Args:
            node (Union[str, int, CNode, None]): a query, whose first match is the node. None ends the change.
            factor (float): factor of the value. Default: 0.0.
            shift (float): added to the value. Default: 0.0.
            channel (int): index of the channel that changes. The channels are axis 1 of a value with 4 or more axes,
                and the last axis of other values. Default: None, all channels.
            attribute (tuple): name and number, such as ``("epsilon", 1e-3)``: the node is computed with another
                attribute, and `factor`, `shift` and `channel` do not apply. Default: None.

        Returns:
            Outcome, with ``before`` and ``after`` (results) and ``differences`` (per node); None if the change ends.

        Raises:
            ValueError: If nothing has run, no node matches, or the value can't be changed.
        """
        if self._values is None or self._edits is None:
            raise ValueError("The view has no values yet: call its run(...) first.")
        if node is None:
            self._remove_change_column()
            return None
        selected = select_nodes(self._values.replay.graph, node)[0]
        if attribute is None:
            return self._run_and_show_edit(Edit(selected.id, float(factor), float(shift), channel))
        if not isinstance(attribute, (tuple, list)) or len(attribute) != 2 or not isinstance(attribute[0], str):
            raise ValueError(f"'attribute' should be a name and a number, such as ('axis', 1), but got {attribute!r}.")
        return self._run_and_show_edit(AttributeEdit(selected.id, *attribute))

    def _remove_change_column(self):
        for name, key in list(self._columns):
            if key == KEY:
                self.set_column(KEY, None, stage=name)

    def _run_and_show_edit(self, edit):
        outcome = self._edits.run(edit)
        if self._values.stage in self.graphs:
            self.set_column(KEY, self._edits.column(edit, outcome), stage=self._values.stage)
        return outcome

    def _answer_edit_request(self, content):
        """Return the answer to a request of the page to change the value of a node, or to end the change."""
        reply = {"kind": "change", "node": content.get("node")}
        try:
            if content.get("attribute") is not None:
                edit = AttributeEdit(int(content["node"]), str(content["attribute"]), content.get("value"))
                return {**reply, **describe_outcome(edit, self._run_and_show_edit(edit))}
            if content.get("factor") is None:
                self.change(None)
                return {**reply, "text": "", "results": []}
            channel = content.get("channel")
            edit = Edit(
                int(content["node"]),
                float(content["factor"]),
                float(content.get("shift") or 0),
                None if channel is None else int(channel),
            )
            return {**reply, **describe_outcome(edit, self._run_and_show_edit(edit))}
        except Exception as error:  # send every error as the answer, because the page waits for one
            return {**reply, "problem": f"{error}"[:300]}

    # ------------------------------------------------------------------ data for the page
    def _pack_columns(self):
        """Return {"stage/key": bytes} for the widget, which already has the graph."""
        return {
            f"{stage}/{key}": gzipped({"stage": stage, "key": key, **pack_column(column)})
            for (stage, key), column in self._columns.items()
        }

    @property
    def payload(self) -> bytes:
        """The serialized view. Equal graphs have equal bytes."""
        if self._payload is None:
            self._payload = self._build_payload(False)
        return self._payload

    @property
    def saved_payload(self) -> bytes:
        """The bytes that a notebook file stores. For a large graph, repeated blocks are left out."""
        if len(self.graphs) > 1 or len(self.graph) <= _LARGE:
            return self.payload
        if self._saved is None:
            self._saved = self._build_payload(True)
        return self._saved

    def _get_scope_tree(self, name):
        """Return the scope tree of a graph, cached for all forms of the view."""
        graph, tree = self._trees.get(name, (None, None))
        if graph is not self.graphs[name]:
            tree = Hierarchy(self.graphs[name], states=self._get_comparison_states().get(name))
            self._trees[name] = self.graphs[name], tree
        return tree

    def _get_comparison_states(self):
        """Return {name: state of each node in the comparison} for two compared networks."""
        if not self._is_difference:
            return {}
        comparison = self.comparison
        return dict(zip(self.graphs, (comparison.first, comparison.second), strict=False))

    def _build_payload(self, folded):
        graphs = list(self.graphs.values())
        stages = [
            stage(
                graph,
                name,
                self._get_scope_tree(name),
                folded=folded,
                columns={key: column for (where, key), column in self._columns.items() if where == name},
            )
            for name, graph in self.graphs.items()
        ]
        pairs = [(a, b) for b in range(len(graphs)) for a in range(b)]
        diffs = [difference(a, b, compare(graphs[a], graphs[b])) for a, b in pairs]
        return pack(
            stages,
            colour=self._colour,
            offered=list(self._stage_builder.offered),
            diffs=diffs,
            files=listings(graphs[:1]),
            beside=list(self.graphs)[1] if len(graphs) > 1 else "",
            folded=int(folded),
            previews=self._values.saved() if self._values is not None else {},
            valued=self._values.stage if self._values is not None else "",
        )

    @staticmethod
    def _widget_class():
        return widget_class()

    def _build_widget_state(self):
        return {
            "payload": self.saved_payload,
            "columns": self._pack_columns(),
            "colour": self._colour,
            "height": self.height,
            "cells": cell_names.ids(),
            "waits": self._stage_builder.waits(),
            **self._get_state_of_all_values(),
            "debug": self._stepper.state if self._stepper is not None else {},
        }

    def _connect_widget(self, widget):
        self.is_closed = False
        widget.observe(self._on_stage_selected, "wanted")
        widget.observe(self._on_step_selected, "step")
        widget.on_msg(self._on_message)

    def _on_message(self, widget, content, buffers):
        """Answer a message of the page: the full payload, a stage as text, a Parameter's values, or a cancellation."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "whole":
            widget.send({"kind": "whole"}, buffers=[self.payload])
        elif kind == "print" and content.get("stage") in self.graphs:
            printed = {"text": text, "dot": dot}[content["form"]](self.graphs[content["stage"]])
            widget.send({"kind": "printed", "text": printed})
        elif kind == "weight":
            name = content.get("name")
            widget.send({"kind": "weight", "name": name, "html": self._format_weight(name)})
        elif kind == "value" and self._values is not None:
            values = self._values
            if not values.delay(lambda: self._send_value(widget, values, content)):
                self._send_value(widget, values, content)
        elif kind == "debug" and self._stepper is not None:
            self._stepper.answer(content)
        elif kind == "hover" and self._values is not None:
            widget.send(self._values.hover_rows())
        elif kind == "excite" and self._values is not None:
            widget.send(self._values.excite(content))
        elif kind == "file" and self._values is not None:
            message, files = self._values.file(content)
            widget.send(message, buffers=files)
        elif kind == "change" and self._values is not None:
            widget.send(self._answer_edit_request(content))
        elif kind == "attributes" and self._values is not None:
            widget.send(describe_attributes(self._values, content))
        elif kind == "cancel":
            self._stage_builder.give_up()

    def _send_value(self, widget, values, content):
        if values is not self._values or self.is_closed:
            return  # the request is for an earlier step, or the page was closed
        widget.send(values.answer(content))
        self._payload = self._saved = None  # the saved form includes the values that were viewed
        cell_views.changed(self)

    def _on_step_selected(self, change):
        """Show the values of the step that the user has selected."""
        if self._values is not None and change["new"] in self._values.steps:
            self._values.select_step(change["new"])
            self._remove_change_column()
            self._recompute_statistics()

    def _recompute_statistics(self):
        """Compute the columns of statistics again, from the current values."""
        stage = self._values.stage if self._values is not None else None
        for where, key in list(self._columns):
            if key.startswith("value ") and where == stage:
                self.values(key.removeprefix("value "))

    def _format_weight(self, name):
        """Return the current values of a Parameter as HTML."""
        parameter = self._weights.get(name)
        # a Parameter of a rebuilt network has a shape but no values
        has_values = parameter is not None and isinstance(parameter._kind, jax.Array)
        return (tensor_html(parameter) if has_values else None) or "<p>It has no values yet: run the cell.</p>"

    def _on_stage_selected(self, change):
        """Compute and show a stage that the user has selected."""
        name = change["new"]
        if name not in self.graphs:
            self._stage_builder.ask(name, self._add_stage, self._show_error)

    def _add_stage(self, name, graph):
        self.graphs[name] = graph
        self._payload = self._saved = None
        self._widget.payload = self.saved_payload

    def _show_error(self, name, problem):
        """Show an error in the page. A user does not see a kernel's log."""
        self._widget.send({"kind": "said", "text": f"{name}: {type(problem).__name__}: {problem}"[:300]})

    def update(
        self,
        func_graph: FuncGraph,
        stage: str | None = None,
        make: Callable[..., Any] | None = None,
        offered: tuple[str, ...] = (),
        wait: Callable[[str], float | None] | None = None,
        weights: "Iterable[Parameter]" = (),
    ) -> None:
        """Replace the graph of this view. Open scopes stay open, and unchanged nodes keep their column values.

        Args:
            func_graph (FuncGraph): the new graph.
            stage (str): name of the new graph. Default: None, the name of the previous graph.
            make (Callable): returns the other stages of the program from their names. Default: None, there are none.
            offered (tuple[str]): stages that `make` supports. Default: ().
            wait (Callable): as in the constructor. Default: None.
            weights (Iterable[Parameter]): as in the constructor. Default: ().
        """
        self._remove_change_column()
        first = next(iter(self.graphs))
        self.graphs = {stage or first: func_graph}
        self._stage_builder.give_up()
        self._stage_builder = StageBuilder(make, offered, wait)
        self._weights = WeakValueDictionary((parameter.name, parameter) for parameter in weights)
        self._followed_values = self._values or self._followed_values
        self._values = self._edits = None  # these belong to the earlier graph
        self._measured = {
            (stage or first, key): measurement for (where, key), measurement in self._measured.items() if where == first
        }
        self._columns = {
            column_key: transfer_column(graph, func_graph, column)
            for column_key, (graph, column) in self._measured.items()
        }
        self._payload = self._saved = None
        if self._widget is not None:
            with self._widget.hold_sync():
                self._widget.stale = ""
                self._widget.columns = self._pack_columns()
                self._widget.waits = self._stage_builder.waits()
                self._send_value_state(self._widget)
                self._widget.payload = self.saved_payload

    def note(self, why: str, stale: bool = True) -> None:
        """Show the reason why the graph differs from the cell's text. The next `update` removes it.

        Args:
            why (str): the reason; ``""`` for none.
            stale (bool): True if the graph is older than the cell, and is drawn pale. Default: True.
        """
        if self._widget is not None:
            self._widget.stale = f"{'!' if why and stale else ''}{why}"

    def close(self) -> None:
        """Free the view's resources in kernel and browser. Displaying the view again recreates them."""
        widget = self._widget
        if widget is not None:
            self._colour = widget.colour
        super().close()
        self.is_closed = True
        self._trees = {}
        self.release_network()
        if widget is not None:
            widget.unobserve_all()

    def release_network(self) -> None:
        """Reference the network of the view weakly from now on. The view shows its graph, and `run` works as long as
        the network is alive. Stages that it does not show yet are offered after the next `run`.
        """
        if self._caller is not None:
            self._caller.release()
        self._stage_builder.give_up()
        self._stage_builder = StageBuilder()
        self._payload = self._saved = None

    def text(self) -> str:
        """Return the graph as functional IR."""
        return text(self.graph)

    def dot(self) -> str:
        """Return the graph in the DOT language."""
        return dot(self.graph)

    def svg(self, boxes: int | None = None) -> str:
        """Return the graph as a still picture, see `msnb.ir.svg`, coloured by a column if the view is.

        Two stages, or two compared networks, are drawn side by side; the networks are coloured by their differences.

        Args:
            boxes (int): number of boxes up to which scopes are opened. Default: None, as many as are readable.
        """
        names = list(self.graphs)[:2]
        pictures = Pictures(
            [self._get_scope_tree(name) for name in names],
            headings=names if len(names) > 1 else None,
            column=self.columns.get(self.colour),
        )
        return pictures.readable() if boxes is None else pictures.document(boxes)

    def rows(self, by: str | None = None) -> list[dict[str, Any]]:
        """Return the (first) graph as plain rows, see `table`.

        Args:
            by (str): ``"Cell"`` for a row per Cell. Default: None, a row per node.

        Returns:
            list[dict].

        Raises:
            ValueError: If `by` is something else.
        """
        if by not in (None, "Cell"):
            raise ValueError(f"For 'GraphView.rows', 'by' should be None (a row per node) or 'Cell', but got {by!r}.")
        if by == "Cell":
            return of_cells(self.graph)
        rows = of_nodes(self.graph)
        for key, column in self.columns.items():
            for row, value in zip(rows, column["values"], strict=True):
                row[key] = value
        return rows

    def table(self, by: str | None = None) -> Any:
        """The (first) graph as a table to sort, filter and sum.

        Args:
            by (str): ``"Cell"`` for one row per Cell: its output, Parameters, FLOPs, and how often it is repeated;
                equal Cells one after another are one row. Default: None, one row per node: operator, Cell, output,
                inputs, attributes, FLOPs, bytes, line of source, and a column for each of `columns`.

        Returns:
            pandas.DataFrame.

        Raises:
            ValueError: If `by` is something else.
            ModuleNotFoundError: If pandas is not installed; `rows` needs nothing.

        Examples:
            >>> import numpy as np
            >>> from msnb import Tensor, nn
            >>> from msnb.notebook import graph
            >>> view = graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
            >>> [(row["operator"], row["shape"], row["flops"]) for row in view.rows()]
            [('MatMul', (2, 4), 48), ('BiasAdd', (2, 4), 8)]
        """
        rows = self.rows(by)
        try:
            import pandas
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "GraphView.table() gives a pandas.DataFrame, and pandas is not installed: run 'pip install pandas', or "
                "take rows(), a list of dicts."
            ) from None
        return pandas.DataFrame(rows)

    def html(self) -> str:
        """Return the interactive view as a page that needs no kernel, no network and no other file."""
        return _build_graph_page(self.payload, self.graph.name).html()

    def save(self, path: str | Path) -> None:
        """Write the view to a file: .html (interactive), .svg, .png, .dot or .ir (text), by its suffix.

        .svg and .png have the still picture. To save the open scopes and colours of the screen, use the toolbar of the
        view.

        In a saved page, the name of a box after "#" in the address selects the box: ``net.html#layer1.0.conv``.

        Args:
            path (Union[str, Path]): path of the file.

        Raises:
            ValueError: If the suffix is none of these.
        """
        super().save(path)

    def _list_file_formats(self):
        return {**super()._list_file_formats(), ".dot": self.dot, ".ir": self.text, ".txt": self.text}

    _purpose = "explore the graph"

    def _name(self):
        return f"Graph of {self._format_title()}"

    def _build_page(self):
        return _build_graph_page(self.saved_payload, self.graph.name)


def _build_graph_page(payload, title):
    return page.Page(title, MODULE, {"data": payload}, "made.still(view,parts.data)")
