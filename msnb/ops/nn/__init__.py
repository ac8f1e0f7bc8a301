"""Operators of neural networks: each module that declares operators is imported here."""

from msnb.ops.nn import (  # noqa: F401
    activation,
    classes,
    conv,
    ctc,
    dropout,
    forms_activation,
    forms_conv,
    forms_layers,
    forms_loss,
    grads,
    grads_image,
    loss,
    norm,
    optim,
    optim_sparse,
    pad,
    pool,
    resize,
    rnn,
    roi_align,
)
