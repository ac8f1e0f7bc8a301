"""The view of plans for many devices: strategies side by side, sharding on the mesh, and communication."""

from .view import PlanView, plan_view

__all__ = ["PlanView", "plan_view"]
