"""Methods and operators of Tensor that are more than one declared operator: reductions with numpy's arguments, shapes
given as several arguments, conversion, comparison with anything."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, check
from msnb.core.errors import describe
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor

F = FUNCTIONAL
_equal, _not_equal = REGISTRY["Equal"].primitive(), REGISTRY["NotEqual"].primitive()
_COMPARABLE = (Tensor, bool, int, float, complex)


def _method(*names):
    def attach(fn):
        for name in names:
            setattr(Tensor, name, fn)
        return fn

    return attach


# ---------------------------------------------------------------------- operators


@_method("__pos__")
def _pos(self):
    """The Tensor itself."""
    return self


@_method("__contains__")
def _contains(self, item):
    """Whether any element equals `item`."""
    if not isinstance(item, _COMPARABLE):
        raise TypeError(f"`in` looks for a number in a Tensor, but got {describe(item)}.")
    return bool(F["any"](_equal(self, item)))


# ---------------------------------------------------------------------- conversion
def _dtype_of(dtype):
    if isinstance(dtype, str):
        found = getattr(mstype, {"bool": "bool_", "int": "int32", "float": "float32"}.get(dtype, dtype), None)
        if not mstype.is_array_type(found):
            raise TypeError(f"For 'astype', there is no element type {dtype!r}.")
        return found
    return check(DType, dtype, "dtype", "astype")


@_method("astype")
def astype(self, dtype, copy=True):
    """The Tensor with another element type.

    Args:
        dtype (Union[mindspore.dtype, numpy.dtype, str]): Element type.
        copy (bool): False returns the Tensor itself where the type is the same. Default: True.

    Returns:
        Tensor.
    """
    dtype = _dtype_of(dtype)
    if not copy and dtype == self.dtype:
        return self
    return F["cast"](self, dtype)


@_method("to")
def to(self, dtype, *args):
    """The Tensor with another element type; `type` in 2.x."""
    return astype(self, dtype)


@_method("type")
def type_(self, dtype=None):
    """The name of the element type, or the Tensor with another one."""
    return str(self.dtype) if dtype is None else astype(self, dtype)


@_method("type_as")
def type_as(self, other):
    """The Tensor with the element type of another."""
    return F["cast"](self, other.dtype)


def _converter(name, dtype):
    def convert(self):
        return F["cast"](self, dtype)

    convert.__name__ = name
    convert.__doc__ = f"The Tensor as {dtype}."
    setattr(Tensor, name, convert)


for _name, _dtype in (
    ("float", mstype.float32),
    ("half", mstype.float16),
    ("double", mstype.float64),
    ("int", mstype.int32),
    ("long", mstype.int64),
    ("short", mstype.int16),
    ("byte", mstype.uint8),
    ("bool", mstype.bool_),
    ("bfloat16", mstype.bfloat16),
):
    _converter(_name, _dtype)


@_method("item")
def item(self, index=None):
    """One element as a Python number.

    Args:
        index (Union[None, int, tuple[int]]): Which; a Tensor of one element needs none. Default: None.

    Returns:
        Union[int, float, bool].

    Raises:
        ValueError: If there are several elements and no index.
        IndexError: If the index is out of range.
    """
    if index is None:
        return self._scalar("item()")
    return self.asnumpy().item(index)


@_method("itemset")
def itemset(self, *args):
    """A Tensor with one element replaced: itemset(value) or itemset(index, value); changes the Tensor itself."""
    if len(args) == 1:
        self[...] = args[0]
    elif len(args) == 2:
        index = args[0]
        if isinstance(index, int):
            index = tuple(int(i) for i in np.unravel_index(index, self.shape))
        self[index] = args[1]
    else:
        raise TypeError(
            f"For 'itemset', there should be a value, or an index and a value, but got {len(args)} arguments."
        )
    return self


@_method("copy", "clone")
def copy(self):
    """A copy of the Tensor; gradients flow through it."""
    return F["deepcopy"](self)


@_method("value")
def value(self):
    """A Tensor with the current value."""
    return F["deepcopy"](self)


@_method("contiguous", "cpu")
def contiguous(self):
    """The Tensor itself: its data is contiguous and where it is needed."""
    return self


@_method("is_contiguous")
def is_contiguous(self):
    """True: data is always contiguous."""
    return True


@_method("detach")
def detach(self):
    """The Tensor as a constant in derivatives."""
    return REGISTRY["StopGradient"].primitive()(self)


@_method("is_floating_point")
def is_floating_point(self):
    """Whether the elements are floating point numbers."""
    return self.dtype in (*mstype.float_type, mstype.bfloat16)


@_method("is_complex")
def is_complex(self):
    """Whether the elements are complex numbers."""
    return self.dtype in (mstype.complex64, mstype.complex128)


Tensor.data = property(lambda self: self, doc="The Tensor itself.")
Tensor.device = property(lambda self: str(self._array.device), doc="Name of the device that holds the data.")


@_method("ndimension")
def ndimension(self):
    """Number of dimensions."""
    return self.ndim


@_method("numel", "nelement")
def numel(self):
    """Number of elements."""
    return self.size


@_method("element_size")
def element_size(self):
    """Bytes of one element."""
    return self.itemsize


# ---------------------------------------------------------------------- shape
def _spread(op, shape):
    """A shape given as one tuple or as several ints."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list, Tensor)):
        return shape[0]
    return shape


@_method("reshape")
def reshape(self, *shape):
    """The elements in another shape, given as a tuple or as several ints; one may be -1."""
    return F["reshape"](self, _spread("reshape", shape))


@_method("view")
def view(self, *shape):
    """The elements in another shape, given as a tuple or as several ints; one may be -1.

    Raises:
        ValueError: If no shape is given or it does not fit.
    """
    if not shape:
        raise ValueError("For 'view', a shape should be given, but got none. The shape variable should not be empty.")
    if isinstance(shape[0], (tuple, list)) and len(shape) > 1:
        raise ValueError(
            f"For 'view', the shape should be ints or one tuple, but got {shape}. Only one tuple is needed."
        )
    if isinstance(shape[0], list):
        raise TypeError("For 'view', the shape should be a tuple or several ints, but got a list.")
    return F["reshape"](self, _spread("view", shape))


@_method("view_as", "reshape_as")
def view_as(self, other):
    """The elements in the shape of another Tensor."""
    return F["reshape"](self, other.shape)


@_method("expand_as")
def expand_as(self, x):
    """The Tensor broadcast to the shape of another."""
    return F["broadcast_to"](self, x.shape)


@_method("expand")
def expand(self, *size):
    """The Tensor broadcast to a shape, in which -1 keeps a length."""
    return F["broadcast_to"](self, tuple(_spread("expand", size)))


@_method("transpose")
def transpose(self, *axes):
    """The dimensions in another order: reversed, or as a tuple or several ints say."""
    axes = _spread("transpose", axes)
    if not axes or axes == (None,):
        axes = tuple(reversed(range(self.ndim)))
    return F["transpose"](self, axes)


@_method("permute")
def permute(self, *axis):
    """The dimensions in another order, given as a tuple or several ints."""
    return F["transpose"](self, _spread("permute", axis))


@_method("t")
def t(self):
    """A matrix with rows and columns exchanged."""
    if self.ndim > 2:
        raise ValueError(f"For 't', the Tensor should have at most 2 dimensions, but got shape {self.shape}.")
    return transpose(self)


Tensor.T = property(transpose, doc="The Tensor with its dimensions in reverse order.")
Tensor.H = property(lambda self: F["swapaxes"](self, -1, -2), doc="A matrix with rows and columns exchanged.")
Tensor.mT = property(lambda self: F["swapaxes"](self, -1, -2), doc="The last two dimensions exchanged.")


@_method("swapaxes", "swapdims")
def swapaxes(self, axis0, axis1):
    """The Tensor with two dimensions exchanged."""
    return F["swapaxes"](self, axis0, axis1)


@_method("flatten")
def flatten(self, order="C", *, start_dim=0, end_dim=-1):
    """Dimensions joined into one.

    Args:
        order (str): "C" for rows first, "F" for columns first. Default: "C".
        start_dim (int): The first dimension. Default: 0.
        end_dim (int): The last dimension. Default: -1.

    Returns:
        Tensor.
    """
    if isinstance(order, int) and not isinstance(order, bool):
        order, start_dim = "C", order
    if order not in ("C", "F"):
        raise ValueError(f"For 'flatten', 'order' should be 'C' or 'F', but got {order!r}.")
    x = transpose(self) if order == "F" else self
    if not x.ndim:
        return F["reshape"](x, (1,))
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return F["reshape"](x, (*x.shape[:start], -1, *x.shape[end + 1 :]))


@_method("ravel")
def ravel(self):
    """The elements as a vector."""
    return F["reshape"](self, (-1,))


@_method("unsqueeze")
def unsqueeze(self, dim):
    """A dimension of length 1 inserted."""
    return F["expand_dims"](self, dim)


@_method("resize")
def resize(self, *new_shape):
    """The elements in another shape, cut or filled up with zeros."""
    new_shape = tuple(_spread("resize", new_shape))
    count = int(np.prod(new_shape)) if new_shape else 1
    flat = ravel(self)
    if count <= flat.size:
        return F["reshape"](flat[:count], new_shape)
    rest = F["zeros"]((count - flat.size,), self.dtype)
    return F["reshape"](F["concat"]((flat, rest)), new_shape)


@_method("repeat")
def repeat(self, repeats, axis=None):
    """Each element several times, one after another, as numpy's repeat.

    Args:
        repeats (Union[int, tuple[int], list[int]]): How often, for all elements or for each one along `axis`.
        axis (int): The axis; the flattened Tensor for None. Default: None.

    Returns:
        Tensor.
    """
    return F["repeat_interleave"](self, repeats, axis)


@_method("flip")
def flip(self, *dims):
    """The order of the elements reversed along axes."""
    return F["flip"](self, _spread("flip", dims))


@_method("split")
def split(self, split_size_or_sections, axis=0):
    """The Tensor cut into pieces along an axis, as `ops.split`."""
    return F["split"](self, split_size_or_sections, axis)


def _forward(name, doc, form=None):
    form = F[form or name]

    def method(self, *args, **kwargs):
        return form(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = doc
    setattr(Tensor, name, method)


for _name, _form in (
    ("chunk", None),
    ("unbind", None),
    ("unstack", None),
    ("index_select", None),
    ("gather_elements", None),
    ("clamp", None),
    ("clip", None),
    ("round", None),
    ("nonzero", None),
    ("masked_select", None),
    ("count_nonzero", None),
    ("argsort", None),
    ("mm", None),
    ("bmm", None),
    ("amax", None),
    ("amin", None),
    ("unique", None),
    ("fmod", None),
    ("remainder", None),
    ("tensordot", None),
    ("median", None),
    ("narrow", None),
    ("argwhere", None),
    ("allclose", None),
    ("addmm", None),
    ("baddbmm", None),
    ("inner", None),
    ("nansum", None),
    ("topk", None),
    ("sigmoid", None),
    ("relu", None),
    ("tanh", None),
    ("bincount", None),
    ("diff", None),
):
    if (_form or _name) in F and not hasattr(Tensor, _name):
        _forward(_name, f"As `ops.{_form or _name}`.", _form)


@_method("gather")
def gather(self, input_indices, axis=0, batch_dims=0):
    """Slices along an axis, as `ops.gather`."""
    if isinstance(input_indices, int):  # gather(dim, index)
        return F["gather_d"](self, input_indices, axis)
    if batch_dims:
        raise ValueError("For 'gather', 'batch_dims' should be 0; use gather_elements for indices per row.")
    return F["gather"](self, input_indices, axis)


@_method("take")
def take(self, indices, axis=None, mode="clip"):
    """Elements at indices, of the flattened Tensor or along an axis.

    Args:
        indices (Tensor): Integers.
        axis (int): The axis; the flattened Tensor for None. Default: None.
        mode (str): "clip" or "wrap": what an index out of range means. Default: "clip".

    Returns:
        Tensor.
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"For 'take', 'mode' should be 'clip' or 'wrap', but got {mode!r}.")
    indices = indices if isinstance(indices, Tensor) else Tensor(indices)
    length = self.size if axis is None else self.shape[axis]
    if mode == "wrap":
        indices = indices % length
    return REGISTRY["Take"].primitive()(self, indices, axis)


@_method("where")
def where(self, condition, y):
    """Elements of the Tensor where a condition holds, of `y` elsewhere."""
    return F["where"](condition, self, y)


@_method("select")
def select(self, condition, y):
    """Elements of the Tensor where a condition holds, of `y` elsewhere."""
    return F["where"](condition, self, y)


@_method("fill")
def fill(self, value):
    """A Tensor of the same shape and type with one value in every place."""
    return F["full_like"](self, value)


@_method("new_zeros")
def new_zeros(self, size, dtype=None):
    """A Tensor of zeros of another shape, of the same element type unless given."""
    return F["zeros"](size, dtype or self.dtype)


@_method("new_ones")
def new_ones(self, size, dtype=None):
    """A Tensor of ones of another shape, of the same element type unless given."""
    return F["ones"](size, dtype or self.dtype)


@_method("new_full")
def new_full(self, size, fill_value, *, dtype=None):
    """A Tensor with one value, of another shape, of the same element type unless given."""
    return F["full"](size, fill_value, dtype=dtype or self.dtype)


# ---------------------------------------------------------------------- reductions


@_method("trace")
def trace(self, offset=0, axis1=0, axis2=1, dtype=None):
    """Sum of a diagonal of two dimensions."""
    found = F["sum"](F["diagonal"](self, offset, axis1, axis2), -1)
    return found if self.dtype != mstype.int32 and dtype is None else F["cast"](found, dtype or self.dtype)


@_method("scatter")
def scatter(self, axis, index, src):
    """A copy with the element at `index` along an axis set, for each place of `index`."""
    return F["tensor_scatter_elements"](self, index, src, axis)


@_method("scatter_add")
def scatter_add(self, dim, index, src):
    """A copy with the element at `index` along an axis increased, for each place of `index`."""
    return F["tensor_scatter_elements"](self, index, src, dim, "add")


@_method("sort")
def sort(self, axis=-1, descending=False):
    """The elements in order along an axis, and where they stood."""
    return F["sort"](self, axis, descending)


@_method("diag")
def diag(self):
    """A Tensor with this one on its diagonal."""
    return F["diag"](self)
