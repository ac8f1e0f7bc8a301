"""Labels of the JupyterLab extension pass through its translator, and each has a Chinese form."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "extensions" / "jupyterlab-msnb" / "src").glob("*.ts"))
DOMAIN = "jupyterlab_msnb"
# Where a text for the user stands: an option or attribute of this name, or a call that shows it.
LABEL = re.compile(
    r'(?:\b(?:label|caption|displayName|title|okLabel|textContent)\b(?:\.label)?(?::| =)\s*|"aria-label",\s*|'
    r'Notification\.\w+\(\s*|"msnb-(?:empty|facts)",\s*)(["`])(?!msnb\1|\1)'
)


def test_each_label_passes_through_the_translator():
    wrong = [
        f"{path.name}: {match[0]}" for path in SOURCES for match in LABEL.finditer(path.read_text(encoding="utf-8"))
    ]
    assert wrong == ['options.ts: title: "']  # of an editor's mark, beside code


def test_each_label_has_a_chinese_form_with_the_same_placeholders():
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    package = import_module(entry["jupyterlab.locale"][DOMAIN])  # as JupyterLab's server imports it
    path = Path(package.__file__).parent / "locale" / "zh_CN" / "LC_MESSAGES" / f"{DOMAIN}.json"
    catalogue = json.loads(path.read_text(encoding="utf-8"))
    head = catalogue.pop("")
    assert head["domain"] == DOMAIN and head["language"] == "zh_CN"
    labels = {x for path in SOURCES for x in re.findall(r'trans\.__\(\s*"([^"]+)"', path.read_text(encoding="utf-8"))}
    assert {*catalogue} == labels and len(labels) > 40
    for label, (chinese,) in catalogue.items():
        assert re.search("[一-鿿]", chinese) and sorted(re.findall(r"%\d|%%", label)) == sorted(
            re.findall(r"%\d|%%", chinese)
        )
