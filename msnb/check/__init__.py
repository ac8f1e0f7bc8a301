"""Finds the names of MindSpore that a program uses and msnb lacks. The program is parsed, not run.

python -m msnb check train.py        # or a folder, or a notebook
%ms_check                            # the cells that were run in this session
"""

from msnb.check.judging import Finding as Finding
from msnb.check.reading import of_cells as of_cells
from msnb.check.report import Report as Report
from msnb.check.report import check as check

__all__ = ["Finding", "Report", "check", "of_cells"]
