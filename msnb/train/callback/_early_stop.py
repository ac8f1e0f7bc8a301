"""Re-export module: `EarlyStopping`, at MindSpore 2's path."""

from msnb.train.callback._early_stopping import EarlyStopping as EarlyStopping
