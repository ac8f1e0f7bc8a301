"""The one module that touches JAX's private API; each use says what it falls back to."""
import jax
from jax.extend import core as jex_core

try:
    from jax._src import source_info_util as _source_info
except ImportError:  # pragma: no cover - source links are then missing, nothing else
    _source_info = None

try:
    from jax._src.lax.lax import _convert_element_type
except ImportError:  # pragma: no cover
    _convert_element_type = None

try:
    from jax._src import config as _config
except ImportError:  # pragma: no cover
    _config = None


def strengthen(array):
    """`array` without JAX's weak type, so that it promotes as every other Tensor does."""
    if not getattr(array, "weak_type", False):
        return array
    if _convert_element_type is not None:
        return _convert_element_type(array, array.dtype, weak_type=False)
    return jax.lax.convert_element_type(array, array.dtype)


def exclude_from_source_links(directory):
    """Make JAX skip the frames of files in `directory` when it looks for the user's line."""
    if _source_info is not None:
        _source_info.register_exclusion(directory)


def user_frame(traceback):
    """(file, line, function) of the user's innermost frame of an equation's traceback, None where unknown."""
    if _source_info is None or traceback is None:
        return None
    frame = _source_info.user_frame(traceback)
    return None if frame is None else (frame.file_name, frame.start_line, frame.function_name)


def eval_jaxpr(jaxpr, consts, *args):
    """Evaluate a jaxpr, keeping name stacks and source lines."""
    return jax.core.eval_jaxpr(jaxpr, consts, *args)


def is_tracer(value):
    """Whether `value` stands for a value that is not known yet."""
    return isinstance(value, jax.core.Tracer)


Literal = jex_core.Literal
Var = jex_core.Var


def weak_float32(array):
    """A traced Python float as a float32 that does not widen what it meets."""
    if _convert_element_type is not None:
        return _convert_element_type(array, "float32", weak_type=True)
    return array
