"""Style sheet of long tables in a notebook: the rows scroll, and the head stays visible."""

STYLE: str = (
    "<style>.msnb .layers{max-height:520px;overflow:auto;width:fit-content;max-width:100%}"
    ".msnb .layers table{margin:0}.msnb .layers thead th{position:sticky;top:0;opacity:1;font-weight:600;"
    "background:var(--jp-layout-color0,Canvas);box-shadow:0 1px rgba(128,128,128,.5)}"
    ".msnb .layers :is(td,th):not(.n){text-align:left!important}.msnb .layers tr.around td{font-weight:600}"
    ".msnb .totals{margin:6px 0 0}.msnb .totals span{margin-right:14px}"
    "@media print{.msnb .layers{max-height:none;overflow:visible}}</style>"
)
