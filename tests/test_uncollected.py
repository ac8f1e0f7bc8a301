"""Python's collector waits in a block, and is what it was behind it."""

import gc

import pytest

from msnb._util.gc_pause import uncollected


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_collector_is_what_it_was_behind_the_block(on, fails):
    was = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError) if fails else uncollected():
            with uncollected():
                assert not gc.isenabled()
                if fails:
                    1 / 0  # noqa: B018
        assert gc.isenabled() == on
    finally:
        (gc.enable if was else gc.disable)()


def test_importing_msnb_leaves_it_on(fresh, tmp_path):
    assert fresh.run("import gc; print(gc.isenabled())", tmp_path).out == "True\n"
