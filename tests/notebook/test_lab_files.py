"""JupyterLab opens models and checkpoints by a double click, and has a page that says what msnb can do."""

import numpy as np
import pytest
from browsing import TOKEN, chromium, kernels, large_page, menu, picture, until

import msnb
from msnb import Tensor, nn

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture
def page(browser, jupyter, tmp_path):
    """JupyterLab with a network in four formats, and one file that is none."""
    with jupyter.project(tmp_path, "files", {}):
        folder = tmp_path / "work"
        net, x = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), Tensor(np.ones((2, 3), np.float32))
        msnb.save_checkpoint(net, str(folder / "a.ckpt"))
        msnb.save_checkpoint(net, str(folder / "a.safetensors"), format="safetensors")
        for kind in ("ONNX", "MINDIR"):
            msnb.export(net, x, file_name=str(folder / "a"), file_format=kind)
        (folder / "broken.onnx").write_bytes(b"no model")
        page = large_page(browser, 900)
        page.goto(f"{jupyter.address}/lab/tree/files?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Launcher")
        yield page
        page.close()


def open_file(page, name):
    page.locator(f'.jp-DirListing-item:has-text("{name}")').first.dblclick()
    page.wait_for_selector(f'.lm-TabBar-tab.lm-mod-current:has-text("{name}")')


def close_tab(page):
    page.locator(".jp-MainAreaWidget:visible").first.wait_for()
    page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current .lm-TabBar-tabCloseIcon").click()


def test_a_double_click_shows_a_file_and_help_opens(page, tmp_path):
    for name in ("a.ckpt", "a.safetensors"):
        open_file(page, name)
        page.wait_for_selector('.msnb-Tab:visible :text("0.weight")')
        picture(page, f"file-{name}", tmp_path, docs=False)
        close_tab(page)
    for name in ("a.onnx", "a.mindir"):
        open_file(page, name)
        page.wait_for_selector(".msnb-Tab:visible .msnb-view.live")
        picture(page, f"file-{name}", tmp_path, docs=False)
        close_tab(page)
    open_file(page, "broken.onnx")
    page.wait_for_selector('.msnb-Tab:visible :text("broken.onnx cannot be shown: ")')
    picture(page, "file-broken", tmp_path, docs=False)
    close_tab(page)
    until(page, lambda: kernels(page) == [])  # each went with its tab

    picture(page, "launcher", tmp_path, docs=False)
    page.locator('.jp-LauncherCard:has-text("Tutorials, magics, keys")').click()
    page.wait_for_selector('.msnb-Tab:visible :text("%ms_profile")')
    picture(page, "help", tmp_path, docs=False)
    page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
    picture(page, "help-dark", tmp_path, docs=False)
    page.locator('.msnb-Tab:visible a:has-text("01 Quick start")').click()
    page.wait_for_selector(".jp-NotebookPanel:visible .jp-RenderedMarkdown h1")
    menu(page, "Help", "msnb: tutorials, magics, keys")
    until(page, lambda: page.locator('.lm-TabBar-tab:has-text("msnb")').count() >= 1)
