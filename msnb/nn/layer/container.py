"""Containers of Cells: SequentialCell, CellList and CellDict."""

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import islice
from typing import Any

from msnb.common.arguments import uncalled
from msnb.common.kinds import Bool, check
from msnb.core.operator import api_generations
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell

__all__ = ["SequentialCell", "CellList", "CellDict"]


def _prefix_parameter_names(cell, prefix):
    """Prefix the Parameter names of `cell` with `prefix`, so that Parameters of two Cells have different names. Returns
    the Cell."""
    if not isinstance(cell, Cell):
        got = uncalled(cell) or f"{cell!r} of type {type(cell).__name__}"
        raise TypeError(f"A Cell is wanted here, but got {got}.")
    if prefix is not None:
        cell.update_parameters_name(f"{prefix}.")
    return cell


def _find_name_prefix(cells):
    """Return (prefix of the Parameter names in `cells`, index of the name component that is the name of the Cell).

    MindSpore 2 derives the prefix from the names of existing Parameters, so that a Cell that is added later gets the
    same prefix. If a position occurs more than once in a name, the last one counts. r1.1 uses no prefix.
    """
    match = "", 0
    if api_generations.shared == 1:
        return match
    firsts = ((key, next(iter(cell.get_parameters()), None)) for key, cell in cells.items())
    named = list(islice(((key, param.name.split(".")) for key, param in firsts if param is not None), 2))
    if named:
        (key, parts), second = named[0], named[1] if len(named) == 2 else None
        for place, part in enumerate(parts):
            if part == key:
                match = "".join(f"{before}." for before in parts[:place]), place
                if second is not None and second[1][place : place + 1] == [second[0]]:
                    break
    return match


def _rename_moved_parameters(cells, prefix, place):
    """Rename the Parameters of `cells`, {position: Cell}, after the current positions. r1.1 does not rename them."""
    for position, cell in cells.items() if api_generations.shared == 2 else ():
        for param in cell.get_parameters():
            param.name = ".".join([f"{prefix}{position}", *param.name.split(".")[place + 1 :]])


class _OrderedCells(Cell):
    """Base class of Cells that contain an ordered sequence of named Cells."""

    _cells: OrderedDict[str, Cell]
    cell_list: list[Cell]

    def __setattr__(self, name: str, value: Any) -> None:
        """Assign a Cell. It takes the position of a Cell with the same name."""
        if isinstance(value, Cell) and name in self.__dict__.get("_cells", ()):
            self[list(self._cells).index(name)] = value
        else:
            super().__setattr__(name, value)

    def _replace_all_cells(self, named):
        """Replace all Cells by `named`, pairs (name, Cell)."""
        named = [(str(name), cell) for name, cell in named]
        for name in list(self._cells):
            delattr(self, name)
        for name, cell in named:
            self.insert_child_to_cell(name, cell)
        self.cell_list = [cell for _, cell in named]

    def _normalize_index(self, index):
        """Return `index` as a non-negative index."""
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"An index of {self.cls_name} should be an int, but got {index!r}.")
        count = len(self)
        if index not in range(-count, count):
            raise IndexError(f"There is no Cell {index} in a {self.cls_name} of {count}.")
        return index % count

    def _list_remaining_cells(self, index):
        """Return the pairs (name, Cell) without those at `index`."""
        named = list(self._cells.items())
        if isinstance(index, slice):
            del named[index]
        else:
            del named[self._normalize_index(index)]
        return named

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def set_grad(self, requires_grad: bool = True) -> "_OrderedCells":
        """
        Set `requires_grad` of this container and of all Cells inside.

        Args:
            requires_grad (bool): The new value. Default: True.

        Returns:
            Cell, itself.
        """
        super().set_grad(requires_grad)
        for cell in self:
            cell.set_grad(requires_grad)
        return self


class SequentialCell(_OrderedCells):
    """
    A sequence of Cells: each takes the output of the previous one.

    Args:
        args (Union[list[Cell], OrderedDict[str, Cell], Cell]): The Cells: as arguments, as one list, or as one
            OrderedDict, which names them.

    Inputs:
        - **x** (Tensor) - the input of the first Cell.

    Outputs:
        Tensor, the output of the last Cell.

    Raises:
        TypeError: If an element is no Cell.

    Examples:
        >>> net = nn.SequentialCell([nn.Dense(3, 2, weight_init="ones"), nn.ReLU()])
        >>> print(net(Tensor([[1.0, 2.0, 3.0]], mindspore.float32)))
        [[6. 6.]]
    """

    _may_return_input = True

    def __init__(self, *args: Any) -> None:
        super().__init__()
        cells = args[0] if len(args) == 1 and not isinstance(args[0], Cell) else args
        if not isinstance(cells, (list, tuple, dict)):
            raise TypeError(f"Cells come as a list or an OrderedDict, but got {type(cells).__name__}.")
        self._is_named = isinstance(cells, dict)  # True: Cells keep their names after a deletion
        named = cells.items() if self._is_named else enumerate(cells)
        self._replace_all_cells([(name, _prefix_parameter_names(cell, name)) for name, cell in named])

    def __getitem__(self, index: int | slice) -> Cell:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return self.cell_list[self._normalize_index(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        named = list(self._cells.items())
        place = self._normalize_index(index)
        name = named[place][0]
        named[place] = name, _prefix_parameter_names(cell, _find_name_prefix(self._cells)[0] + name)
        self._replace_all_cells(named)

    def __delitem__(self, index: int | slice) -> None:
        rest = self._list_remaining_cells(index)
        if api_generations.shared == 1 or self._is_named:
            self._replace_all_cells(rest)
            return
        where = _find_name_prefix(dict(rest))
        self._replace_all_cells(enumerate(cell for _, cell in rest))
        _rename_moved_parameters(self._cells, *where)

    def append(self, cell: Cell) -> "SequentialCell":
        """
        Append a Cell.

        Args:
            cell (Cell): The Cell.

        Returns:
            SequentialCell, itself.

        Examples:
            >>> net = nn.SequentialCell([nn.Dense(3, 2)]).append(nn.ReLU())
        """
        name = f"{_find_name_prefix(self._cells)[0]}{len(self)}"
        self._replace_all_cells([*self._cells.items(), (len(self), _prefix_parameter_names(cell, name))])
        return self

    def construct(self, input_data: Tensor) -> Tensor:
        """Return the output of the last Cell."""
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_OrderedCells):
    """
    A list of Cells. Their Parameters belong to the Cell that has the list as an attribute. It cannot be called.

    Args:
        args (list[Cell]): The Cells. Default: no Cells.
        auto_prefix (bool): Whether the Parameters of a Cell that is added when the list is an attribute already are
            named by the index of the Cell. Default: True.

    Raises:
        TypeError: If an argument is no list of Cells.

    Examples:
        >>> cells = nn.CellList([nn.Dense(3, 2)])
        >>> cells.insert(0, nn.Dense(4, 3))
        >>> cells += [nn.ReLU()]
        >>> print(len(cells))
        3
    """

    def __init__(self, *args: Iterable[Cell], auto_prefix: bool = True) -> None:
        super().__init__()
        self.__dict__["_names_joining"] = check(Bool, auto_prefix, "auto_prefix", "CellList")
        self.__cell_as_list__ = True
        self.cell_list = []
        if len(args) > 1:
            raise TypeError(f"CellList takes one list of Cells, but got {len(args)} arguments.")
        for cells in args:
            self.extend(cells)

    def __getitem__(self, index: int | slice) -> Cell:
        if isinstance(index, slice):
            return type(self)(self.cell_list[index])
        return self.cell_list[self._normalize_index(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        cells, prefix = list(self), _find_name_prefix(self._cells)[0]
        cells[self._normalize_index(index)] = self._prefix_added_cell(cell, f"{prefix}{index}")
        self._replace_all_cells(enumerate(cells))

    def __delitem__(self, index: int | slice) -> None:
        rest = self._list_remaining_cells(index)
        where = _find_name_prefix(dict(rest))
        self._replace_all_cells(enumerate(cell for _, cell in rest))
        _rename_moved_parameters(self._cells, *where)

    def _prefix_added_cell(self, cell, name):
        """Return `cell` with `name` as the prefix of its Parameters. There is no prefix if the list is in a network and
        `auto_prefix` is False."""
        return _prefix_parameter_names(cell, name if self._names_joining or "_attr_name" not in self.__dict__ else None)

    def __iadd__(self, cells: Iterable[Cell]) -> "CellList":
        return self.extend(cells)

    def insert(self, index: int, cell: Cell) -> None:
        """
        Insert a Cell before a position.

        Args:
            index (int): The position.
            cell (Cell): The Cell.
        """
        cells, place = list(self), self._normalize_index(index)
        where = _find_name_prefix(self._cells)
        _rename_moved_parameters({at + 1: each for at, each in enumerate(cells) if at >= place}, *where)
        cells.insert(
            place, self._prefix_added_cell(cell, f"{where[0]}{place if api_generations.shared == 2 else index}")
        )
        self._replace_all_cells(enumerate(cells))

    def extend(self, cells: Iterable[Cell]) -> "CellList":
        """
        Append the Cells of a list.

        Args:
            cells (list[Cell]): The Cells.

        Returns:
            CellList, itself.

        Raises:
            TypeError: If `cells` is no list of Cells.
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"CellList takes a list of Cells, but got {cells!r}.")
        prefix = _find_name_prefix(self._cells)[0]
        new = [self._prefix_added_cell(cell, f"{prefix}{place}") for place, cell in enumerate(cells, len(self))]
        self._replace_all_cells(enumerate([*self, *new]))
        return self

    def append(self, cell: Cell) -> "CellList":
        """
        Append a Cell.

        Args:
            cell (Cell): The Cell.

        Returns:
            CellList, itself.
        """
        return self.extend([cell])

    def construct(self, *inputs: Any) -> Any:
        """Raise an error: a list has no computation.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("A CellList is not called itself; call the Cells in it.")


class CellDict(Cell):
    """
    A dictionary of Cells. Their Parameters belong to the Cell that has the dictionary as an attribute. It cannot be
    called.

    Args:
        args (Union[dict, Iterable]): The Cells: a dictionary, or pairs (name, Cell). Default: no Cells.

    Raises:
        TypeError: If an element is no Cell, a Cell is a container of Cells, a name is no string, or there
            is more than one argument.
        ValueError: If an element is not a pair.
        KeyError: If a name is empty, contains a ".", or is the name of another attribute.

    Examples:
        >>> cells = nn.CellDict({"dense": nn.Dense(3, 2), "relu": nn.ReLU()})
        >>> x = Tensor(np.ones((1, 3)), mindspore.float32)
        >>> print(list(cells), cells["dense"](x).shape)
        ['dense', 'relu'] (1, 2)
    """

    _cells: OrderedDict[str, Cell]

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.__cell_as_dict__ = True
        if len(args) > 1:
            raise TypeError(f"CellDict takes one dictionary of Cells, but got {len(args)} arguments.")
        for cells in args:
            self.update(cells)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"A name in a CellDict should be a string, but got {key!r}.")
        if not key or "." in key or hasattr(self, key) and key not in self._cells:
            why = "is an attribute of every Cell" if hasattr(self, key) else "is empty" if not key else "holds a '.'"
            raise KeyError(f"'{key}' cannot be a name in a CellDict: it {why}.")
        if isinstance(cell, (CellDict, _OrderedCells)):
            raise TypeError(f"A {cell.cls_name} cannot stand in a CellDict; put it into a Cell of its own.")
        self.insert_child_to_cell(key, _prefix_parameter_names(cell, key))

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def clear(self) -> None:
        """Remove all Cells."""
        for key in list(self._cells):
            del self[key]

    def pop(self, key: str) -> Cell:
        """
        Remove a Cell and return it.

        Args:
            key (str): Name of the Cell.

        Returns:
            Cell.

        Raises:
            KeyError: If there is none.
        """
        cell = self[key]
        del self[key]
        return cell

    def keys(self) -> KeysView[str]:
        """Return the names of the Cells."""
        return self._cells.keys()

    def values(self) -> ValuesView[Cell]:
        """Return the Cells."""
        return self._cells.values()

    def items(self) -> ItemsView[str, Cell]:
        """Return the pairs (name, Cell)."""
        return self._cells.items()

    def update(self, cells: "Mapping[str, Cell] | CellDict | Iterable[tuple[str, Cell]]") -> None:
        """
        Add Cells. A Cell of an existing name is replaced.

        Args:
            cells (Union[dict, Iterable]): The Cells: a dictionary, or pairs (name, Cell).

        Raises:
            TypeError: If an element is no Cell.
            ValueError: If an element is not a pair.
        """
        if not isinstance(cells, Iterable):
            raise TypeError(f"CellDict takes a dictionary of Cells, or pairs of name and Cell, but got {cells!r}.")
        pairs = cells.items() if isinstance(cells, (Mapping, CellDict)) else cells
        for pair in pairs:
            if not isinstance(pair, Iterable):
                raise TypeError(f"CellDict takes pairs of name and Cell, but got {pair!r}.")
            if len(pair := tuple(pair)) != 2:
                raise ValueError(f"CellDict takes pairs of name and Cell, but got {len(pair)} things.")
            self[pair[0]] = pair[1]

    def construct(self, *inputs: Any) -> Any:
        """Raise an error: a dictionary has no computation.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("A CellDict is not called itself; call the Cells in it.")
