"""Normalisation without running statistics: over layers and groups of channels."""

from msnb._checkparam import Validator
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter
from msnb.nn._half import widened
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["LayerNorm", "GroupNorm"]


class LayerNorm(Cell):
    r"""
    Layer normalisation (Ba et al., 2016): :math:`y = (x - E[x]) / \sqrt{Var[x] + \epsilon} \cdot \gamma + \beta`, mean
    and variance taken over the axes from `begin_norm_axis` on.

    Args:
        normalized_shape (Union[tuple[int], list[int]]): The shape of gamma and beta.
        begin_norm_axis (int): The first axis that is normalised. Default: -1.
        begin_params_axis (int): The first axis of gamma and beta in the input. Default: -1.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        epsilon (float): Added to the variance. Default: 1e-7.

    Inputs:
        - **x** (Tensor) - of any shape that ends as `normalized_shape` says.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `normalized_shape` is neither a tuple nor a list, or an axis not an int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor(np.ones([20, 5, 10, 10]), mindspore.float32)
        >>> m = nn.LayerNorm(x.shape[1:], begin_norm_axis=1, begin_params_axis=1)
        >>> print(m(x).shape)
        (20, 5, 10, 10)
    """

    def __init__(
        self,
        normalized_shape,
        begin_norm_axis=-1,
        begin_params_axis=-1,
        gamma_init="ones",
        beta_init="zeros",
        epsilon=1e-7,
    ):
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                "The type of 'normalized_shape' should be tuple[int] or list[int], "
                f"but got {normalized_shape!r} of type {type(normalized_shape).__name__}."
            )
        self.normalized_shape = normalized_shape
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis
        self.epsilon = Validator.check_finite(epsilon, "epsilon", self.cls_name)
        self.gamma = Parameter(initializer(gamma_init, normalized_shape), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape), name="beta")
        self.layer_norm = P.LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x):
        output, _, _ = self.layer_norm(input_x, self.gamma, self.beta)
        return output

    def extend_repr(self):
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    r"""
    Group normalisation (Wu and He, 2018): the channels of an image are normalised in groups, then scaled by gamma and
    shifted by beta.

    Args:
        num_groups (int): The number of groups.
        num_channels (int): The number of channels, a multiple of `num_groups`.
        eps (float): Added to the variance. Default: 1e-5.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `num_groups` or `num_channels` is not an int, `eps` not a float, or `affine` not a bool.
        ValueError: If one of them is less than 1, `num_channels` not a multiple, or the input not 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.GroupNorm(2, 2)
        >>> output = net(Tensor(np.ones([1, 2, 4, 4], np.float32)))
    """

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, gamma_init="ones", beta_init="zeros"):
        super().__init__()
        self.num_groups = Validator.check_positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = Validator.check_positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups != 0:
            raise ValueError(
                f"For 'GroupNorm', 'num_channels' should be a multiple of 'num_groups', "
                f"but got {num_channels} and {num_groups}."
            )
        self.eps = Validator.check_is_float(eps, "eps", self.cls_name)
        self.affine = Validator.check_bool(affine, "affine")
        gamma = initializer(gamma_init, num_channels)
        beta = initializer(beta_init, num_channels)
        self.gamma = Parameter(gamma, name="gamma") if affine else gamma
        self.beta = Parameter(beta, name="beta") if affine else beta
        self.group_norm = P.GroupNorm(eps)

    def construct(self, x):
        if x.ndim != 4:
            raise ValueError(f"For 'GroupNorm', the input must have 4 dims, but got shape {x.shape}.")
        if x.shape[1] != self.num_channels:
            raise ValueError(
                f"For 'GroupNorm', the input must have {self.num_channels} channels (num_channels), "
                f"but got shape {x.shape}."
            )
        # Parameters in float32 give a result in float32, as they did when r1.1 multiplied by them.
        return self.group_norm(x if x.dtype == self.gamma.dtype else widened(x), self.num_groups, self.gamma, self.beta)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"
