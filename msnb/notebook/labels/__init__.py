"""`msnb.label`: the page on which pictures and texts are labelled."""

from .view import LabelSession, label

__all__ = ["LabelSession", "label"]
