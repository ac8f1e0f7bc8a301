"""Advice for the conditions of watchpoints: the usual reasons of a hit, and the change to try first."""

_TOO_LARGE = (
    "Lower the learning rate, clip the gradients, or normalise the activations by nn.LayerNorm or nn.BatchNorm2d."
)
_VANISHING = (
    "Replace saturating activations by ReLU or GELU, add residual connections or normalisation, or initialize by "
    "HeUniform. msnb.why(parameter, loss_net, x, y) names the node where the gradient gets small."
)
_NOT_FINITE = (
    "The usual reasons are log, sqrt or a division of 0, exp of a large value, a learning rate that is too large, and "
    "float16 without loss scaling. watch.cause(hit) returns the path from the first such value."
)

_ADVICE: dict[str, str] = {
    "weight_initialization": (
        "Initialize the weight with random numbers of a suitable range, such as weight_init='HeUniform'. Units with "
        "equal weights stay equal."
    ),
    "weight_overflow": _NOT_FINITE,
    "tensor_overflow": _NOT_FINITE,
    "operator_overflow": _NOT_FINITE,
    "gradient_exploding": _NOT_FINITE,
    "weight_too_large": "Lower the learning rate, or set weight_decay of the optimizer.",
    "gradient_too_large": "Clip the gradients, or lower the learning rate.",
    "tensor_too_large": _TOO_LARGE,
    "weight_too_small": "Lower weight_decay of the optimizer, or initialize the weight with larger numbers.",
    "gradient_vanishing": _VANISHING,
    "tensor_too_small": "Scale the inputs to a standard deviation of about 1, and initialize the weights by HeUniform.",
    "tensor_all_zero": (
        "Look at the operands of the node: a ReLU with negative inputs only, a mask of zeros, or a weight that was "
        "initialized with zeros."
    ),
    "weight_not_changed": (
        "Check that the optimizer has the Parameter, that requires_grad is True, and that no stop_gradient is between "
        "it and the loss. msnb.why(parameter, loss_net, x, y) names the node that cuts the gradient."
    ),
    "weight_change_too_large": "Lower the learning rate, or begin with a warm-up.",
    "weight_change_too_small": "Raise the learning rate, or look for a gradient that vanishes by the condition GV.",
    "activation_range": (
        "The activation is flat for most of its inputs: lower the learning rate, normalise its inputs, or use "
        "LeakyReLU or GELU."
    ),
    "tensor_range": "Compare the range with that of the step before, and scale or normalise the operands of the node.",
    "underflow": "Use loss scaling for float16, or compute the node in bfloat16 or float32.",
    "dead": "Lower the learning rate, initialize the bias with a small positive number, or use LeakyReLU or GELU.",
}


def advise(condition: str) -> str:
    """Return the advice for the id of a condition; "" for a condition that is a Python function."""
    return _ADVICE.get(condition, "")
