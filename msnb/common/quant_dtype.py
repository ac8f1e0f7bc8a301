"""The element types of quantised values."""

from enum import Enum


class QuantDtype(Enum):
    """Integer types of quantised values: the number of bits, and the sign."""

    INT2, INT3, INT4, INT5, INT6, INT7, INT8 = (f"INT{n}" for n in range(2, 9))
    UINT2, UINT3, UINT4, UINT5, UINT6, UINT7, UINT8 = (f"UINT{n}" for n in range(2, 9))
    # MindSpore 2 has these as well. Layers and operators that simulate quantisation accept 2 to 8 bits.
    INT1, INT9, INT10, INT11, INT12, INT13, INT14, INT15, INT16 = (f"INT{n}" for n in (1, *range(9, 17)))
    UINT1, UINT9, UINT10, UINT11, UINT12, UINT13, UINT14, UINT15, UINT16 = (f"UINT{n}" for n in (1, *range(9, 17)))

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    @property
    def num_bits(self) -> int:
        """Return the number of bits."""
        return int(self.name.removeprefix("U").removeprefix("INT"))

    @staticmethod
    def is_signed(dtype: "QuantDtype") -> bool:
        """Return whether `dtype` has a sign."""
        return not dtype.name.startswith("U")

    @staticmethod
    def switch_signed(dtype: "QuantDtype") -> "QuantDtype":
        """Return the type with the same number of bits and the other signedness."""
        return QuantDtype["U" + dtype.name if QuantDtype.is_signed(dtype) else dtype.name[1:]]
