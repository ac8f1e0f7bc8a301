"""Interventions: change values inside a network, and measure the contribution of each value."""

from msnb.insight.interventions.intervention import Intervention, intervene
from msnb.insight.interventions.patching import Patching, measure_effects

__all__ = ["Intervention", "Patching", "intervene", "measure_effects"]
