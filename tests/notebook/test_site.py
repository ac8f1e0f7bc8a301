"""Pages of the site: one of each kind is built and looked at in Chromium, light, dark, toggled and on a narrow screen.

`make docs` builds all pages, and `docs/check_site.py` looks at all of them.
"""

import subprocess
import sys

import pytest
from browsing import ROOT, chromium

pytest.importorskip("myst_nb", reason="the site needs msnb[docs]")
sys.path.append(str(ROOT / "docs"))
import check_site  # noqa: E402 - its folder joins the path above

MISSING_PAGES = "toc.excluded,toc.not_readable,toc.no_title,toc.not_included,myst.xref_missing,ref.doc"


@pytest.mark.slow
def test_a_page_of_each_kind_asks_no_network_and_its_views_follow_the_theme(tmp_path):
    settings = [
        f"include_patterns={','.join(check_site.SOURCES)}",
        f"suppress_warnings=myst.header,mystnb.unknown_mime_type,{MISSING_PAGES}",
    ]
    command = [sys.executable, "-m", "sphinx", "-c", "docs", "-q", "-W", "--keep-going", "-d", tmp_path / "doctrees"]
    command += [word for setting in settings for word in ("-D", setting)]
    done = subprocess.run([*command, ".", tmp_path / "site"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*check_site.SAMPLE} <= {*check_site.list_pages(tmp_path / "site")}
    address, running = check_site.start_server(tmp_path / "site"), chromium()
    assert [*check_site.check_pages(next(running), address, check_site.SAMPLE)] == []
    running.close()
