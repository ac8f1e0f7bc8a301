"""The labelling page in a real JupyterLab: keys, a kernel restart, a reload, faults and export."""

import csv

import numpy as np
import pytest
from browsing import TOKEN, chromium, menu, opened, picture, run_all, strangers, unreadable, until

pytestmark = pytest.mark.slow
browser = pytest.fixture(chromium, scope="module")

CLASSES = ["left", "right", "both"]
CELLS = [
    """%load_ext msnb
import numpy as np, msnb
truth = np.random.default_rng(0).integers(0, 3, 80)
images = np.random.default_rng(1).integers(0, 60, (80, 16, 16), dtype=np.uint8)
for image, kind in zip(images, truth):
    if kind != 1:
        image[4:12, 1:6] += 150
    if kind != 0:
        image[4:12, 10:15] += 150""",
    """session = msnb.label(images, ["left", "right", "both"], keep="labels.csv", held_out=0)
session""",
    """session.export("exported.csv")
session.export("exported")
print("exported", len(session.answers))""",
]
TRUTH = np.random.default_rng(0).integers(0, 3, 80)


def read_answers(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_twenty_pictures_are_labelled_through_a_restart_and_a_reload(browser, jupyter, tmp_path):
    with jupyter.project(tmp_path, "label", {"label.ipynb": CELLS}):
        address = f"{jupyter.address}/lab/tree/label/label.ipynb?token={TOKEN}"
        page = opened(browser, address, ".msnb-label[data-ready] .choices")
        asked = strangers(page, jupyter.address)
        file, notebook = (tmp_path / "work" / name for name in ("labels.csv", "label.ipynb"))
        view, wrong = page.locator(".msnb-label"), []

        def label(count, is_wrong=False):
            for _ in range(count):
                name, before = view.locator(".name").inner_text(), len(read_answers(file))
                wrong.extend([int(name)] * is_wrong)
                page.keyboard.press(str((TRUTH[int(name)] + is_wrong) % 3 + 1))
                until(page, lambda: view.locator(".name").inner_text() != name)  # noqa: B023 (called in this round)
                assert len(read_answers(file)) == before + 1  # on the disk before the next picture is shown

        view.locator(".name").wait_for()
        view.focus()
        label(11)
        label(1, is_wrong=True)
        name = view.locator(".name").inner_text()
        page.keyboard.press("z")
        until(page, lambda: view.locator(".name").inner_text() != name)
        until(page, lambda: "11 of 80" in view.inner_text())
        label(1, is_wrong=True)
        label(8)
        assert "20 of 80" in view.inner_text() and "No advice: no item is held out" in view.inner_text()
        picture(page, "label-light", tmp_path, docs=False)

        menu(page, "Kernel", "Restart Kernel…")
        page.locator(".jp-Dialog button.jp-mod-warn").click()
        until(page, lambda: "idle" in page.locator(".jp-Notebook-ExecutionIndicator").get_attribute("data-status"))
        view.focus()
        page.keyboard.press("1")
        until(page, lambda: "run the cell of this page again" in view.inner_text())
        assert len(read_answers(file)) == 23  # the heading, 21 answers and an undo
        run_all(page)
        page.wait_for_selector(".jp-OutputArea >> text=exported 20")
        until(page, lambda: view.count() == 1 and "20 of 80" in view.inner_text())
        exported = read_answers(tmp_path / "work" / "exported.csv")
        assert len(exported) == 21 and exported[0] == ["name", "label"]
        assert [name for name, label in exported[1:] if label != CLASSES[TRUTH[int(name)]]] == [str(wrong[0])]
        assert len(list((tmp_path / "work" / "exported").glob("*/*.png"))) == 20

        page.keyboard.press("Control+s")
        until(page, lambda: "labels.csv" in notebook.read_text() and "20 of 80" in notebook.read_text())
        until(page, lambda: not page.locator(".lm-TabBar-tab.jp-mod-dirty").count())
        page.reload()
        view.locator(".name").wait_for()
        assert "20 of 80" in view.inner_text()
        view.focus()
        label(4)
        view.locator("[data-tab=faults]").click()
        view.locator(f'[data-fault="{wrong[0]}"]:has-text("change to")').click()
        until(page, lambda: read_answers(file)[-1][:3] == [str(wrong[0]), "answer", CLASSES[TRUTH[wrong[0]]]])
        until(page, lambda: "No label is suspected" in view.inner_text())
        menu(page, "Settings", "Theme", "JupyterLab Dark")
        page.wait_for_selector('.msnb-label[data-theme="dark"]')
        assert not unreadable(view) and not asked
        picture(page, "label-dark", tmp_path, docs=False)
        page.close()
