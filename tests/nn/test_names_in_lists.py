"""Names of Parameters in lists of Cells: under MindSpore 2 what joins later is called like what is there already."""

from collections import OrderedDict

import pytest

from msnb import nn
from msnb.core.operator import api_generations


@pytest.fixture(params=[1, 2], ids=["r1.1", "2.7.1"])
def generation(request):
    before = api_generations.shared
    api_generations.share(request.param)
    yield request.param
    api_generations.share(before)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.CellList([nn.Dense(2, 2, has_bias=False)])


def names(cell):
    return [param.name for param in cell.get_parameters()]


class Appending(nn.Cell):
    def __init__(self, kind):
        super().__init__()
        self.blocks = kind()
        for _ in range(2):
            self.blocks.append(Block())


@pytest.mark.parametrize("kind", [nn.CellList, nn.SequentialCell])
def test_what_is_appended_to_an_attribute(kind, generation):
    later = {1: "1.fc.0.weight", 2: "0.fc.1.fc.0.weight"}[generation]  # the last "0" of the first one's name counts
    assert names(Appending(kind)) == ["0.fc.0.weight", later]


def test_what_is_put_in_between_and_taken_out(generation):
    cells = nn.CellList([nn.Dense(2, 2, has_bias=False) for _ in range(2)])
    cells.insert(0, nn.Dense(2, 2, has_bias=False))
    behind = {1: ["0.weight", "1.weight"], 2: ["1.weight", "2.weight"]}[generation]
    assert names(cells) == ["0.weight", *behind]
    del cells[0]
    assert names(cells) == ["0.weight", "1.weight"]


def test_a_list_without_auto_prefix_names_what_it_is_constructed_with_but_not_what_joins_later(generation):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            cells = nn.CellList([nn.Dense(2, 2, has_bias=False)], auto_prefix=False)
            cells.append(nn.Dense(2, 2, has_bias=False))
            self.early = cells
            self.late = nn.CellList(auto_prefix=False)
            self.late.append(nn.Dense(2, 2, has_bias=False))

    assert names(Net()) == ["early.0.weight", "early.1.weight", "weight"]


def test_a_cell_that_is_taken_out_of_a_sequence_lets_the_others_move_up(generation):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.SequentialCell([nn.Dense(2, 2, has_bias=False) for _ in range(4)])

    net = Net()
    del net.body[0]
    moved = {1: [1, 2, 3], 2: [0, 1, 2]}[generation]
    assert names(net) == [f"body.{i}.weight" for i in moved] and list(net.body._cells) == [*map(str, moved)]
    del net.body[0:2]
    left = moved[2 if generation == 1 else 0]
    assert names(net) == [f"body.{left}.weight"] and len(net.body) == 1


def test_names_that_the_program_gave_stay_when_a_cell_is_taken_out(generation):
    cells = nn.SequentialCell(OrderedDict(one=nn.Dense(2, 2, has_bias=False), two=nn.Dense(2, 2, has_bias=False)))
    del cells[0]
    assert names(cells) == ["two.weight"] and list(cells._cells) == ["two"]
    part = nn.SequentialCell([nn.Dense(2, 2, has_bias=False) for _ in range(3)])[1:]
    del part[0]
    assert names(part) == ["2.weight"] and list(part._cells) == ["2"]
