"""`Optimizer`: base class with learning rates, weight decay, loss scale and parameter groups."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Instance, OneOf, OneOrEach, check, checked
from msnb.core.errors.messages import user_line
from msnb.core.operator.api_generations import current_generation, differs_in_api2
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.sparse import RowTensor
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn.cell import Cell
from msnb.nn.layer.container import CellList
from msnb.nn.learning_rate_schedule import LearningRateSchedule
from msnb.nn.optim._gradients import apply_decay as _apply_decay  # noqa: F401  libraries for r1.1 import these two here
from msnb.nn.optim._gradients import centralize, decayed, times
from msnb.nn.optim._gradients import grad_scale as _grad_scale  # noqa: F401
from msnb.nn.optim._groups import Trained, by_parameter, read_groups
from msnb.nn.optim._learning_rate import (
    FixedRate,
    LearningRate,
    ListedRates,
    WeightDecay,
    as_parameter_or_schedule,
    counter,
    depends_on_step,
    in_cell_list,
    of_this_step,
)
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Optimizer"]

_LAST_STEP = 2**31 - 1
_DEVICE = OneOf("CPU", "GPU", "Ascend")


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorator for the `__init__` of an optimizer: stores the arguments in `init_args` and the Parameters in
    `init_params`.

    Args:
        fn (Callable): The `__init__`.
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(list(bound.arguments.items())[1:])
        around = arguments.pop("optimizer", None)  # the wrapped optimizer, such as that of LARS
        params = arguments.pop("params", None) if around is None else around.parameters
        attributes = {"init_args": arguments, "init_params": {} if params is None else {"params": params}}
        self.__dict__.update(attributes)  # set before `fn` runs, since `fn` may read them
        fn(self, *args, **kwargs)

    return init


Gradients = tuple[Tensor | RowTensor, ...]


@differs_in_api2(
    "'global_step' is always a Parameter, so it stands in checkpoints, and 'construct' moves it on, not 'get_lr'",
    below=True,
)
class Optimizer(Cell):
    """Base class of all optimizers; calling one with the gradients of its Parameters updates them.

    A subclass keeps its own state as Parameters and writes `construct(gradients)`. It usually begins with
    :meth:`decay_weight`, :meth:`scale_grad` and :meth:`get_lr`.

    Args:
        learning_rate (Union[int, float, Tensor, Iterable, LearningRateSchedule]): A number or a 0-D Tensor is used in
            every step. Of an Iterable or a 1-D Tensor, step i uses element i (the last one when there are no more). A
            LearningRateSchedule computes the rate from the step's number.
        parameters (Union[list[Parameter], list[dict]]): Parameters to train. The dicts of a list describe groups:

            - params: list[Parameter]. Required.
            - lr: the group's own learning rate. Default: `learning_rate`.
            - weight_decay: the group's own weight decay. Default: `weight_decay`.
            - grad_centralization: bool, whether the mean over all axes but the first is subtracted from its
              gradients. Default: False.
            - order_params: list[Parameter], the only key of its dict: the order of all Parameters.

        weight_decay (Union[int, float, Cell]): Factor of the L2 penalty, at least 0; a Cell computes it from the number
            of the step. Without groups, Parameters with "beta" or "gamma" in their names are exempt. Default: 0.0.
        loss_scale (Union[int, float]): Factor that multiplied the loss, greater than 0; gradients are divided by it.
            Default: 1.0.

    Raises:
        ValueError: If there are no parameters, `learning_rate` or `weight_decay` is negative, a Tensor of learning
            rates has more than one dimension, or `loss_scale` is not positive.
        TypeError: If an argument has the wrong type.
        KeyError: If a group has an unknown key.
        RuntimeError: If a Parameter is in two groups.
    """

    _has_target = False  # True if `target` may be set

    # The rate is a Parameter, or a schedule if it changes by step; with groups, a tuple or list of one per Parameter.
    learning_rate: Parameter | LearningRateSchedule | ParameterTuple | CellList
    weight_decay: float | tuple[float, ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # In PYNATIVE mode as well, an update of msnb's optimizers is one compiled program: it is fast, and an interrupt
        # cannot leave it half done. Optimizers that users write run operator by operator, so that they can be debugged.
        cls._compile_always = cls.__module__.startswith("msnb.")

    @checked
    def __init__(
        self,
        learning_rate: LearningRate,
        parameters: Trained,
        weight_decay: WeightDecay = 0.0,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        super().__init__(auto_prefix=False)
        self._made_at = user_line()  # graphs show this line for its operators, which user code does not call
        trained: Any = parameters
        self.is_group: bool = isinstance(trained[0], dict)
        groups, order = read_groups(trained, self.cls_name) if self.is_group else ([], None)
        self.is_group_params_ordered: bool = order is not None
        rows = by_parameter(groups, order)
        members = [group for _, group in rows]
        decays = (weight_decay, *(group.weight_decay for group in groups))
        self.dynamic_weight_decay: bool = any(isinstance(decay, Cell) for decay in decays)
        self._store_learning_rates(learning_rate, groups, members)
        self.parameters: ParameterTuple = ParameterTuple([param for param, _ in rows] if self.is_group else trained)
        self._parameters: ParameterTuple = self.parameters  # MindSpore 2's optimizers of libraries read this name
        self.param_length: int = len(self.parameters)
        self.loss_scale: PositiveNumber = loss_scale
        self.need_scale: bool = loss_scale != 1.0
        self.reciprocal_scale: Tensor = Tensor(1.0 / loss_scale, mstype.float32)
        self._store_weight_decay(weight_decay, members)
        self.grad_centralization_flags: tuple[bool, ...] = tuple(bool(group.grad_centralization) for group in members)
        self.grad_centralization: bool = any(self.grad_centralization_flags)

        self.map_: C.Map = C.Map()
        self.hyper_map: C.HyperMap = C.HyperMap()
        # MindSpore 2's optimizers, and those that libraries derive from them, walk their lists from the end
        self.map_reverse: C.Map = C.Map(None, True)
        self.hyper_map_reverse: C.HyperMap = C.HyperMap(None, True)
        self.ps_parameters, self.cache_enable = zip(*((p.is_param_ps, p.cache_enable) for p in self.parameters))
        self.use_parallel: bool = False
        self.optim_filter: tuple[bool, ...] = (True,) * self.param_length
        self._unique = not any(param.unique for param in self.parameters)
        self._target = str(context.get_context("device_target"))
        self._check_parallel_mode()

    @property
    def _parameters(self) -> ParameterTuple:
        return self.parameters  # optimizers of libraries read it by MindSpore 2's name

    def _store_learning_rates(self, learning_rate, groups, members):
        """Store the learning rate, or one learning rate per Parameter for the groups `members`."""
        rates = [learning_rate] + [group.lr for group in groups if group.lr is not None]
        lengths = {rate.size for rate in rates if depends_on_step(rate) and isinstance(rate, Tensor)}
        if len(lengths) > 1:
            raise ValueError(
                f"For '{self.cls_name}', all lists of learning rates should have the same length, "
                f"but got {' and '.join(map(str, sorted(lengths)))}."
            )
        if 1 in lengths:
            log.warning("A list of learning rates holds one for each step, but that of %s has only 1.", self.cls_name)
        self.is_group_lr: bool = len(rates) > 1
        self.dynamic_lr: bool = any(map(depends_on_step, rates))
        self.global_step_increase_tensor: Tensor = Tensor(1, mstype.int32)
        self._counts_later = current_generation() == 2  # True: `construct` counts steps; False: `get_lr` does
        counts = self.dynamic_lr or self.dynamic_weight_decay or self._counts_later
        self.assignadd: P.AssignAdd | None = P.AssignAdd() if counts else None
        self.global_step: Any = counter() if counts else None
        default = as_parameter_or_schedule(learning_rate, "learning_rate", self.dynamic_lr and self.is_group_lr)
        if not self.is_group_lr:
            self.learning_rate = default
            return
        own = {
            group: default
            if group.lr is None
            else as_parameter_or_schedule(group.lr, f"learning_rate_group_{group.number}", self.dynamic_lr)
            for group in groups
        }
        self.group_lr: list[Any] = [own[group] for group in members]
        self.learning_rate = in_cell_list(self.group_lr) if self.dynamic_lr else ParameterTuple(self.group_lr)

    def _store_weight_decay(self, weight_decay, members):
        """Store the weight decay times the loss scale, since gradients are divided by the loss scale after the
        decay."""
        own = [weight_decay if group.weight_decay is None else group.weight_decay for group in members]
        own = own if self.is_group else [weight_decay]
        self._decay_schedules: list[Cell | None] = [decay if isinstance(decay, Cell) else None for decay in own]
        # 1 is a placeholder if a schedule computes the decay
        numbers = tuple(self.loss_scale * (1.0 if isinstance(decay, Cell) else decay) for decay in own)
        if self.is_group:
            self.weight_decay = numbers
            self.weight_decay_tensor_tuple: tuple[Tensor, ...] = tuple(
                Tensor(decay, mstype.float32) for decay in self.weight_decay
            )
            self.decay_flags: tuple[bool, ...] = tuple(decay > 0 for decay in self.weight_decay)
        else:
            self.weight_decay = numbers[0]
            self.weight_decay_tensor: Tensor = Tensor(self.weight_decay, mstype.float32)
            names = (param.name for param in self.parameters)
            self.decay_flags = tuple(not ("beta" in name or "gamma" in name) for name in names)
        self.exec_weight_decay: bool = any(decay > 0 for decay in numbers)

    # ------------------------------------------------------------------ settings
    @property
    def unique(self) -> bool:
        """Return True if repeated indices of a sparse gradient are summed before the update."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        self._unique = check(Bool, value, "unique", self.cls_name)

    @property
    def target(self) -> str:
        """Name of the device that updates the Parameters. It is checked and has no effect."""
        return self._target

    @target.setter
    def target(self, value: str) -> None:
        if not self._has_target:
            raise NotImplementedError(
                f"'{self.cls_name}' updates its Parameters where they are; 'target' belongs to the "
                f"optimizers for sparse gradients: Adam, LazyAdam, FTRL and ProximalAdagrad."
            )
        self._set_base_target(value)

    def _set_base_target(self, value):  # mindcv/optim/adan.py:228 and others call it in a setter of their own
        """Set `target` of an optimizer that has one.

        Raises:
            TypeError: If `value` is no string.
            ValueError: If it names no device, or another device than the CPU while the device target is CPU.
        """
        value = check(_DEVICE, value, "target", self.cls_name)
        if self._target == "CPU" != value:
            raise ValueError(f"For '{self.cls_name}', 'target' cannot be '{value}' while the device target is 'CPU'.")
        if value != self._target:
            log.once(f"The 'target' of {self.cls_name} has no effect: XLA updates the Parameters where they are.")
        self._target = value

    def _check_parallel_mode(self):
        if not context.get_auto_parallel_context("enable_parallel_optimizer"):
            return
        mode = context.get_auto_parallel_context("parallel_mode")
        if mode in (context.ParallelMode.STAND_ALONE, context.ParallelMode.HYBRID_PARALLEL):
            raise RuntimeError(
                f"enable_parallel_optimizer cuts what an optimizer keeps in parallel_mode 'semi_auto_parallel', but "
                f"the mode is '{mode}'. Set that, or enable_parallel_optimizer=False."
            )
        if mode == context.ParallelMode.DATA_PARALLEL:
            self._check_data_parallel_split()

    def _check_data_parallel_split(self):
        """Raise the errors of r1.1 for "data_parallel" mode, in which each device updates some of the Parameters.

        Raises:
            RuntimeError: If the optimizer is neither Lamb nor AdamWeightDecay, or there are fewer Parameters than
                devices.
        """
        devices, count = context.get_auto_parallel_context("device_num"), len(self.parameters)
        wrong = (
            f"is for Lamb and AdamWeightDecay, but the optimizer is {self.cls_name}"
            if self.cls_name not in ("Lamb", "AdamWeightDecay")
            else f"gives each of {devices} devices (device_num) Parameters to update, but there are {count}"
            if count < devices
            else None
        )
        if wrong is not None:
            raise RuntimeError(
                f"enable_parallel_optimizer {wrong}, in the parallel mode 'data_parallel'. Set it to False, or "
                f"parallel_mode='semi_auto_parallel', which cuts what any optimizer keeps."
            )

    # ------------------------------------------------------------------ learning rate
    def get_lr(self) -> Tensor | tuple[Tensor, ...]:
        """Return the learning rate of the current step. If it depends on the step, also increase `global_step`.

        Returns:
            Tensor, or with groups of different rates a tuple with one Tensor per Parameter.
        """
        rate: Any = self.learning_rate
        if self.assignadd is None:
            return rate
        if self.is_group_lr and self.dynamic_lr:
            rates = {schedule: of_this_step(schedule, self.global_step) for schedule in dict.fromkeys(self.group_lr)}
            rate = tuple(rates[schedule] for schedule in self.group_lr)
        elif self.dynamic_lr:
            rate = of_this_step(rate, self.global_step)
        if not self._counts_later:
            self._increase_step_counter()
        return rate

    def _increase_step_counter(self):
        """Increase the step counter by 1, in int32 as in r1.1. It stays at the largest int32."""
        assert self.assignadd is not None
        left = _LAST_STEP - self.global_step
        self.assignadd(self.global_step, F.minimum(self.global_step_increase_tensor, left))

    @checked
    def get_lr_parameter(
        self, param: Annotated[Parameter | list[Parameter], OneOrEach(Instance(Parameter))]
    ) -> Parameter | LearningRateSchedule | list[Parameter | LearningRateSchedule]:
        """Return the learning rate of a Parameter.

        Args:
            param (Union[Parameter, list[Parameter]]): One or several Parameters of this optimizer.

        Returns:
            Parameter (or LearningRateSchedule), in a list if `param` is a list.

        Raises:
            TypeError: If `param` is neither a Parameter nor a list of them.
            ValueError: If this optimizer does not train it.
        """
        return (
            [self._get_parameter_rate(item) for item in param]
            if isinstance(param, tuple)
            else self._get_parameter_rate(param)
        )

    def _get_parameter_rate(self, param) -> Any:
        place = next((i for i, parameter in enumerate(self.parameters) if parameter is param), None)
        if place is None:
            raise ValueError(f"The Parameter '{param.name}' is not trained by this {self.cls_name}.")
        rate = self.group_lr[place] if self.is_group_lr else self.learning_rate
        return rate.learning_rate if isinstance(rate, (FixedRate, ListedRates)) else rate

    def _repeat_rate_per_parameter(self, rate):
        """Convert the result of `get_lr()` to one rate per Parameter."""
        return rate if self.is_group_lr else (rate,) * self.param_length

    # ------------------------------------------------------------------ gradients
    def _is_dynamic_lr_or_weight_decay(self) -> bool:  # mindcv/optim/adamw.py:179 calls it
        """Return True if the learning rate or the weight decay depends on the step."""
        return self.dynamic_lr or self.dynamic_weight_decay

    @property
    def _decays(self) -> tuple[float, ...]:
        """Return the weight decay of each Parameter, including Parameters exempt from it."""
        decay = self.weight_decay
        decays = decay if isinstance(decay, tuple) else (decay,) * self.param_length
        if not self.dynamic_weight_decay:
            return decays
        schedules = self._decay_schedules if self.is_group else self._decay_schedules * self.param_length
        values = {s: of_this_step(s, self.global_step) for s in dict.fromkeys(schedules) if s is not None}
        return tuple(
            number if s is None else values[s] * self.loss_scale for number, s in zip(decays, schedules, strict=True)
        )

    def get_weight_decay(self) -> Any:
        """
        Return the weight decay of the current step, without the loss scale.

        Returns:
            Union[float, Tensor], or with groups a tuple with one value for each Parameter.
        """
        decays = tuple(decay / self.loss_scale for decay in self._decays)
        return decays if self.is_group else decays[0]

    def decay_weight(self, gradients: Gradients) -> Gradients:
        """Return gradients with the L2 penalty: ``gradient + weight_decay * weight``.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor].
        """
        if not self.exec_weight_decay:
            return gradients
        rows = zip(gradients, self.parameters, self._decays, self.decay_flags, strict=True)
        return tuple(decayed(gradient, *row) if applies else gradient for gradient, *row, applies in rows)

    def gradients_centralization(self, gradients: Gradients) -> Gradients:
        """Subtract from gradients of groups with `grad_centralization` their mean over all axes but the first.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor].
        """
        if not self.grad_centralization:
            return gradients
        rows = zip(self.grad_centralization_flags, gradients, strict=True)
        return tuple(centralize(gradient) if applies else gradient for applies, gradient in rows)

    def flatten_gradients(self, gradients: Gradients) -> Gradients:
        """Return the gradients unchanged: XLA fuses the updates of Parameters without a joined array.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor], `gradients`.
        """
        return gradients

    def _grad_sparse_indices_deduplicate(self, gradients):  # mindcv/optim/adan.py:210 calls it
        """Return the gradients unchanged: rows with equal indices are summed where a sparse gradient is applied."""
        return gradients

    def scale_grad(self, gradients: Gradients) -> Gradients:
        """Return gradients divided by `loss_scale`.

        Args:
            gradients (tuple[Tensor]): One per Parameter.

        Returns:
            tuple[Tensor].
        """
        return tuple(times(g, 1.0 / self.loss_scale) for g in gradients) if self.need_scale else gradients

    def _check_gradients(self, gradients):
        """Return `gradients`. Raise RuntimeError unless there is one per Parameter."""
        count = len(gradients) if isinstance(gradients, (tuple, list)) else type(gradients).__name__
        if count != self.param_length:
            raise RuntimeError(
                f"'{self.cls_name}' should be called with a tuple of {self.param_length} gradients, one "
                f"per Parameter, but got {count}."
            )
        return gradients

    def broadcast_params(self, optim_result: object) -> object:
        """Do nothing: each device updates its own Parameters, so nothing is broadcast.

        Args:
            optim_result (object): Result of the update.

        Returns:
            object, `optim_result`.
        """
        return optim_result

    def construct(self, *hyper_params: Any, **others: Any) -> Any:
        """Update the Parameters.

        Raises:
            NotImplementedError: In this base class.
        """
        raise NotImplementedError(
            f"'{self.cls_name}' should define construct(gradients), which updates the Parameters."
        )
