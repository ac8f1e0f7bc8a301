"""Import and export of networks: ONNX, MINDIR, StableHLO and Python source, each format in a package of its own.

A codec in `msnb.formats` reads and writes the bytes of a format and knows no networks. The packages here translate
between such messages and `msnb.ir.FuncGraph`. The translation of each operator is an entry of a rule table.
"""
