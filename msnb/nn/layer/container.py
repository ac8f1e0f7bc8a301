"""Containers of Cells."""

from collections import OrderedDict

from msnb.nn.cell import Cell

__all__ = ["SequentialCell", "CellList"]


def _valid_index(count, index):
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"Index {index!r} is not int type.")
    if not -count <= index < count:
        raise IndexError(f"Index should be a number in range [{-count}, {count}), but got {index}.")
    return index % count


def _valid_cell(cell, name=None):
    """`cell`; its Parameters' names begin with `name` from now on, so that those of two cells differ."""
    if not isinstance(cell, Cell):
        raise TypeError(f"Cell {cell!r} is not subclass of Cell, but of type {type(cell).__name__}.")
    if name is not None:
        cell.update_parameters_name(f"{name}.")
    return cell


class _Container(Cell):
    """Cells in order, found by position."""

    def _changed(self, cells):
        """Take the pairs `cells` (name, Cell) as the new content."""
        cells = list(cells)
        for name in list(self._cells):
            delattr(self, name)
        for name, cell in cells:
            self.insert_child_to_cell(name, cell)
        self.cell_list = list(self._cells.values())

    def _key(self, index):
        return list(self._cells)[_valid_index(len(self), index)]

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._cells.values())

    def _without(self, index):
        if isinstance(index, slice):
            gone = set(list(self._cells)[index])
        elif isinstance(index, int):
            gone = {self._key(index)}
        else:
            raise TypeError(f"Index {index!r} is not int type or slice type.")
        return [(name, cell) for name, cell in self._cells.items() if name not in gone]

    def set_grad(self, flag=True):
        """Set whether gradients are wanted, for all cells inside."""
        super().set_grad(flag)
        for cell in self._cells.values():
            cell.set_grad(flag)
        return self


class SequentialCell(_Container):
    """
    Cells applied one after the other.

    Args:
        args (Union[list[Cell], OrderedDict[str, Cell], Cell]): The Cells: a list, an OrderedDict that names them, or
            one after the other as arguments.

    Inputs:
        - **x** (Tensor) - what the first Cell takes.

    Outputs:
        Tensor, what the last Cell returns.

    Raises:
        TypeError: If the only argument is neither a list nor an OrderedDict, or something is not a Cell.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> seq = nn.SequentialCell([nn.Conv2d(3, 2, 3, pad_mode='valid'), nn.ReLU()])
        >>> output = seq(Tensor(np.ones([1, 3, 4, 4]), mindspore.float32))
        >>> print(output.shape)
        (1, 2, 2, 2)
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and not isinstance(args[0], Cell):
            cells = args[0]
            if not isinstance(cells, (list, tuple, dict)):
                raise TypeError(f"Cells must be list or orderedDict, but got {type(cells).__name__}.")
            named = cells.items() if isinstance(cells, dict) else enumerate(cells)
        else:
            named = enumerate(args)
        for name, cell in named:
            self.insert_child_to_cell(str(name), _valid_cell(cell, name))
        self.cell_list = list(self._cells.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(OrderedDict(list(self._cells.items())[index]))
        return self._cells[self._key(index)]

    def __setitem__(self, index, cell):
        key = self._key(index)
        _valid_cell(cell, key)
        self._changed((name, cell if name == key else old) for name, old in self._cells.items())

    def __delitem__(self, index):
        self._changed(self._without(index))

    def append(self, cell):
        """
        Add a Cell at the end.

        Args:
            cell (Cell): The Cell.

        Returns:
            SequentialCell, itself.

        Examples:
            >>> seq = nn.SequentialCell([nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2)]).append(nn.ReLU())
        """
        self._changed([*self._cells.items(), (str(len(self)), _valid_cell(cell, len(self)))])
        return self

    def construct(self, input_data):
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Container):
    """
    A list of Cells, whose Parameters belong to the Cell that holds the list. It is not called itself.

    Args:
        args (list[Cell]): The Cells. Optional.

    Raises:
        TypeError: If the argument is not a list, or something in it is not a Cell.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> cells = nn.CellList([nn.BatchNorm2d(20)])
        >>> cells.insert(0, nn.Conv2d(100, 20, 3))
        >>> cells += [nn.ReLU()]
        >>> print(len(cells))
        3
    """

    def __init__(self, *args):
        super().__init__()
        self.__cell_as_list__ = True
        self.cell_list = []
        if len(args) == 1:
            self.extend(args[0])
        elif args:
            raise TypeError(f"CellList takes one list of Cells, but got {len(args)} arguments.")

    def _renumbered(self, cells):
        self._changed((str(i), cell) for i, cell in enumerate(cells))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(list(self._cells.values())[index])
        return self._cells[self._key(index)]

    def __setitem__(self, index, cell):
        cells = list(self._cells.values())
        cells[_valid_index(len(self), index)] = _valid_cell(cell, index)
        self._renumbered(cells)

    def __delitem__(self, index):
        self._renumbered(cell for _, cell in self._without(index))

    def __iadd__(self, cells):
        return self.extend(cells)

    def insert(self, index, cell):
        """
        Insert a Cell before the one at `index`.

        Args:
            index (int): The position.
            cell (Cell): The Cell.
        """
        cells = list(self._cells.values())
        cells.insert(_valid_index(len(self), index), _valid_cell(cell, index))
        self._renumbered(cells)

    def extend(self, cells):
        """
        Add the Cells of a list at the end.

        Args:
            cells (list[Cell]): The Cells.

        Raises:
            TypeError: If `cells` is not a list of Cells.
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"Cells {cells!r} should be list of subcells.")
        new = [_valid_cell(cell, len(self) + i) for i, cell in enumerate(cells)]
        self._renumbered([*self._cells.values(), *new])
        return self

    def append(self, cell):
        """
        Add a Cell at the end.

        Args:
            cell (Cell): The Cell.
        """
        self._renumbered([*self._cells.values(), _valid_cell(cell, len(self))])
        return self

    def construct(self, *inputs):
        raise NotImplementedError("A CellList is not called itself; call the Cells in it.")
