"""Placeholders for missing values: an unassigned variable, and a path that returns nothing."""

from typing import Any, NoReturn

from msnb.core.errors.messages import raise_at


class Undefined:
    """Placeholder of a variable that has no value yet; every use raises an error with its name and the reason.

    Args:
        name (str): Name of the variable.
        why (str): Reason why it has no value.
        place (tuple): (file, line, function) of the statement that did not assign it. Default: None, the line of the
            use.
    """

    def __init__(
        self, name: str, why: str = "is used before it is assigned", place: tuple[str, int, str] | None = None
    ) -> None:
        self.__dict__.update(name=name, why=why, place=place)

    def complain(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UnboundLocalError."""
        error = UnboundLocalError(f"The local variable '{self.name}' {self.why}.")
        if self.place is not None:  # if the variable is a result, msnb detects it after the user's code has ended
            file, line, owner = vars(self)["place"]
            raise_at(error, file, line, owner.rpartition(" ")[2].strip("'"))
        raise error

    __getattr__ = __call__ = __getitem__ = __bool__ = __iter__ = __len__ = __float__ = __int__ = complain
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = complain
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pow__ = __rpow__ = __matmul__ = __mod__ = complain
    __floordiv__ = __setitem__ = complain

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


class _Missing:
    """Placeholder of the result of a function on a path without `return`."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
