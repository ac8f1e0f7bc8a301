"""Interventions: change values inside a network, and measure what each value contributes."""

from msnb.insight.interventions.intervene import Intervention, intervene

__all__ = ["Intervention", "intervene"]
