"""Plans for many devices: strategies side by side, what lies where on the mesh, and what is sent."""

from .view import PlanView, plan_view

__all__ = ["PlanView", "plan_view"]
