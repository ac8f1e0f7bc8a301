"""Summaries: values of a training in event files, for MindInsight and for msnb's dashboard."""

from msnb.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryRecord"]
