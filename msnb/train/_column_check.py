"""Check that the columns of a dataset fit the inputs of a network."""

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell


def check(network: "Cell", loss_fn: "Cell | None", element: tuple[Any, ...]) -> None:
    """Raise an error if the columns of a batch do not fit the inputs of a Model's network.

    Args:
        network (Cell): The network of the Model.
        loss_fn (Union[Cell, None]): The loss of the Model.
        element (tuple): One batch.

    Raises:
        ValueError: If there is a loss, and the batch does not have two columns.
        TypeError: If there is no loss, and the network takes another number of inputs.
    """
    count = len(element)
    if loss_fn is not None:
        if count != 2:
            raise ValueError(
                f"With a loss_fn, each batch of the dataset should have two columns, data and label, but got {count}."
            )
        return
    signature = inspect.signature(network.construct)
    try:
        signature.bind(*element)
    except TypeError:
        kind = type(network).__name__
        raise TypeError(
            f"Each batch of the dataset has {count} column{'s' * (count != 1)}, but construct of {kind} takes "
            f"({', '.join(signature.parameters)}), and the Model has no loss_fn. Give it one, "
            f"Model(network, loss_fn=..., optimizer=...), or have construct take the label and return the loss."
        ) from None
