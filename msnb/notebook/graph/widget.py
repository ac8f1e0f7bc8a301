"""The widget class of graph views: state that kernel and page share."""

import pathlib

from msnb.notebook.view import widget_kind

MODULE = pathlib.Path(__file__).with_name("widget.js")
HEIGHT = 560  # pixels

widget_class = widget_kind(
    "GraphWidget",
    MODULE,
    lambda t: {
        "payload": t.Bytes(),
        "wanted": t.Unicode(""),
        "columns": t.Dict(),
        "colour": t.Unicode(""),
        "selected": t.Int(-1),
        "stale": t.Unicode(""),
        "waits": t.Dict(),
        "height": t.Int(HEIGHT),
        "cells": t.Dict(),
        "valued": t.Unicode(""),  # name of the stage whose nodes have values
        "runs": t.Int(0),  # number of runs whose values have been shown
        "steps": t.List(),
        "step": t.Int(0),
        "debug": t.Dict(),  # position of the cursor in a paused step
    },
)
