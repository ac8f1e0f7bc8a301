"""Tensors and Parameters that compute their initial values at the first use; see `nn.utils.no_init_parameters`.

Before that they have only a shape and a dtype. A network that does not fit into memory can thus be traced and planned.
At the first use the class of the object changes to Tensor or Parameter. Ordinary Tensors have no overhead.
"""

from typing import Any, Self

import jax

from msnb.common import dtype as mstype
from msnb.common.deferred_init import Unfilled
from msnb.common.initializer import initializer, register_boxer
from msnb.core.state.trace_state import epoch, thread
from msnb.core.tensor.conversion import of_numpy, to_array
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box, register_initializer

_slot: Any = Tensor._array  # the slot of `Tensor` that stores its array


class LazyTensor(Tensor):
    """A Tensor whose values an initializer computes at the first use. `initializer` creates it if initialization is
    deferred.
    """

    __slots__ = ()

    @property
    def _array(self):
        unfilled = _slot.__get__(self)
        array = to_array(unfilled.filled())
        self.__class__ = Tensor
        self._array = array
        return array

    @_array.setter
    def _array(self, array):
        self.__class__ = Tensor
        self._array = array

    def _make_lazy(self, parameter):
        """Make a new Parameter lazy as well, and return the placeholder of its values."""
        parameter.__class__ = LazyParameter
        return _slot.__get__(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, a tuple of int."""
        return _slot.__get__(self).shape

    @property
    def dtype(self) -> mstype.Type:
        """Type of the elements, a MindSpore dtype."""
        return mstype.from_numpy_dtype(_slot.__get__(self).dtype)


class LazyParameter(Parameter):
    """A Parameter that was constructed from a `LazyTensor`."""

    __slots__ = ()
    has_init = True

    def _read_store_slot(self):
        store, index = self._slot
        return store.results[-1][0][index]

    def _get_stored_array(self):
        unfilled = self._read_store_slot()
        if isinstance(unfilled, Unfilled):  # false if the values were computed after this bound method was looked up
            _fill_parameter(self, to_array(unfilled.filled()))
        return Parameter._get_stored_array(self)

    def _get_argument_signature(self):
        unfilled = self._read_store_slot()
        return jax.ShapeDtypeStruct(unfilled.shape, unfilled.dtype)

    def set_dtype(self, dtype: mstype.Type) -> Self:
        """Set the dtype of the initial values, and return self."""
        unfilled = self._read_store_slot()
        if not isinstance(unfilled, Unfilled):
            Parameter.set_dtype(self, dtype)
            return self
        store, index = self._slot
        store.results[-1][0][index] = unfilled.of_type(mstype.np_dtype(dtype))
        epoch.bump()
        return self

    @property
    def _kind(self):
        return self._read_store_slot() if thread.frame is None else Parameter._kind.__get__(self)

    @property
    def _array(self):
        return self._get_stored_array() if thread.frame is None else thread.frame.read(self)

    @_array.setter
    def _array(self, array):
        self._rebind_array(array)

    def _rebind_array(self, array):
        if thread.frame is not None:
            thread.frame.write(self, array)
        else:
            _fill_parameter(self, array)


def _fill_parameter(parameter, array):
    """Store the values of a `LazyParameter`, and make it an ordinary Parameter."""
    store, index = parameter._slot
    store.results[-1][0][index] = array
    parameter.__class__ = Parameter


def _box_initializer_values(values):
    """Return a Tensor with the values of an initializer, a `LazyTensor` if they are still to be computed."""
    if not isinstance(values, Unfilled):
        return box(of_numpy(values))
    tensor = LazyTensor.__new__(LazyTensor)
    _slot.__set__(tensor, values)
    tensor._node = None
    return tensor


def _unflatten_tensor(arrays) -> Any:
    return box(arrays[0])


register_boxer(_box_initializer_values)
register_initializer(initializer)
jax.tree_util.register_pytree_node(
    LazyTensor, lambda t: ((t._array,), None), lambda _, arrays: _unflatten_tensor(arrays)
)
