"""Plans in a notebook: what is stored, what a shell shows, and the view in a browser with the network blocked."""

import base64
import copy
import json
import sys
import types
import xml.etree.ElementTree as ElementTree

import pytest
from browsing import Window, chromium, unreadable

from msnb.notebook.display.page import text_of as page_text
from msnb.notebook.plan import PlanView, plan_view
from msnb.notebook.plan.view import _MODULE as MODULE

HOSTILE = "w<img src=x onerror=hit=1>"


def one(name, seconds, layout, fits=True):
    parts = 8 if layout[0] else 1
    tensor = {"name": HOSTILE, "kind": "parameter", "shape": [64, 32], "dtype": "float32", "layout": layout}
    return {
        "name": name,
        "fits": fits,
        "seconds": seconds,
        "computing": seconds / 4,
        "sending": seconds / 2,
        "operations": 1e9,
        "memory": 2.0**20,
        "memory_by_kind": {"parameter": 8192 / parts, "results": 2.0**20 - 8192 / parts},
        "bytes": 1e6 / parts,
        "collectives": [{"kind": "all-reduce", "axes": ["hosts", "inside"], "times": 2, "bytes": 1e6 / parts}],
        "tensors": [{**tensor, "bytes": 8192 / parts}],
        "compiled": None if parts == 1 else {"bytes": 125000.0, "memory": 2.0**20, "operations": 1e9, "seconds": 1.0},
    }


STAGED = {**one("4 stages", 5e-3, [["stages"], []]), "mesh": {"stages": 4, "rows": 2}, "stages": 4, "bubble": 3 / 11}
TOLD = {
    "title": "a step",
    "devices": 8,
    "mesh": {"hosts": 2, "inside": 4},
    "hardware": {"name": "h100"},
    "memory": 2.0**21,
    "plans": [
        one("data parallel", 2e-3, [[], []]),
        one("sharded", 3e-3, [["hosts", "inside"], []], fits=False),
        STAGED,
    ],
    "refused": [{"name": "searched", "reason": f"Nothing fits {HOSTILE}."}],
}


class Plans:
    """As much of `msnb.parallel.plan`'s result as the view asks for."""

    __module__ = "msnb.parallel.planning.compare_plans"

    def as_dict(self):
        return copy.deepcopy(TOLD)

    def __getitem__(self, name):
        row = {"layout": [["inside"], []], "chosen": False, "more": 2048.0, "held": 2048.0}

        def why_not(tensor):
            if tensor != HOSTILE:
                raise ValueError(f"no {tensor}")
            return [{**row, "asked": (name, tensor)}]

        return types.SimpleNamespace(why_not=why_not)


def test_it_is_saved_in_the_form_that_the_name_asks_for(tmp_path):
    view = plan_view(TOLD)
    for suffix, begin in {".html": "<!doctype", ".svg": "<svg", ".txt": "a step on 8 h100", ".json": "{"}.items():
        view.save(tmp_path / f"plans{suffix}")
        assert (tmp_path / f"plans{suffix}").read_text(encoding="utf-8").startswith(begin)
    text = " ".join(ElementTree.fromstring(view.svg()).itertext())
    assert "data parallel" in text and "3.00 ms" in text and "too much" in text and "5.00 ms, bubble 27%" in text


def test_a_shell_shows_plans_and_the_kernel_says_what_another_layout_costs(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, Plans.__module__, types.SimpleNamespace(Plans=Plans))
    bundle, _ = notebook.shell.display_formatter.format(Plans())
    assert "data:image/svg+xml" in bundle["text/html"]
    view, sent = plan_view(Plans()), []
    view.widget.send = sent.append
    view._on_message(view.widget, {"why": ["sharded", HOSTILE], "number": 3}, [])
    assert sent[0]["answer"] == 3 and sent[0]["rows"][0]["asked"] == ("sharded", HOSTILE)
    view._on_message(view.widget, {"why": ["sharded", "nothing"], "number": 4}, [])
    assert sent[1] == {"answer": 4, "problem": "ValueError: no nothing"}  # somebody waits for an answer, whatever it is
    view.close()


def test_what_is_no_plan_is_refused():
    with pytest.raises(TypeError, match="what msnb.parallel.plan returns"):
        plan_view({"plans": []})
    with pytest.raises(ValueError, match="at least one plan"):
        plan_view({**TOLD, "plans": []})
    with pytest.raises(ValueError, match="height"):
        PlanView(TOLD, height=0)


browser = pytest.fixture(chromium, scope="module")


def test_a_plan_is_chosen_and_a_device_says_what_it_holds(browser, tmp_path):
    window = Window(browser)
    path = tmp_path / "plans.html"
    plan_view(TOLD).save(path)
    page = window.show(path, ".msnb-plan[data-ready]", 900, 900, True)
    assert "whole on each device" in page.inner_text(".told") and page.locator("[data-device]").count() == 8
    page.focus("[data-plan='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.get_attribute("[data-plan='1']", "aria-pressed") == "true"
    assert "8 parts of 1 KiB, each on 1 device" in page.inner_text(".told")
    page.click("[data-device='5']")
    assert page.inner_text(".device") == f"Device 5 (hosts 1, inside 1) holds {HOSTILE}[40:48, 0:32]"
    assert "27 %" in page.inner_text(".plans") and "bubble" in page.inner_text(".plans thead")
    assert page.inner_text(".plans .reason") == f"Nothing fits {HOSTILE}."
    page.click("[data-plan='2']")  # on a mesh of its own
    assert "4 parts of 1 KiB, each on 2 devices" in page.inner_text(".told")
    page.click("[data-device='5']")
    assert page.inner_text(".device") == f"Device 5 (stages 2, rows 1) holds {HOSTILE}[32:48, 0:32]"
    assert not page.locator("[data-do=why]").count()  # no kernel is there to answer, which is said
    assert "in a running notebook the kernel says" in page.inner_text(".tools")
    assert not unreadable(page.locator(".msnb-plan"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth && !window.hit")
    page.set_viewport_size({"width": 700, "height": 900})  # the table is narrower, too, and nothing of it is cut off
    assert page.evaluate("(table => table.scrollWidth <= table.clientWidth)(document.querySelector('.plans'))")
    assert not window.complaints()


# A page that stands for the front end of a running notebook: the test sees what is asked, and answers when it likes.
LIVE = """<!doctype html><body><script type="module">
const code = %s, module = await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
const heard = [], bytes = Uint8Array.from(atob('%s'), one => one.charCodeAt(0));
window.asked = [];
window.answer = told => heard.forEach(act => act(told));
const model = {get: key => key === 'live' ? true : new DataView(bytes.buffer), on: (_, act) => heard.push(act),
    off: () => {}, send: told => window.asked.push(told)};
module.default.render({model, el: document.body});
</script></body>"""


def test_a_kernel_answers_or_it_is_said_why_none_does(browser, tmp_path):
    window, path = Window(browser), tmp_path / "live.html"
    view = plan_view(TOLD)
    code = json.dumps(page_text(MODULE)).replace("</", "<\\/")
    path.write_text(LIVE % (code, base64.b64encode(view.payload).decode()), encoding="utf-8")
    page = window.show(path, ".msnb-plan[data-ready]", 900, 900, False)
    page.click("[data-do=why]")
    assert page.evaluate("asked") == [{"why": ["data parallel", HOSTILE], "number": 1}]
    page.wait_for_function("() => document.querySelector('.why').innerText.startsWith('No answer yet: the kernel is')")
    row = {"layout": [["inside"], []], "chosen": False, "more": 2048.0, "held": 2048.0}
    page.evaluate("row => answer({answer: 1, rows: [row]})", row)  # late, and welcome
    assert page.inner_text(".why tbody tr").split() == ["64/4", "×", "32", "inside,", "–", "+2", "KiB", "2", "KiB"]
    page.click("[data-do=why]")
    page.evaluate("answer({answer: 2, problem: 'ValueError: There is no such tensor.'})")
    assert page.inner_text(".why") == "ValueError: There is no such tensor."
    page.click("[data-do=why]")
    page.click("[data-plan='1']")
    page.evaluate("row => answer({answer: 3, rows: [row]})", row)  # to a question that nobody asks any more
    assert not page.inner_text(".why") and not window.complaints()


def test_no_two_texts_of_a_row_meet_in_the_still_picture():
    plan = copy.deepcopy(TOLD)
    plan["plans"][2].update(seconds=5.57703, bytes=10.7 * 2**30, bubble=0.28)
    plan["notes"] = ["The batch has 128 rows, which 7 devices do not divide: each device computes all of it."]
    svg = plan_view(plan).svg()
    assert "7 devices do not divide" in " ".join(ElementTree.fromstring(svg).itertext())
    rows = {}
    for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        wide, at = 6.2 * len(text.text), float(text.get("x"))
        left = at - wide if "e" in text.get("class", "").split() else at
        rows.setdefault(text.get("y"), []).append((left, left + wide))
    for row in rows.values():
        ends = sorted(row)
        assert all(before[1] <= after[0] for before, after in zip(ends, ends[1:])), ends
