"""A face: `EarlyStopping`, under MindSpore 2's module path."""

from msnb.train.callback._early_stopping import EarlyStopping as EarlyStopping
