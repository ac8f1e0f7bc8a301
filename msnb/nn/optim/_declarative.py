"""`DeclaredOptimizer`: a base class for optimizers. A subclass declares the state of a Parameter and the update of one
Parameter."""

from msnb.common import dtype as mstype
from msnb.core.eager.tape import dense
from msnb.core.tensor.sparse import RowTensor
from msnb.nn.optim._learning_rate import counter
from msnb.nn.optim.optimizer import Gradients, Optimizer
from msnb.ops import functional as F


class DeclaredOptimizer(Optimizer):
    """Base class of msnb's own optimizers: prepares the gradients and updates one Parameter after the other.

    A subclass calls :meth:`_declare_state` in its constructor and defines :meth:`_apply_step`, usually one call of an
    operator. It may define :meth:`_apply_sparse_step`, and :meth:`_compute_step_values` for values that all
    Parameters share in a step.
    """

    _penalised = True  # True if the L2 penalty is added to gradients; if False, `_apply_step` decays the weights
    _columns = ()

    def _declare_state(self, *others, **state):
        """Declare the state of each Parameter that `_apply_step` gets.

        Args:
            others (str): Existing attributes with one element per Parameter. Their elements are passed after the state.
            state (tuple): ``attribute=(prefix, value)`` creates an attribute with one Parameter of state for each
                trained Parameter. Its name is ``prefix.`` + the name of the trained Parameter, and its initial value is
                `value` ("zeros", "ones" or a number).
        """
        for attribute, (prefix, value) in state.items():
            setattr(self, attribute, self.parameters.clone(prefix=prefix, init=value))
        self._columns = (*state, *others)

    def _create_step_counter(self):
        """Create the step counter `global_step` even if neither learning rate nor weight decay depends on the step."""
        if self.global_step is None:
            self.global_step = counter()

    def _advance_step(self):
        """Return the number of the current step, counted from 1. Call it once per step, and only if the optimizer
        counts steps."""
        step = F.cast(F.reshape(self.global_step, ()), mstype.float32) + 1.0
        if self.assignadd is None:  # otherwise `get_lr` increases the counter
            F.assign_add(self.global_step, self.global_step_increase_tensor)
        return step

    def _compute_step_values(self):
        """Return the last arguments of `_apply_step`: values of the current step that all Parameters share."""
        return ()

    def _apply_step(self, param, gradient, rate, *own):
        """Update one Parameter and its state."""
        raise NotImplementedError

    def _apply_sparse_step(self, param, gradient, rate, *own):
        """Update one Parameter from a RowTensor gradient. By default it is converted to a dense gradient."""
        self._apply_step(param, dense(gradient), rate, *own)

    def construct(self, gradients: Gradients) -> bool:
        gradients = self._check_gradients(gradients)
        if self._penalised:
            gradients = self.decay_weight(gradients)
        gradients = self.scale_grad(self.gradients_centralization(gradients))
        shared = self._compute_step_values()
        rates = self._repeat_rate_per_parameter(self.get_lr())
        own = (getattr(self, name) for name in self._columns)
        for param, gradient, *row in zip(self.parameters, gradients, rates, *own, strict=True):
            step = self._apply_sparse_step if isinstance(gradient, RowTensor) else self._apply_step
            step(param, gradient, *row, *shared)
        if self._counts_later:
            self._increase_step_counter()
        return True
