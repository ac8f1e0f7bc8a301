"""Move a cursor over the nodes of one recorded step, forward and back.

The step has already run, so a move changes only the position. The value at the position is computed when it is read. A
`Replay` computes it with a compiled part of the step and does not run single operators.
"""

import copy
import linecache
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from msnb import context
from msnb.core.errors.source_location import format_location
from msnb.core.tensor.tensor import Tensor, box
from msnb.insight.debugger.names import name_of_node
from msnb.insight.debugger.replay import Replay
from msnb.insight.debugger.selection import select_nodes

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import CNode


class Cursor:
    """A position among the nodes of one step, in the order of execution.

    Nodes of a loop or of a branch come after the node of the loop or branch. A node that did not run, in a branch
    that was not taken, is skipped.

    An impossible move raises ValueError with the reason and does not change the position.

    Args:
        replay (Replay): the step.
        node (Union[str, int, CNode]): the first position, as for `select_nodes`. Default: None, the first node.
        step (int): number of the step in a training, for `where`. Default: None.

    Attributes:
        replay (Replay): the step.
        nodes (list[CNode]): all nodes in the order of execution.
        node (CNode): the current node.
        round (Union[tuple[int], None]): index of the current iteration of each loop around the node, outermost loop
            first. None means the last iteration.
        step (Union[int, None]): number of the step.

    Raises:
        ValueError: If the step has no node, or if no node matches `node`.

    Examples:
        >>> from msnb import Tensor, nn
        >>> from msnb.insight.debugger import Cursor, Replay, program_inputs
        >>> from msnb.ir.api import of_program
        >>> program, inputs = program_inputs(nn.Dense(3, 4), Tensor([[1.0, 2.0, 3.0]]))
        >>> cursor = Cursor(Replay(program, of_program(program), inputs))
        >>> cursor.node.op, cursor.next_node().node.op
        ('MatMul', 'BiasAdd')
    """

    def __init__(self, replay: Replay, node: Any = None, step: int | None = None) -> None:
        self.replay = replay
        self.step = step
        self.nodes: list[CNode] = list(replay.graph.all_nodes())
        if not self.nodes:
            raise ValueError(f"{replay.graph.name} has no node: its results are its inputs or constants.")
        self._index = {node.id: index for index, node in enumerate(self.nodes)}
        self._around: dict[int, CNode] = {}  # number of a node -> the loop or branch around it
        for outer in self.nodes:
            self._around.update((inner.id, outer) for graph in outer.graphs for inner in graph.nodes)
        self.node: CNode = self.nodes[0] if node is None else select_nodes(replay.graph, node)[0]
        self.round: tuple[int, ...] | None = None

    # ------------------------------------------------------------------ the value
    @property
    def value(self) -> Tensor:
        """The result of the current node that other nodes read.

        Raises:
            ValueError: If it can't be read.
        """
        return self.output()

    def output(self, slot: int | None = None) -> Tensor:
        """Return one result of the current node, in the current round.

        Args:
            slot (int): index of the result. Default: None, the one that other nodes read.

        Raises:
            ValueError: If the value can't be read, or there is no such result.
        """
        return box(self.replay.output(self.node, slot, self.round))

    @property
    def gradient(self) -> Tensor | None:
        """The gradient with respect to the first result of the current node; None if the step has none."""
        gradient = self.replay.gradient(self.node)
        return None if gradient is None else box(gradient)

    @property
    def n_rounds(self) -> int | None:
        """Number of iterations of the innermost loop around the current node; None outside of loops."""
        iterations = self._count_loop_iterations(self.round)
        return iterations[-1] if iterations else None

    def _count_loop_iterations(self, round: tuple[int, ...] | None) -> tuple[int, ...]:
        """Return the number of iterations of each loop around the current node; () if it is outside of loops or cannot
        be read.
        """
        if self._find_enclosing_loop(self.node) is None:
            return ()
        if round is not None and len(round) == 1:
            round = None  # a single loop has the same number of iterations in each round
        try:
            return self.replay.iterations(self.node, round=round)
        except ValueError:
            return ()

    # ------------------------------------------------------------------ moves
    def at(self, query: Any) -> "Cursor":
        """Return another cursor at the first node that a query selects. This cursor does not move.

        Args:
            query (Union[str, int, CNode]): words as in the search of the graph view, or the number of a node.
        """
        other = copy.copy(self)
        other._move_to_node(select_nodes(self.replay.graph, query)[0])
        return other

    def next_node(self, count: int = 1) -> Self:
        """Move forward by `count` nodes. Returns the cursor."""
        for _ in range(count):
            self._move_to_node(
                self._find_first_node(self._iterate_nodes_ahead(), lambda node: True, "is the last node of the step")
            )
        return self

    def previous_node(self, count: int = 1) -> Self:
        """Move back by `count` nodes. Returns the cursor."""
        for _ in range(count):
            self._move_to_node(
                self._find_first_node(self._iterate_nodes_before(), lambda node: True, "is the first node of the step")
            )
        return self

    def next_line(self) -> Self:
        """Move to the first node of another line of Python. Returns the cursor."""
        line = _get_file_and_line(self.node)
        nodes = self._iterate_nodes_ahead()
        self._move_to_node(
            self._find_first_node(
                nodes, lambda node: _get_file_and_line(node) not in (None, line), "has no further line behind it"
            )
        )
        return self

    def previous_line(self) -> Self:
        """Move to the first node of the previous line of Python. Returns the cursor."""
        line = _get_file_and_line(self.node)
        behind = list(self._iterate_nodes_before())
        last = self._find_first_node(
            behind, lambda node: _get_file_and_line(node) not in (None, line), "has no line before it"
        )
        first = last
        for node in behind[behind.index(last) :]:
            if _get_file_and_line(node) != _get_file_and_line(last):
                break
            first = node
        self._move_to_node(first)
        return self

    def into(self) -> Self:
        """Move to the first node in the next Cell. At a loop or a branch, move to its first node. Returns the
        cursor.
        """
        if any(graph.nodes for graph in self.node.graphs):
            self._move_to_node(
                self._find_first_node(self._iterate_nodes_ahead(), lambda node: True, "has no node that did run in it")
            )
            return self
        scope = self.node.scope
        self._move_to_node(
            self._find_first_node(
                self._iterate_nodes_ahead(),
                lambda node: not _is_inside_scope(scope, node.scope),
                "has no Cell behind it",
            )
        )
        return self

    def out(self) -> Self:
        """Move out of the current Cell, to the first node after it. Returns the cursor."""
        scope = self.node.scope
        self._move_to_node(
            self._find_first_node(
                self._iterate_nodes_ahead(),
                lambda node: not _is_inside_scope(node.scope, scope),
                f"is in {scope or 'the step'}, which ends the step: there is no node behind it",
            )
        )
        return self

    def next_round(self, count: int = 1) -> Self:
        """Move to the same node in the next iteration of the loop around it. Returns the cursor."""
        return self._move_by_rounds(count)

    def previous_round(self, count: int = 1) -> Self:
        """Move to the same node in the previous iteration. Returns the cursor."""
        return self._move_by_rounds(-count)

    def mate(self) -> Self:
        """Move to the node of the same operator in the other lane, from forward to backward or from backward to
        forward.
        """
        mates = self._counterpart_by_node_id
        if self.node.id not in mates:
            lanes = {node.direction for node in self.nodes}
            if lanes == {"forward"}:
                raise ValueError(f"The step has one lane: it takes no gradient.{_explain_missing_gradients()}")
            raise ValueError(f"{self._format_node_name(self.node)} has no node of the same operator in the other lane.")
        self._move_to_node(mates[self.node.id])
        return self

    def run_to(self, query: Any) -> Self:
        """Move to the next node that a query selects. If none follows, move to the first one of the step.

        Args:
            query (Union[str, int, CNode]): words as in the search of the graph view, such as ``"op:ReLU line:12"``.

        Raises:
            ValueError: If no node matches; the message lists similar ones.
        """
        matches = [node for node in select_nodes(self.replay.graph, query) if self._did_run(node)]
        if not matches:
            raise ValueError(f"No node that {query!r} selects did run: all are in branches that were not taken.")
        here = self._index[self.node.id]
        self._move_to_node(next((node for node in matches if self._index[node.id] > here), matches[0]))
        return self

    # ------------------------------------------------------------------ words
    def where(self) -> str:
        """Return the position in words: step, node, Cell, line and round."""
        node = self.node
        place = f"node {self._index[node.id] + 1} of {len(self.nodes)}"
        words = [
            place if self.step is None else f"step {self.step}, {place}",
            node.direction,
            self._format_node_name(node),
        ]
        if node.source is not None:
            file, line = node.source[:2]
            text = linecache.getline(file, line).strip()
            words.append(format_location(file, line) + (f": {text}" if text else ""))
        iterations = self._count_loop_iterations(self.round)
        if iterations:
            now = self._get_current_round(iterations)
            words.append("round " + ", ".join(f"{i} of 0 to {n - 1}" for i, n in zip(now, iterations, strict=True)))
        return " | ".join(words)

    def __repr__(self) -> str:
        return f"Cursor({self.where()})"

    @staticmethod
    def _format_node_name(node):
        return name_of_node(node)

    # ------------------------------------------------------------------ order
    def _iterate_nodes_ahead(self):
        return (node for node in self.nodes[self._index[self.node.id] + 1 :] if self._did_run(node))

    def _iterate_nodes_before(self):
        return (node for node in reversed(self.nodes[: self._index[self.node.id]]) if self._did_run(node))

    def _find_first_node(self, nodes, matches: Callable[["CNode"], bool], otherwise):
        for node in nodes:
            if matches(node):
                return node
        raise ValueError(f"{self._format_node_name(self.node)} {otherwise}.")

    def _move_to_node(self, node):
        if self._find_enclosing_loop(node) is not self._find_enclosing_loop(self.node):
            self.round = None
        self.node = node

    def _get_current_round(self, iterations):
        return tuple(n - 1 for n in iterations) if self.round is None else self.round

    def _move_by_rounds(self, count):
        iterations = self._count_loop_iterations(self.round)
        if not iterations:
            raise ValueError(f"{self._format_node_name(self.node)} is not inside a loop: it has one round.")
        now = self._get_current_round(iterations)
        for _ in range(abs(count)):
            now = self._compute_next_round(now) if count > 0 else self._compute_previous_round(now)
        self.round = now
        return self

    def _compute_next_round(self, now):
        """Return the round after `now`. After the last round of an inner loop, the next outer round begins."""
        iterations = self._count_loop_iterations(now)
        for loop in reversed(range(len(now))):
            if now[loop] + 1 < iterations[loop]:
                return (*now[:loop], now[loop] + 1, *(0 for _ in now[loop + 1 :]))
        raise ValueError(f"This is the last of the {iterations[-1]} rounds.")

    def _compute_previous_round(self, now):
        """Return the round before `now`. Before the first round of an inner loop comes its last round within the
        previous round of the outer loop.
        """
        for loop in reversed(range(len(now))):
            if now[loop] > 0:
                earlier = (*now[:loop], now[loop] - 1, *(0 for _ in now[loop + 1 :]))
                for inner in range(loop + 1, len(now)):
                    last = self._count_loop_iterations(earlier)[inner] - 1
                    earlier = (*earlier[:inner], last, *earlier[inner + 1 :])
                return earlier
        raise ValueError(f"This is the first of the {self._count_loop_iterations(now)[-1]} rounds.")

    def _find_enclosing_loop(self, node):
        """Return the innermost loop around a node, or None."""
        around = self._around.get(node.id)
        while around is not None and around.op == "Switch":
            around = self._around.get(around.id)
        return around

    def _did_run(self, node):
        return node.id not in self._around or self._count_runs(node) != 0

    def _count_runs(self, node):
        try:
            return self.replay.rounds(node)
        except ValueError:  # a value that can't be read, such as the condition of a loop
            return None

    @property
    def _counterpart_by_node_id(self):
        """Return {number of a node: first node of the same operator in the other lane}."""
        cached = self.__dict__.get("_mate_table")
        if cached is None:
            lanes: dict[Any, tuple[list[CNode], list[CNode]]] = {}
            for node in self.nodes:
                if node.direction in ("forward", "backward") and not node.is_recomputed:
                    key = node.op, node.scope, _get_file_and_line(node)
                    lanes.setdefault(key, ([], []))[node.direction == "backward"].append(node)
            cached = self.__dict__["_mate_table"] = {}
            for forward, backward in lanes.values():
                size = max(1, len(backward) // max(1, len(forward)))  # backward nodes of one forward node
                groups = [backward[start : start + size] for start in range(0, len(backward), size)]
                # backward nodes run in the opposite order
                for one, group in zip(forward, reversed(groups), strict=False):
                    cached[one.id] = group[0]
                    cached.update((other.id, one) for other in group)
        return cached


def _explain_missing_gradients():
    if context.get_context("mode") != context.PYNATIVE_MODE:
        return ""
    return (
        " In PYNATIVE mode a gradient that is taken outside of the Cell has no nodes: put loss and gradient into "
        "nn.TrainOneStepCell, or use GRAPH mode."
    )


def _get_file_and_line(node):
    return None if node.source is None else node.source[:2]


def _is_inside_scope(scope, outer):
    """Return True if a scope is `outer` or is inside it."""
    return not outer or scope == outer or scope.startswith(f"{outer}/")
