"""Functions with their own gradient, as static methods `forward(ctx, ...)` and `backward(ctx, ...)` of a class."""

from typing import Any, NoReturn

from msnb._util.placeholders import not_yet
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell

_PATH = "mindspore.common._grad_function._Function"


class _Function:
    """Base class of functions with their own gradient, in both modes.

    A class derived from it has `forward(ctx, *inputs)`, which may save Tensors by `ctx.save_for_backward` and other
    values as attributes of `ctx`, and `backward(ctx, *gradients)`, which returns one gradient for each input of
    `forward`, None for those without. ``Derived.apply(*inputs)`` calls it. In a compiled program the backward side
    computes `forward` again to have what it saves.
    """

    def __init__(self) -> None:
        self.saved_tensors: tuple[Tensor, ...] = ()
        self.needs_input_grad: tuple[bool, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the function. Derived classes override it."""
        raise NotImplementedError("A class derived from _Function should define forward(ctx, *inputs).")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradients of the inputs. Derived classes override it."""
        raise NotImplementedError("A class derived from _Function should define backward(ctx, *gradients).")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call the function.

        Args:
            args: The arguments of `forward` behind `ctx`.

        Returns:
            The results of `forward`.
        """
        return _FunctionCell(cls)(*args)

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Save Tensors for `backward`, which reads `ctx.saved_tensors`."""
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Tensor) -> NoReturn:
        """Raise NotImplementedError: results are new Tensors here."""
        raise not_yet(f"{_PATH}.mark_dirty", "return a new Tensor from forward")

    def mark_non_differentiable(self, *args: Tensor) -> NoReturn:
        """Raise NotImplementedError."""
        raise not_yet(f"{_PATH}.mark_non_differentiable", "use ops.stop_gradient on the result of apply")

    def set_materialize_grads(self, value: bool) -> None:
        """Accept True: gradients of unused results are zeros.

        Raises:
            NotImplementedError: If `value` is False.
        """
        if not value:
            raise not_yet(f"{_PATH}.set_materialize_grads(False)", "gradients of unused results are zeros")


class _FunctionCell(Cell):
    """The Cell that runs a class derived from _Function."""

    def __init__(self, function: type[_Function]) -> None:
        super().__init__(auto_prefix=False)
        self._function = function
        self._saved: Any = None

    def _run_forward(self, args):
        ctx = self._function()
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) for arg in args)
        return ctx, self._function.forward(ctx, *args)

    def construct(self, *args):
        ctx, out = self._run_forward(args)
        # Tensors that a trace saves belong to the forward side alone, so that the backward side computes them again.
        object.__setattr__(self, "_saved", ctx if trace_state.thread.frame is None else None)
        return out

    def bprop(self, *args):
        *inputs, _, gradients = args
        ctx = self._saved or self._run_forward(inputs)[0]
        grads = self._function.backward(ctx, *(gradients if isinstance(gradients, tuple) else (gradients,)))
        return grads if isinstance(grads, tuple) else (grads,)
