"""Normalisation layers: those with running statistics; the others are re-exported."""

from msnb import log
from msnb._checkparam import Validator
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter
from msnb.nn.cell import Cell
from msnb.nn.layer._layer_norm import GroupNorm, LayerNorm
from msnb.ops import operations as P

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LayerNorm",
    "GroupNorm",
    "GlobalBatchNorm",
    "SyncBatchNorm",
    "InstanceNorm2d",
]

_RANKS = {"1d": (2,), "2d": (4,), "both": (2, 4)}


def _check_features(num_features, momentum, cls_name):
    Validator.check_value_type("num_features", num_features, [int], cls_name)
    if num_features < 1:
        raise ValueError(f"For '{cls_name}', 'num_features' must be at least 1, but got {num_features}.")
    Validator.check_value_type("momentum", momentum, [int, float], cls_name)
    if not 0 <= momentum <= 1:
        raise ValueError(f"For '{cls_name}', 'momentum' should be a number in range [0, 1], but got {momentum}.")


def _check_rank(x, input_dims, cls_name):
    ranks = _RANKS[input_dims]
    if x.ndim not in ranks:
        raise ValueError(
            f"For '{cls_name}', the input must have {' or '.join(map(str, ranks))} dims, but got shape {x.shape}."
        )


class _FeatureNorm(Cell):
    """A scale and a shift, and running statistics, for each feature."""

    def __init__(
        self, num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init, input_dims
    ):
        super().__init__()
        _check_features(num_features, momentum, self.cls_name)
        self.num_features = num_features
        self.eps = eps
        self.input_dims = input_dims
        self.moving_mean = Parameter(initializer(moving_mean_init, num_features), name="mean", requires_grad=False)
        self.moving_variance = Parameter(
            initializer(moving_var_init, num_features), name="variance", requires_grad=False
        )
        self.gamma = Parameter(initializer(gamma_init, num_features), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_features), name="beta", requires_grad=affine)

    def extend_repr(self):
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class _BatchNorm(_FeatureNorm):
    """Batch normalisation over all axes but that of the features."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        device_num_each_group=1,
        input_dims="2d",
        data_format="NCHW",
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            input_dims,
        )
        if use_batch_statistics is not None:
            Validator.check_bool(use_batch_statistics, "use_batch_statistics")
        self.use_batch_statistics = use_batch_statistics
        self.format = Validator.check_string(data_format, ["NCHW", "NHWC"], "format", self.cls_name)
        self.group = Validator.check_positive_int(device_num_each_group, "device_num_each_group", self.cls_name)
        # `momentum` is the share of the old value that is kept; the operator wants the share of the new one.
        self.momentum = 1.0 - momentum
        self.bn_train = P.FusedBatchNormEx(epsilon=self.eps, momentum=self.momentum, data_format=self.format)
        self.bn_infer = P.BatchNorm(is_training=False, epsilon=self.eps, data_format=self.format)

    def construct(self, x):
        _check_rank(x, self.input_dims, self.cls_name)
        batch_statistics = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        batch_norm = self.bn_train if batch_statistics else self.bn_infer
        return batch_norm(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]


class BatchNorm1d(_BatchNorm):
    r"""
    Batch normalisation of features (Ioffe and Szegedy, 2015):
    :math:`y = (x - E[x]) / \sqrt{Var[x] + \epsilon} \cdot \gamma + \beta`.

    While training, mean and variance are those of the batch, and the moving ones become
    momentum * moving + (1 - momentum) * batch, with the unbiased batch variance. Otherwise the moving ones are used.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the old moving statistics that is kept. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): True: always those of the batch; False: always the moving ones; None: those of
            the batch while training. Default: None.

    Inputs:
        - **x** (Tensor) - of shape (N, C).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If `num_features` is not an int.
        ValueError: If `num_features` is less than 1, `momentum` not in [0, 1], or the input not 2-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.BatchNorm1d(num_features=4)
        >>> output = net(Tensor(np.random.randint(0, 255, [3, 4]), mindspore.float32))
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            input_dims="1d",
        )


class BatchNorm2d(_BatchNorm):
    r"""
    Batch normalisation of the channels of images, as BatchNorm1d has it for features.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the old moving statistics that is kept. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): True: always those of the batch; False: always the moving ones; None: those of
            the batch while training. Default: None.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If `num_features` is not an int.
        ValueError: If `num_features` is less than 1, `momentum` not in [0, 1], or the input not 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.BatchNorm2d(num_features=3)
        >>> output = net(Tensor(np.random.randint(0, 255, [1, 3, 224, 224]), mindspore.float32))
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        data_format="NCHW",
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            input_dims="2d",
            data_format=data_format,
        )


class BatchNorm3d(Cell):
    """
    Batch normalisation of the channels of volumes, as BatchNorm2d has it for images.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the old moving statistics that is kept. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.

    Inputs:
        - **x** (Tensor) - of shape (N, C, D, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        ValueError: If `num_features` is less than 1, `momentum` not in [0, 1], or the input not 5-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
    ):
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
        )
        self.reshape = P.Reshape()

    def construct(self, x):
        if x.ndim != 5:
            raise ValueError(f"For 'BatchNorm3d', the input must have 5 dims, but got shape {x.shape}.")
        n, c, d, h, w = x.shape
        return self.reshape(self.bn2d(self.reshape(x, (n, c, d * h, w))), x.shape)


class GlobalBatchNorm(_BatchNorm):
    """
    Batch normalisation over the batches of a group of devices. On one device it is batch normalisation.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the old moving statistics that is kept. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.
        device_num_each_group (int): The number of devices in a group, greater than 1. Default: 2.

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        ValueError: If `num_features` is less than 1, `momentum` not in [0, 1], or `device_num_each_group` not
            greater than 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.GlobalBatchNorm(num_features=3, device_num_each_group=4)
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        device_num_each_group=2,
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            device_num_each_group,
            input_dims="both",
        )
        if self.group <= 1:
            raise ValueError(f"For '{self.cls_name}', 'device_num_each_group' must be greater than 1, but got 1.")
        log.once(f"{self.cls_name}: this process has one device, so the statistics are those of its own batch.")


class SyncBatchNorm(_BatchNorm):
    """
    Batch normalisation over the batches of all devices. On one device it is batch normalisation.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the old moving statistics that is kept. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            input_dims="both",
        )
        log.once(f"{self.cls_name}: this process has one device, so the statistics are those of its own batch.")


class InstanceNorm2d(_FeatureNorm):
    r"""
    Instance normalisation: each channel of each image is normalised by its own mean and variance, then scaled by
    gamma and shifted by beta (Ulyanov et al., 2016).

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance. Default: 1e-5.
        momentum (float): The share of the NEW statistics in the moving ones. Default: 0.1.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): The initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): The initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): The initial mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): The initial variance. Default: "ones".
        use_batch_statistics (bool): Whether the statistics are the input's, not the moving ones. Default: True.
        input_dims (str): "2d". Default: "2d".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If `num_features` is not an int.
        ValueError: If `num_features` is less than 1, `momentum` not in [0, 1], or the input not 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.InstanceNorm2d(3)
        >>> output = net(Tensor(np.ones([2, 3, 2, 2]), mindspore.float32))
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=True,
        input_dims="2d",
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            Validator.check_string(input_dims, ["2d"], "input_dims", type(self).__name__),
        )
        self.use_batch_statistics = Validator.check_bool(use_batch_statistics, "use_batch_statistics")
        self.momentum = momentum
        self.instance_bn = P.InstanceNorm(is_training=use_batch_statistics, epsilon=eps, momentum=momentum)

    def construct(self, x):
        _check_rank(x, self.input_dims, self.cls_name)
        return self.instance_bn(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]
