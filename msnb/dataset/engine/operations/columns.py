"""``rename`` and ``project``: names and order of columns."""

from typing import Any

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Columns, as_list
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes


class RenameDataset(Dataset):
    """Data set that :meth:`Dataset.rename` returns."""

    def __init__(
        self, input_dataset: Dataset, input_columns: str | list[str] | None, output_columns: str | list[str] | None
    ) -> None:
        super().__init__(input_dataset)
        self.input_column_names: list[str] | None = as_list(input_columns)
        self.output_column_names: list[str] | None = as_list(output_columns)

    def _make_plan_node(self, children):
        return nodes.Rename(children[0], self.input_column_names, self.output_column_names)


@fluent
@checked
def rename(self: Dataset, input_columns: Columns, output_columns: Columns) -> RenameDataset:
    """Rename columns.

    Args:
        input_columns (Union[str, list[str]]): The old names.
        output_columns (Union[str, list[str]]): The new names.

    Returns:
        RenameDataset.
    """

    old, new = as_list(input_columns), as_list(output_columns)
    if len(old) != len(new):
        raise ValueError(
            f"Number of column in input_columns and output_columns is not equal: {len(old)} and {len(new)}."
        )
    return RenameDataset(self, input_columns, output_columns)


class ProjectDataset(Dataset):
    """Data set that :meth:`Dataset.project` returns."""

    def __init__(self, input_dataset: Dataset, columns: Any, prefetch_size: int | None = None) -> None:
        super().__init__(input_dataset)
        self.columns: list[str] | None = as_list(columns)
        self.prefetch_size = prefetch_size

    def _make_plan_node(self, children):
        return nodes.Project(children[0], self.columns)


@fluent
@checked
def project(self: Dataset, columns: Columns) -> ProjectDataset:
    """Keep only the columns `columns`, in this order.

    Args:
        columns (Union[str, list[str]]): Names of the columns.

    Returns:
        ProjectDataset.
    """

    return ProjectDataset(self, columns)
