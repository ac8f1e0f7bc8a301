"""What stands for a value that is not there: of a variable that was not assigned, of a path that returns nothing."""

from typing import Any, NoReturn

from msnb.core.errors.messages import raise_at


class Undefined:
    """A variable that has no value yet; every use says which and why.

    Args:
        name (str): The variable.
        why (str): What is wrong with it.
        place (tuple): (file, line, function) of the statement that leaves it so. Default: None, where it is used.
    """

    def __init__(
        self, name: str, why: str = "is used before it is assigned", place: tuple[str, int, str] | None = None
    ) -> None:
        self.__dict__.update(name=name, why=why, place=place)

    def complain(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UnboundLocalError."""
        error = UnboundLocalError(f"The local variable '{self.name}' {self.why}.")
        if self.place is not None:  # what uses it may be msnb, which hands it on as a result
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
    """What a function returns on a path that falls off its end."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
