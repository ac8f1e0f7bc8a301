"""Conditions on the values of a training: `Watch` checks them in every step and lists a `Hit` for each that is met."""

from .hits import Hit as Hit
from .watch import Watch as Watch
from .watch import WatchpointHit as WatchpointHit
