"""The profile view: where the time of a network goes, in a notebook."""

from .view import ProfileView, view

__all__ = ["ProfileView", "view"]
