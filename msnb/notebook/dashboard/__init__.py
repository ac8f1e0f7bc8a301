"""The dashboard: recorded trainings as curves, pictures, histograms, tensors and graphs, while they run and after."""

from .view import DashboardView, dashboard

__all__ = ["DashboardView", "dashboard"]
