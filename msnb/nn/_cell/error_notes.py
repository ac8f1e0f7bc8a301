"""Notes on errors that leave a Cell: they name the Cell as the user wrote it.

A note leaves class and message of the error unchanged. An example:

in body.2.conv (Conv2d(8, 16, kernel_size=3)), input (2, 16, 8, 8), at In [5] line 7
"""

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb.core.errors.cell_path import attribute_name
from msnb.core.errors.messages import describe, is_library_code, remove_jax_note
from msnb.core.errors.source_location import format_location
from msnb.core.tensor.tensor import Tensor

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn._cell.tree import CellTree

_NOTE_ATTRIBUTE = "__msnb_cell__"  # attribute of an error: its `_CellNote`, or False if it gets none
_MOST_INPUTS = 4
_POSITIONAL = 2  # leading constructor arguments that are shown without their name
# optional constructor arguments that are shown, because errors often depend on them
_SETTINGS = ("stride", "pad_mode", "padding", "dilation", "group", "activation", "axis", "num_layers", "bidirectional")


class _CellNote:
    """Text of a note and the Cell that it names. Cells that contain this Cell prepend their attribute names to
    `path`."""

    __slots__ = ("cell", "path", "about", "misfit", "note")

    def __init__(self, cell, args, error):
        self.path, self.note = "", None
        self.take(cell, args, error)

    def __reduce__(self):
        return bool, ()  # an error sent to another process keeps its note, but not the Cell

    def take(self, cell, args, error):
        """Let the note describe `cell` instead of a Cell inside it."""
        self.cell, self.path = cell, ""
        self.about, self.misfit = _describe_call(cell, args, error), _explain_input_misfit(cell, args, error)


_listeners: list[Callable[[Exception], None]] = []  # called with each error that leaves a Cell


def on_cell_error(act: Callable[[Exception], None]) -> None:
    """Call `act` with each error that leaves a Cell. Hosts that format errors themselves use it."""
    _listeners[:] = [act]


def tensor_expected_error(
    cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> TypeError | None:
    """Return a TypeError if `error` arose because a layer of msnb got an input that is not a Tensor. Otherwise return
    None."""
    is_own_layer = _is_library_layer(cell) and cell._holds is None  # not a wrapper: its Cell may be the user's
    if type(error) is not AttributeError or error.name is None or not is_own_layer or not _is_raised_by_library(error):
        return None
    names = [*inspect.signature(cell.construct).parameters]
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        if type(value) is type(error.obj) and not isinstance(value, Tensor):  # compares types, as traces rebuild lists
            replacement = TypeError(
                f"For '{type(cell).__name__}', '{name}' should be a Tensor, but got {describe(value)}."
            )
            return replacement.with_traceback(error.__traceback__)
    return None


def add_note(cell: Any, args: tuple[Any, ...], error: Exception) -> None:
    """Add a note to an error that leaves `cell`, called with `args`. The note says where in the network it was raised.

    Only errors raised by msnb or JAX get a note. For errors of user code the line is enough, and errors of a running
    graph have their line already.
    """
    try:
        _update_note(cell, args, error)
    except Exception:  # an error in this function must not hide the user's error
        vars(error)[_NOTE_ATTRIBUTE] = False
    for act in _listeners:
        act(error)


def summarize_error(error: Exception) -> str:
    """Return a one-line summary of an error with the path of the layer. If the inputs do not fit the layer, it states
    the expected input instead of the error's message."""
    message, note = str(error).partition("\n")[0] or type(error).__name__, vars(error).get(_NOTE_ATTRIBUTE)
    if not note:
        return message
    where = note.path or note.about[0]
    if note.misfit:
        return f"{note.misfit} In {note.path}." if note.path else note.misfit
    return f"{message} In {where}." if message.endswith(".") else f"{message}, in {where}"


def _update_note(cell, args, error):
    remove_jax_note(error)
    note = vars(error).get(_NOTE_ATTRIBUTE)
    if note is None:
        if not _is_raised_by_library(error) or any(
            line.startswith("raised ") for line in getattr(error, "__notes__", ())
        ):
            note = False
        else:
            note = _CellNote(cell, args, error)
        vars(error)[_NOTE_ATTRIBUTE] = note
        if note:
            _attach_note_text(error, note)
    elif note and note.cell is not cell:
        if _hides_children(cell):
            note.take(cell, args, error)
        else:
            _prepend_attribute_to_path(note, cell)
            note.cell = cell
        _attach_note_text(error, note)


def _prepend_attribute_to_path(note, cell):
    step = attribute_name(cell, note.cell)
    if cell._holds is not None:  # a wrapper is not in the user's code: the path begins inside it
        step = "" if step == cell._holds else step.lstrip("_")
    elif not step:
        step = type(note.cell).__name__
    note.path = ".".join(part for part in (step, note.path) if part)


def _attach_note_text(error, cell_note):
    notes = [note for note in getattr(error, "__notes__", ()) if note is not cell_note.note]
    kind, inputs = cell_note.about
    where = f"in {cell_note.path} ({kind}), {inputs}" if cell_note.path else f"in {kind}, {inputs}"
    cell_note.note = f"{cell_note.misfit}\n{where}" if cell_note.misfit else where
    error.__notes__ = [*notes, cell_note.note]


def _describe_call(cell, args, error):
    """Return (constructor text of the Cell, its inputs and the location of the call)."""
    shapes = [str(arg.shape) if isinstance(arg, Tensor) else describe(arg) for arg in args[:_MOST_INPUTS]]
    inputs = f"input{'s' * (len(args) != 1)} {', '.join(shapes) or 'none'}{', …' * (len(args) > _MOST_INPUTS)}"
    where = _find_user_line(error)
    return constructor_text(cell), f"{inputs}, at {where}" if where else inputs


def constructor_text(cell: "CellTree") -> str:
    """Return a layer as its constructor call, ``"Conv2d(8, 16, kernel_size=3)"``. A user's Cell gives its class
    name."""
    kind = type(cell)
    if not _is_library_layer(cell):
        return kind.__name__
    settings = []
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        value = _simplify_setting(getattr(cell, name, None))
        required = parameter.default is parameter.empty
        if value is None or not required and (name not in _SETTINGS or value == parameter.default):
            continue
        settings.append(f"{value!r}" if required and len(settings) < _POSITIONAL else f"{name}={value!r}")
    return f"{kind.__name__}({', '.join(settings)})"


def _explain_input_misfit(cell, args, error):
    """Return a text that explains, with the arguments of the layer, why the inputs do not fit; None if they fit or the
    reason is unknown."""
    if any(hasattr(arg, "create_tuple_iterator") for arg in args):
        return (
            f"A dataset is no input of a Cell; iterate over it: for batch in dataset.create_tuple_iterator(): "
            f"{type(cell).__name__.lower()}(batch[0])."
        )
    if isinstance(error, TypeError) and _get_innermost_frame(error).f_code.co_name == "_construct":
        return _explain_wrong_input_count(cell, args)
    length, axis, words = getattr(cell, "_input_requirement", (None, 0, ""))
    x = args[0] if args and isinstance(args[0], Tensor) else None
    if length is None or x is None or not -x.ndim <= axis < x.ndim or x.shape[axis] == length:
        return None
    return f"{constructor_text(cell)} takes {words}, but got {x.shape}."


def _explain_wrong_input_count(cell, args):
    """Return the reason why `construct` cannot take that number of inputs, or None if it can."""
    parameters = inspect.signature(cell.construct).parameters
    try:
        inspect.signature(cell.construct).bind(*args)
    except TypeError:
        takes = f"construct of {type(cell).__name__} takes ({', '.join(parameters)})"
        if len(args) > len(parameters):
            return (
                f"{takes}, but got {len(args)} inputs. A batch of a dataset holds the label as well: call it with "
                f"batch[0], or with the loss in between, nn.WithLossCell(net, loss_fn)(*batch)."
            )
        return f"{takes}, but got {len(args)} input{'s' * (len(args) != 1)}."
    return None


def _simplify_setting(value):
    """Return `value` if it is a number, string or tuple of ints, or None for others. A tuple of equal ints becomes one
    int."""
    if isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
        return value[0] if len(set(value)) == 1 else value
    return value if isinstance(value, (bool, int, float, str)) else None


def _is_library_layer(cell):
    return type(cell).__module__.startswith("msnb.")


def _hides_children(cell):
    """Return True for a layer of msnb that consists of other layers, which the user did not write."""
    return _is_library_layer(cell) and cell._holds is None and not hasattr(cell, "cell_list")


def _is_raised_by_library(error):
    return is_library_code(_get_innermost_frame(error).f_code.co_filename)


def _get_innermost_frame(error):
    """Return the innermost frame of the traceback of an error."""
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame


def _find_user_line(error):
    """Return the innermost line of user code in a traceback; if there is none, the innermost one of the call stack."""
    location, tb = None, error.__traceback__
    while tb is not None:
        if not is_library_code(tb.tb_frame.f_code.co_filename):
            location = tb.tb_frame.f_code.co_filename, tb.tb_lineno
        tb = tb.tb_next
    frame = sys._getframe(1)
    while location is None and frame is not None:
        if not is_library_code(frame.f_code.co_filename):
            location = frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return format_location(*location) if location else ""
