"""Commands of a pause, typed at a prompt or sent by buttons and keys of the graph view."""

import builtins
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.debugger.paused_step import Pause


class Command(NamedTuple):
    """One command of the prompt.

    Attributes:
        key (str): the short form, which is also the key in the graph view.
        name (str): the long form.
        title (str): description for the help text.
        argument (str): name of its argument; "" for none.
        act (Callable): function of the pause and the argument. It returns the text to print.
    """

    key: str
    name: str
    title: str
    argument: str
    act: Callable[["Pause", str], str]


def _make_move_action(name: str, counts: bool = False) -> Callable[["Pause", str], str]:
    def act(pause: "Pause", argument: str) -> str:
        cursor = pause.cursor
        getattr(cursor, name)(*([_parse_count(argument)] if counts else []))
        return cursor.where()

    return act


def _parse_count(argument):
    if argument and not (argument.isdigit() and int(argument)):
        raise ValueError(f"A count should be an int of at least 1, but got {argument!r}.")
    return int(argument or 1)


def _run_to_query(pause, argument):
    if not argument:
        raise ValueError("r needs a query, such as: r op:ReLU line:12")
    pause.cursor.run_to(argument)
    return pause.cursor.where()


def _make_resume_action(order: str) -> Callable[["Pause", str], str]:
    def act(pause: "Pause", argument: str) -> str:
        pause.resume(order, _parse_count(argument) if order == "step" else 1)
        return ""

    return act


def _move_back_or_print(pause, argument):
    return _evaluate_expression(pause, argument) if argument else _make_move_action("previous_node")(pause, "")


def _evaluate_expression(pause, expression):
    if not expression:
        raise ValueError("print needs an expression, such as: p value.shape")
    names = {**pause.namespace, "cursor": pause.cursor}
    if re.search(r"(?<![.\w])value\b", expression):  # computed only if the expression uses it
        names["value"] = pause.cursor.value
    return repr(builtins.eval(expression, names))


def _format_node_value(pause, argument):
    cursor = pause.cursor if not argument else pause.cursor.at(argument)
    array = cursor.value
    return f"{cursor.node.name}: {array!r}"


def _get_help_text(pause, argument):
    return help_text()


COMMANDS: tuple[Command, ...] = (
    Command("n", "next", "next node; n 5 goes five nodes on", "COUNT", _make_move_action("next_node", counts=True)),
    Command(
        "p",
        "previous",
        "previous node; p EXPR prints an expression of your names, cursor and value",
        "EXPR",
        _move_back_or_print,
    ),
    Command("N", "next-line", "next line of Python", "", _make_move_action("next_line")),
    Command("P", "previous-line", "previous line of Python", "", _make_move_action("previous_line")),
    Command("i", "into", "into the next Cell, loop or branch", "", _make_move_action("into")),
    Command("o", "out", "out of this Cell", "", _make_move_action("out")),
    Command("]", "next-round", "next round of the loop", "COUNT", _make_move_action("next_round", counts=True)),
    Command(
        "[", "previous-round", "previous round of the loop", "COUNT", _make_move_action("previous_round", counts=True)
    ),
    Command("m", "mate", "same operator in the other lane", "", _make_move_action("mate")),
    Command("r", "run-to", "run to a node: r op:ReLU line:12", "QUERY", _run_to_query),
    Command("w", "where", "the position: step, node, Cell, line, round", "", lambda pause, _: pause.cursor.where()),
    Command("v", "value", "the value of the node, or of another one: v op:ReLU", "QUERY", _format_node_value),
    Command("hits", "hits", "the hits of watchpoints", "", lambda pause, _: pause.describe_hits()),
    Command("c", "continue", "continue to the next hit, breakpoint or pause", "", _make_resume_action("continue")),
    Command("s", "step", "run the next step; s 10 runs ten", "COUNT", _make_resume_action("step")),
    Command("q", "quit", "stop the training", "", _make_resume_action("stop")),
    Command("h", "help", "these words", "", _get_help_text),
)
_BY_WORD = {word: command for command in COMMANDS for word in (command.key, command.name)} | {
    "print": Command("print", "print", "", "EXPR", _evaluate_expression),
    "stop": COMMANDS[-2],
    "?": COMMANDS[-1],
}


def help_text() -> str:
    """Return the help text: all commands with their keys."""
    return "\n".join(f"{f'{c.key} {c.argument}'.strip():<9} {c.title}" for c in COMMANDS)


def obey(pause: "Pause", text: str) -> str:
    """Execute one line of the prompt on a pause. Return the text to print.

    An empty line repeats the last move.

    Raises:
        ValueError: If the word is unknown, or the cursor can't move there. The message is for the user.
    """
    text = text.strip() or pause.last_line
    word, _, argument = text.partition(" ")
    command = _BY_WORD.get(word)
    if command is None:
        raise ValueError(f"{word!r} is no word here. {' '.join(c.key for c in COMMANDS)}; h explains them.")
    if argument and not command.argument:
        raise ValueError(f"{command.key} takes no argument, but got {argument.strip()!r}.")
    said = command.act(pause, argument.strip())
    pause.last_line = text if command.key in _REPEATS else ""
    return said


_REPEATS = frozenset("npNPio][mr")


def run_prompt(pause: "Pause") -> bool:
    """Read commands from stdin until one of them ends the pause. Return False if there is no stdin.

    The end of the input continues the training.
    """
    if pause.note or pause.hits:
        print(pause.describe_hits())
    print(f"Paused at {pause.cursor.where()}")
    is_answered = False
    while not pause.is_resumed:
        try:
            line = input("(msnb) ")
        except EOFError:
            if is_answered:
                pause.resume("continue")
            return is_answered
        # stdin cannot be read: StdinNotImplementedError in a kernel, OSError in pytest, RuntimeError without sys.stdin
        except Exception as error:
            if is_answered:
                raise
            pause.problem = f"{type(error).__name__}: {error}"
            return False
        is_answered = True
        try:
            said = obey(pause, line)
        except Exception as error:  # also an error in the user's expression
            said = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        if said:
            print(said)
    sys.stdout.flush()
    return True
