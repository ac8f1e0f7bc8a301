"""The methods of attribution by name, with their options."""

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.insight.attribution.grad_cam import run_grad_cam
from msnb.insight.attribution.gradients import run_gradient, run_modified_gradient
from msnb.insight.attribution.relevance import run_relevance
from msnb.insight.attribution.result import Attribution
from msnb.insight.attribution.smoothed import run_integrated_gradients, run_smooth_gradient
from msnb.insight.attribution.traced_network import Call
from msnb.insight.debugger.names import name_of_node

# Each returns (values, scores) or (values, scores, scores of the baseline); its options are its keyword arguments.
METHODS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "gradient": run_gradient,
    "guided_backprop": functools.partial(run_modified_gradient, rule="guided"),
    "deconvolution": functools.partial(run_modified_gradient, rule="deconvolution"),
    "grad_cam": functools.partial(run_grad_cam, is_plus_plus=False),
    "grad_cam_plus_plus": functools.partial(run_grad_cam, is_plus_plus=True),
    "integrated_gradients": run_integrated_gradients,
    "smooth_grad": run_smooth_gradient,
    "lrp": run_relevance,
}


def compute_attribution(
    net: Any,
    inputs: tuple[Any, ...],
    target: Any,
    method: str,
    node: Any,
    input_index: int,
    tokens: Any,
    options: dict[str, Any],
) -> Attribution:
    """Return an attribution; see `msnb.attribute`."""
    run = METHODS.get(method) if isinstance(method, str) else None
    if run is None:
        nearest = difflib.get_close_matches(str(method), METHODS, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"'method' should be one of {', '.join(METHODS)}, but got {method!r}.{hint}")
    _check_options(method, run, options)
    call = Call(net, inputs, target, node, input_index)
    if node is None and method.startswith("grad_cam"):
        raise ValueError(f"Grad-CAM needs a node{call.network.suggest_convolution()}. `node=''` is the input itself.")
    values, scores, *baseline_scores = run(call, **options)
    point = call.source.point
    return Attribution(
        values=np.asarray(values),
        target=call.indices[:, 0] if call.indices.shape[1] == 1 else call.indices,
        method=method,
        node=None if point is None else name_of_node(point.node),
        inputs=call.attributed.asnumpy(),
        scores=np.asarray(scores),
        baseline_scores=np.asarray(baseline_scores[0]) if baseline_scores else None,
        tokens=tokens,
    )


def _check_options(method, run, options):
    bound = run.keywords if isinstance(run, functools.partial) else {}
    names = [name for name in list(inspect.signature(run).parameters)[1:] if name not in bound]
    for name in options:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, n=1)
            listed = f"It has {', '.join(names)}." if names else "It has none."
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise TypeError(f"The method {method!r} has no option {name!r}. {listed}{hint}")
