"""A training that is watched where people watch it, in JupyterLab and in Notebook 7: from the kernel that trains, which
is busy, and from another process."""

import re

import pytest
from browsing import TOKEN, chromium, large_page, needs, run_all, strangers, until

import msnb

browser = pytest.fixture(chromium, scope="module")

CELLS = [
    """%load_ext msnb
import os, time, msnb
os.makedirs("runs")
msnb.dashboard("runs")""",
    "%ms_runs runs",
    """with msnb.record("here", "runs", config={"rate": 0.1}) as run:
    while not os.path.exists("enough"):
        run.log({"loss": time.time() % 1})
        time.sleep(0.05)""",
]


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_a_training_is_seen_while_its_kernel_is_busy_and_while_another_process_trains(
    front_end, browser, jupyter, tmp_path
):
    if front_end == "notebook":
        needs("notebook")
    faults, path = [], "lab/tree" if front_end == "lab" else "notebooks"
    page = large_page(browser, 2400)
    page.on("pageerror", lambda error: faults.append(str(error)))
    asked = strangers(page, jupyter.address)
    with jupyter.project(tmp_path, front_end, {"live.ipynb": CELLS}):
        page.goto(f"{jupyter.address}/{path}/{front_end}/live.ipynb?token={TOKEN}&reset")
        cells = page.locator(".jp-Notebook .jp-CodeCell")
        cells.first.click()
        run_all(page)
        dash, runs, training = page.locator(".msnb-dash").first, page.locator(".msnb-runs").first, cells.nth(2)

        def step(name):
            """Return the last step of a curve, as the chart says it."""
            label = dash.locator(f'.card[data-tag="{name}"]').first.get_attribute("aria-label") or ""
            match = re.search(r"step ([\d,]+);", label)
            return int(match[1].replace(",", "")) if match else -1

        dash.locator('.card[data-tag="loss"]').wait_for()
        until(page, lambda: step("loss") > 20)
        assert "[*]" in training.locator(".jp-InputPrompt").inner_text()  # it does not wait for the view
        runs.locator(".body .row").filter(has_text="here").wait_for()
        with msnb.record("there", tmp_path / "work" / "runs", config={"rate": 0.2}) as run:  # in another process
            run.log({"elsewhere": 2.0}, 1)
            run.flush()
            dash.locator('.card[data-tag="elsewhere"]').wait_for()
            for number in range(2, 9):
                run.log({"elsewhere": 1.0}, number)
            run.flush()
            until(page, lambda: step("elsewhere") == 8)
            until(page, lambda: "2 runs, 2 running" in dash.locator(".state").inner_text())
            until(page, lambda: "2 running" in runs.locator(".title").inner_text())
        (tmp_path / "work" / "enough").touch()
        until(page, lambda: dash.locator(".state").inner_text() == "2 runs")
        until(page, lambda: runs.locator(".body .state.finished").count() == 2)
        page.close()
    assert not [fault for fault in faults if "msnb" in fault] and not asked
