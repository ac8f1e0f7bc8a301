"""The profile view: the time of a network by operator, Cell and line."""

from .view import ProfileView, view

__all__ = ["ProfileView", "view"]
