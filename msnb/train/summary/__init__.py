"""Summaries: what is kept of a training in event files, for MindInsight and for msnb's own dashboard."""

from msnb.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryRecord"]
