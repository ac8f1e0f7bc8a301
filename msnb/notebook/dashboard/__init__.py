"""The dashboard of recorded trainings: curves, pictures, histograms, tensors and graphs, live or finished."""

from .view import DashboardView, dashboard

__all__ = ["DashboardView", "dashboard"]
