"""Summaries: scalars, images and graphs of a training run for MindInsight. They come later; the names import."""

from msnb.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryRecord"]
