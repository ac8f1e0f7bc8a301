"""`Optimizer`: what all optimizers share: learning rates, weight decay, loss scale, parameter groups."""

from collections.abc import Iterable

import numpy as np

from msnb import context, log
from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.parameter import Parameter, ParameterTuple
from msnb.core.tensor import RowTensor, Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.container import CellList
from msnb.nn.learning_rate_schedule import LearningRateSchedule
from msnb.nn.optim._groups import read_groups
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Optimizer"]

_LAST_STEP = 2**31 - 1
_TARGETS = ("CPU", "GPU", "Ascend")


class Optimizer(Cell):
    """Base class of all optimizers; calling one with the gradients of its Parameters updates them.

    A subclass keeps its own state as Parameters and writes `construct(gradients)`. It usually begins with
    :meth:`decay_weight`, :meth:`scale_grad` and :meth:`get_lr`.

    Args:
        learning_rate (Union[int, float, Tensor, Iterable, LearningRateSchedule]): A number or a 0-D Tensor is used in
            every step. Of an Iterable or a 1-D Tensor, step i uses element i (the last one when there are no more). A
            LearningRateSchedule computes the rate from the step's number.
        parameters (Union[list[Parameter], list[dict]]): What to train. The dicts of a list describe groups:

            - params: list[Parameter]. Required.
            - lr: the group's own learning rate. Default: `learning_rate`.
            - weight_decay: the group's own weight decay. Default: `weight_decay`.
            - order_params: list[Parameter], alone in its dict: the order in which all Parameters are kept.

        weight_decay (Union[int, float]): Factor of the L2 penalty, at least 0. Without groups, Parameters with "beta"
            or "gamma" in their names are left out. Default: 0.0.
        loss_scale (Union[int, float]): What the loss was multiplied by, greater than 0; gradients are divided by it.
            Default: 1.0.

    Raises:
        ValueError: If there are no parameters, `learning_rate` or `weight_decay` is negative, a Tensor of learning
            rates has more than one dimension, or `loss_scale` is not positive.
        TypeError: If an argument is of another type.
        KeyError: If a group has an unknown key.
        RuntimeError: If a Parameter is in two groups.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # In PYNATIVE mode too, one update is one compiled program: fast, and never half done when interrupted. Those
        # that users write run operator by operator there, so that they can be debugged.
        cls._compile_always = cls.__module__.startswith("msnb.")

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        parameters = _as_list(parameters)
        self.loss_scale = self._check_loss_scale(loss_scale)
        weight_decay = self._preprocess_weight_decay(weight_decay)

        self._unique = not any(getattr(p, "unique", False) for p in parameters)
        self._target = context.get_context("device_target")
        self.dynamic_lr = False
        self.assignadd = None
        self.global_step = None
        self.is_group = isinstance(parameters[0], dict)
        self.is_group_lr = False
        self.is_group_params_ordered = False

        learning_rate = self._preprocess_single_lr(learning_rate)
        if self.is_group:
            groups = self._init_group_params(parameters, learning_rate, weight_decay)
            parameters = groups.params
        if self.dynamic_lr:
            self.assignadd = P.AssignAdd()
            self.global_step = Parameter(initializer(0, [1], mstype.int32), name="global_step")
        if self.is_group_lr:
            self.group_lr = list(groups.lr)
            self.learning_rate = _cell_list(groups.lr) if self.dynamic_lr else ParameterTuple(groups.lr)
        else:
            self.learning_rate = self._build_single_lr(learning_rate, "learning_rate")

        self.parameters = ParameterTuple(parameters)
        self.param_length = len(self.parameters)
        if self.is_group:
            self.weight_decay = tuple(groups.weight_decay)
            self.weight_decay_tensor_tuple = tuple(Tensor(x, mstype.float32) for x in self.weight_decay)
            self.decay_flags = tuple(x > 0 for x in self.weight_decay)
            self.exec_weight_decay = any(self.decay_flags)
        else:
            self.weight_decay = weight_decay * self.loss_scale
            self.weight_decay_tensor = Tensor(self.weight_decay, mstype.float32)
            self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p in self.parameters)
            self.exec_weight_decay = self.weight_decay > 0
        self.ps_parameters = tuple(p.is_param_ps for p in self.parameters)
        self.cache_enable = tuple(p.cache_enable for p in self.parameters)
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, mstype.float32)
        self.need_scale = self.loss_scale != 1.0
        self.global_step_increase_tensor = Tensor(1, mstype.int32)
        self.map_ = C.Map()
        self.hyper_map = C.HyperMap()
        self.use_parallel = False
        self.optim_filter = (True,) * self.param_length
        self._check_parallel()

    # ------------------------------------------------------------------ settings
    @property
    def unique(self):
        """Whether repeated indices of a sparse gradient are summed before the update."""
        return self._unique

    @unique.setter
    def unique(self, value):
        if not isinstance(value, bool):
            raise TypeError(
                f"For '{self.cls_name}', 'unique' should be bool, but got {value!r} of type {type(value).__name__}."
            )
        self._unique = value

    @property
    def target(self):
        """Device that updates the Parameters."""
        return self._target

    @target.setter
    def target(self, value):
        raise NotImplementedError(
            f"'{self.cls_name}' updates its Parameters where they are; 'target' belongs to the "
            f"optimizers for sparse gradients: Adam, LazyAdam, FTRL and ProximalAdagrad."
        )

    def _set_target(self, value):
        """Setter of `target` for the optimizers that have one."""
        if not isinstance(value, str):
            raise TypeError(
                f"For '{self.cls_name}', 'target' should be a string, but got {value!r} of type {type(value).__name__}."
            )
        if value not in _TARGETS:
            raise ValueError(
                f"For '{self.cls_name}', 'target' should be one of 'CPU', 'GPU' and 'Ascend', but got '{value}'."
            )
        if self._target == "CPU" and value != "CPU":
            raise ValueError(f"For '{self.cls_name}', 'target' cannot be '{value}' while the device target is 'CPU'.")
        if value != self._target:
            log.once(f"The 'target' of {self.cls_name} has no effect: XLA updates the Parameters where they are.")
        self._target = value

    def _check_parallel(self):
        if not context.get_auto_parallel_context("enable_parallel_optimizer"):
            return
        mode = context.get_auto_parallel_context("parallel_mode")
        if mode in (context.ParallelMode.STAND_ALONE, context.ParallelMode.HYBRID_PARALLEL):
            raise RuntimeError(f"enable_parallel_optimizer needs several devices, but the parallel mode is '{mode}'.")
        log.once("enable_parallel_optimizer has no effect yet: every device keeps the whole state of the optimizer.")

    def _check_loss_scale(self, loss_scale):
        if isinstance(loss_scale, int) and not isinstance(loss_scale, bool):
            loss_scale = float(loss_scale)
        Validator.check_value_type("loss_scale", loss_scale, [float], self.cls_name)
        return Validator.check_positive_float(loss_scale, "loss_scale", self.cls_name)

    def _preprocess_weight_decay(self, weight_decay):
        """`weight_decay` as a float; TypeError or ValueError if it is none or negative."""
        if not isinstance(weight_decay, (float, int)) or isinstance(weight_decay, bool):
            raise TypeError(
                f"For '{self.cls_name}', 'weight_decay' should be a float, but got {weight_decay!r} "
                f"of type {type(weight_decay).__name__}."
            )
        return Validator.check_non_negative_float(float(weight_decay), "weight_decay", self.cls_name)

    # ------------------------------------------------------------------ learning rate
    def _preprocess_single_lr(self, learning_rate):
        """A learning rate as float, 0-D Tensor, 1-D Tensor or LearningRateSchedule; notes when it changes by step."""
        if isinstance(learning_rate, (float, int)) and not isinstance(learning_rate, bool):
            return Validator.check_non_negative_float(float(learning_rate), "learning_rate", self.cls_name)
        if isinstance(learning_rate, LearningRateSchedule):
            self.dynamic_lr = True
            return learning_rate
        if isinstance(learning_rate, Tensor):
            if learning_rate.ndim > 1:
                raise ValueError(
                    f"For '{self.cls_name}', a Tensor of learning rates should have at most 1 dimension, "
                    f"but got shape {learning_rate.shape}."
                )
            if learning_rate.ndim == 1:
                self.dynamic_lr = True
                if learning_rate.size < 2:
                    log.warning(
                        "A 1-D Tensor of learning rates holds one rate per step, but this one has only %d.",
                        learning_rate.size,
                    )
            return self._finite_rates(Tensor(learning_rate, mstype.float32))
        if (
            isinstance(learning_rate, Iterable)
            and not isinstance(learning_rate, (str, bytes, dict))
            and getattr(learning_rate, "ndim", 1)
        ):
            self.dynamic_lr = True
            return self._finite_rates(Tensor(np.array(list(learning_rate)).astype(np.float32)))
        raise TypeError(
            f"For '{self.cls_name}', 'learning_rate' should be a float, a Tensor, an Iterable or a "
            f"LearningRateSchedule, but got {learning_rate!r} of type {type(learning_rate).__name__}."
        )

    def _finite_rates(self, rates):
        wrong = np.flatnonzero(~np.isfinite(rates.asnumpy().ravel()))
        if wrong.size:
            raise ValueError(
                f"For '{self.cls_name}', learning rates should be finite numbers, but number {wrong[0]} "
                f"of {rates.size} is {rates.asnumpy().ravel()[wrong[0]]}."
            )
        return rates

    def _build_single_lr(self, learning_rate, name):
        """What `learning_rate` becomes in the Cell: a Parameter, or a LearningRateSchedule when it changes by step."""
        if isinstance(learning_rate, LearningRateSchedule):
            return learning_rate
        if isinstance(learning_rate, Tensor) and learning_rate.ndim == 1:
            return _IteratorLearningRate(learning_rate, name)
        rate = Parameter(Tensor(learning_rate, mstype.float32), name)
        return _ConvertToCell(rate) if self.is_group_lr and self.dynamic_lr else rate

    def _init_group_params(self, parameters, learning_rate, weight_decay):
        groups = read_groups(parameters, self.cls_name)
        self.is_group_params_ordered = groups.ordered
        length = learning_rate.size if isinstance(learning_rate, Tensor) and learning_rate.ndim == 1 else 0
        for group in groups:
            if group.lr is None:
                continue
            self.is_group_lr = True
            group.lr = self._preprocess_single_lr(group.lr)
            if isinstance(group.lr, Tensor) and group.lr.ndim == 1:
                if length and group.lr.size != length:
                    raise ValueError(
                        f"For '{self.cls_name}', all lists of learning rates should have the same length, "
                        f"but got {length} and {group.lr.size}."
                    )
                length = group.lr.size
        default = self._build_single_lr(learning_rate, "learning_rate")
        for group in groups:
            name = f"learning_rate_group_{group.number}"
            group.lr = default if group.lr is None else self._build_single_lr(group.lr, name)
            decay = weight_decay if group.weight_decay is None else self._preprocess_weight_decay(group.weight_decay)
            group.weight_decay = decay * self.loss_scale
        groups.spread()
        return groups

    def get_lr(self):
        """Learning rate of this step; moves `global_step` on when the rate changes by step.

        Returns:
            Tensor, or with groups of different rates a tuple with one Tensor per Parameter.
        """
        rate = self.learning_rate
        if not self.dynamic_lr:
            return rate
        if self.is_group_lr:
            known = {}
            for schedule in self.group_lr:
                if id(schedule) not in known:
                    known[id(schedule)] = _scalar(schedule(self.global_step))
            rate = tuple(known[id(schedule)] for schedule in self.group_lr)
        else:
            rate = _scalar(rate(self.global_step))
        # int32 as in r1.1; after the last number it stays there.
        left = _LAST_STEP - self.global_step
        self.assignadd(self.global_step, P.Minimum()(self.global_step_increase_tensor, left))
        return rate

    def get_lr_parameter(self, param):
        """The learning rate that belongs to a Parameter.

        Args:
            param (Union[Parameter, list[Parameter]]): One or several Parameters of this optimizer.

        Returns:
            Parameter (or LearningRateSchedule), in a list if `param` is a list.

        Raises:
            TypeError: If `param` is neither a Parameter nor a list of them.
            ValueError: If this optimizer does not train it.
        """
        if not isinstance(param, (Parameter, list)):
            raise TypeError(
                f"For 'get_lr_parameter', 'param' should be a Parameter or a list of them, "
                f"but got {type(param).__name__}."
            )
        numbers = {id(p): i for i, p in enumerate(self.parameters)}
        rates = []
        for item in param if isinstance(param, list) else [param]:
            Validator.check_value_type("param", item, [Parameter], self.cls_name)
            if id(item) not in numbers:
                raise ValueError(f"The Parameter '{item.name}' is not trained by this {self.cls_name}.")
            rate = self.group_lr[numbers[id(item)]] if self.is_group_lr else self.learning_rate
            rates.append(rate.learning_rate if isinstance(rate, (_ConvertToCell, _IteratorLearningRate)) else rate)
        return rates if isinstance(param, list) else rates[0]

    # ------------------------------------------------------------------ gradients
    def decay_weight(self, gradients):
        """Gradients of the loss plus the L2 penalty: ``gradient + weight_decay * weight``.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor].
        """
        if not self.exec_weight_decay:
            return gradients
        rates = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        return tuple(
            _decay(rate, p, g) if flag else g
            for rate, flag, p, g in zip(rates, self.decay_flags, self.parameters, gradients, strict=True)
        )

    def scale_grad(self, gradients):
        """Gradients divided by `loss_scale`.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor].
        """
        if not self.need_scale:
            return gradients
        scale = 1.0 / self.loss_scale
        return tuple(_scaled(scale, g) for g in gradients)

    def _prepared(self, gradients):
        """Gradients with decay and without loss scale, one per Parameter for sure."""
        return self.scale_grad(self.decay_weight(self._checked(gradients)))

    def _checked(self, gradients):
        """`gradients`, when there is one per Parameter; RuntimeError otherwise."""
        if not isinstance(gradients, (tuple, list)) or len(gradients) != self.param_length:
            given = f"{len(gradients)}" if isinstance(gradients, (tuple, list)) else type(gradients).__name__
            raise RuntimeError(
                f"'{self.cls_name}' should be called with a tuple of {self.param_length} gradients, one "
                f"per Parameter, but got {given}."
            )
        return gradients

    def _per_parameter(self, rate):
        """`get_lr()`'s result as one rate per Parameter."""
        return rate if self.is_group_lr else (rate,) * self.param_length

    def broadcast_params(self, optim_result):
        """Send updated Parameters to the devices that did not update them: nobody, in a program that is one process.

        Args:
            optim_result (object): Result of the update.

        Returns:
            object, `optim_result`.
        """
        return optim_result

    def construct(self, *hyper_params):
        """Update the Parameters.

        Raises:
            NotImplementedError: In this base class.
        """
        raise NotImplementedError(
            f"'{self.cls_name}' should define construct(gradients), which updates the Parameters."
        )


def _as_list(parameters):
    if parameters is None:
        raise ValueError(
            "Optimizer got an empty parameter list: it was given None. Do the Parameters of the network "
            "require gradients?"
        )
    if isinstance(parameters, Parameter) or not isinstance(parameters, Iterable):
        raise TypeError(
            f"An optimizer takes a list of Parameters or a list of dicts, but got {type(parameters).__name__}."
        )
    parameters = list(parameters)
    if not parameters:
        raise ValueError("Optimizer got an empty parameter list. Do the Parameters of the network require gradients?")
    kind = dict if isinstance(parameters[0], dict) else Parameter
    for item in parameters:
        if not isinstance(item, kind):
            raise TypeError(
                f"An optimizer takes a list of Parameters or a list of dicts, but the list holds {type(item).__name__}."
            )
    return parameters


def _cell_list(schedules):
    """A CellList of learning rates whose Parameters keep their names."""
    names = [(p, p.name) for schedule in schedules for p in schedule.get_parameters()]
    cells = CellList(schedules)
    for param, name in names:
        param.name = name
    return cells


def _scalar(rate):
    """A learning rate of shape (1,), which a schedule over `global_step` gives, as a 0-D Tensor."""
    return F.reshape(rate, ()) if isinstance(rate, Tensor) and rate.ndim else rate


def _decay(rate, weight, gradient):
    if isinstance(gradient, RowTensor):
        values = gradient.values + P.Gather()(weight, gradient.indices, 0) * rate
        return RowTensor(gradient.indices, values, gradient.dense_shape)
    return gradient + weight * rate


def _scaled(scale, gradient):
    if isinstance(gradient, RowTensor):
        return RowTensor(gradient.indices, gradient.values * scale, gradient.dense_shape)
    return gradient * scale


# Optimizers that users write map these over their gradients, as MindSpore's own do.
_apply_decay = C.MultitypeFuncGraph("apply_decay")
_grad_scale = C.MultitypeFuncGraph("grad_scale")


@_apply_decay.register("Tensor", "Bool", "Tensor", "RowTensor")
@_apply_decay.register("Tensor", "Bool", "Tensor", "Tensor")
def _decay_if(rate, apply, weight, gradient):
    if not apply:
        return gradient
    like = gradient.values if isinstance(gradient, RowTensor) else weight
    return _decay(F.cast(rate, like.dtype), weight, gradient)


@_grad_scale.register("Number", "Tensor")
@_grad_scale.register("Tensor", "Tensor")
@_grad_scale.register("Tensor", "RowTensor")
def _scale_any(scale, gradient):
    if isinstance(scale, Tensor):
        scale = F.cast(scale, (gradient.values if isinstance(gradient, RowTensor) else gradient).dtype)
    return _scaled(scale, gradient)


class _ConvertToCell(LearningRateSchedule):
    """A constant rate among others that change by step."""

    def __init__(self, learning_rate):
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step):
        return self.learning_rate * 1.0


class _IteratorLearningRate(LearningRateSchedule):
    """Element `global_step` of a list of rates; the last one when there are no more."""

    def __init__(self, learning_rate, name):
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)
        self.gather = P.Gather()
        self.minimum = P.Minimum()
        self.last = self.learning_rate.size - 1

    def construct(self, global_step):
        return self.gather(self.learning_rate, self.minimum(global_step, self.last), 0)
