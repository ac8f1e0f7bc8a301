"""Cells that hold Cells in order."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from msnb.common.arguments import uncalled
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell

__all__ = ["SequentialCell", "CellList"]


def _cell(cell, prefix):
    """`cell`; from now on the names of its Parameters begin with `prefix`, so that those of two Cells differ."""
    if not isinstance(cell, Cell):
        got = uncalled(cell) or f"{cell!r} of type {type(cell).__name__}"
        raise TypeError(f"A Cell is wanted here, but got {got}.")
    cell.update_parameters_name(f"{prefix}.")
    return cell


class _Ordered(Cell):
    """Cells by position; each also has a name."""

    _cells: OrderedDict[str, Cell]
    cell_list: list[Cell]

    def __setattr__(self, name: str, value: Any) -> None:
        """A Cell that takes the name of another takes its place in the order, too."""
        if isinstance(value, Cell) and name in self.__dict__.get("_cells", ()):
            self[list(self._cells).index(name)] = value
        else:
            super().__setattr__(name, value)

    def _hold(self, named):
        """Make the pairs `named` (name, Cell) the content."""
        named = [(str(name), cell) for name, cell in named]
        for name in list(self._cells):
            delattr(self, name)
        for name, cell in named:
            self.insert_child_to_cell(name, cell)
        self.cell_list = [cell for _, cell in named]

    def _place(self, index):
        """`index` as one that counts from the start."""
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"An index of {self.cls_name} should be an int, but got {index!r}.")
        count = len(self)
        if index not in range(-count, count):
            raise IndexError(f"There is no Cell {index} in a {self.cls_name} of {count}.")
        return index % count

    def _rest(self, index):
        """The pairs that stay when those at `index` go."""
        named = list(self._cells.items())
        if isinstance(index, slice):
            del named[index]
        else:
            del named[self._place(index)]
        return named

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def set_grad(self, requires_grad: bool = True) -> "_Ordered":
        """
        Say whether gradients are wanted, here and in all Cells inside.

        Args:
            requires_grad (bool): Whether they are. Default: True.

        Returns:
            Cell, itself.
        """
        super().set_grad(requires_grad)
        for cell in self:
            cell.set_grad(requires_grad)
        return self


class SequentialCell(_Ordered):
    """
    Cells one after the other: each gets what the one before returns.

    Args:
        args (Union[list[Cell], OrderedDict[str, Cell], Cell]): The Cells: as arguments, as one list, or as one
            OrderedDict, which names them.

    Inputs:
        - **x** (Tensor) - what the first Cell takes.

    Outputs:
        Tensor, what the last Cell returns.

    Raises:
        TypeError: If there is something else than Cells.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.SequentialCell([nn.Dense(3, 2, weight_init="ones"), nn.ReLU()])
        >>> print(net(Tensor([[1.0, 2.0, 3.0]], mindspore.float32)))
        [[6. 6.]]
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        cells = args[0] if len(args) == 1 and not isinstance(args[0], Cell) else args
        if not isinstance(cells, (list, tuple, dict)):
            raise TypeError(f"Cells come as a list or an OrderedDict, but got {type(cells).__name__}.")
        named = cells.items() if isinstance(cells, dict) else enumerate(cells)
        self._hold([(name, _cell(cell, name)) for name, cell in named])

    def __getitem__(self, index: int | slice) -> Cell:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return self.cell_list[self._place(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        named = list(self._cells.items())
        place = self._place(index)
        name = named[place][0]
        named[place] = name, _cell(cell, name)
        self._hold(named)

    def __delitem__(self, index: int | slice) -> None:
        self._hold(self._rest(index))

    def append(self, cell: Cell) -> "SequentialCell":
        """
        Put a Cell at the end.

        Args:
            cell (Cell): The Cell.

        Returns:
            SequentialCell, itself.

        Examples:
            >>> net = nn.SequentialCell([nn.Dense(3, 2)]).append(nn.ReLU())
        """
        self._hold([*self._cells.items(), (len(self), _cell(cell, len(self)))])
        return self

    def construct(self, input_data: Tensor) -> Tensor:
        """What the last Cell returns."""
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Ordered):
    """
    A list of Cells whose Parameters belong to the Cell that has the list as an attribute. It is not called itself.

    Args:
        args (list[Cell]): The Cells, or nothing.

    Raises:
        TypeError: If there is something else than a list of Cells.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> cells = nn.CellList([nn.Dense(3, 2)])
        >>> cells.insert(0, nn.Dense(4, 3))
        >>> cells += [nn.ReLU()]
        >>> print(len(cells))
        3
    """

    def __init__(self, *args: Iterable[Cell]) -> None:
        super().__init__()
        self.__cell_as_list__ = True
        self.cell_list = []
        if len(args) > 1:
            raise TypeError(f"CellList takes one list of Cells, but got {len(args)} arguments.")
        for cells in args:
            self.extend(cells)

    def __getitem__(self, index: int | slice) -> Cell:
        if isinstance(index, slice):
            return type(self)(self.cell_list[index])
        return self.cell_list[self._place(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        cells = list(self)
        cells[self._place(index)] = _cell(cell, index)
        self._hold(enumerate(cells))

    def __delitem__(self, index: int | slice) -> None:
        self._hold(enumerate(cell for _, cell in self._rest(index)))

    def __iadd__(self, cells: Iterable[Cell]) -> "CellList":
        return self.extend(cells)

    def insert(self, index: int, cell: Cell) -> None:
        """
        Put a Cell before the one at a position.

        Args:
            index (int): The position.
            cell (Cell): The Cell.
        """
        cells = list(self)
        cells.insert(self._place(index), _cell(cell, index))
        self._hold(enumerate(cells))

    def extend(self, cells: Iterable[Cell]) -> "CellList":
        """
        Put the Cells of a list at the end.

        Args:
            cells (list[Cell]): The Cells.

        Returns:
            CellList, itself.

        Raises:
            TypeError: If `cells` is no list of Cells.
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"CellList takes a list of Cells, but got {cells!r}.")
        new = [_cell(cell, place) for place, cell in enumerate(cells, len(self))]
        self._hold(enumerate([*self, *new]))
        return self

    def append(self, cell: Cell) -> "CellList":
        """
        Put a Cell at the end.

        Args:
            cell (Cell): The Cell.

        Returns:
            CellList, itself.
        """
        return self.extend([cell])

    def construct(self, *inputs: Any) -> Any:
        """Nothing: a list computes nothing.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("A CellList is not called itself; call the Cells in it.")
