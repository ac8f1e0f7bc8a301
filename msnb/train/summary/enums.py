"""Kinds of values and modes of summaries, under r1.1's names."""

from enum import Enum


class BaseEnum(Enum):
    """An Enum whose values can be listed."""

    @classmethod
    def to_list(cls) -> list[str]:
        """Return the values of all members."""
        return [member.value for member in cls]


class PluginEnum(BaseEnum):
    """The kinds of values that `SummaryRecord.add_value` takes."""

    GRAPH = "graph"
    SCALAR = "scalar"
    IMAGE = "image"
    TENSOR = "tensor"
    HISTOGRAM = "histogram"
    TRAIN_LINEAGE = "train_lineage"
    EVAL_LINEAGE = "eval_lineage"
    CUSTOM_LINEAGE_DATA = "custom_lineage_data"
    DATASET_GRAPH = "dataset_graph"
    LANDSCAPE = "landscape"


class ModeEnum(BaseEnum):
    """The modes of a Model."""

    TRAIN = "train"
    EVAL = "eval"
