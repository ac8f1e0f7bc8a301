"""Import and export of networks: ONNX, MINDIR, StableHLO and Python source. Each format has a package.

A codec in `msnb.formats` reads and writes the bytes of a format. The packages here translate between the messages of a
codec and `msnb.ir.FuncGraph`. The translation of each operator is an entry of a rule table.
"""
