"""Graphs in and out: what other programs read and write of a network, each format in a package of its own.

A codec in `msnb.formats` knows the bytes of a format and no networks. Here a format meets `msnb.ir.FuncGraph`: a writer
makes its messages of a graph, a reader makes a graph of them. What an operator becomes in a format is a facet.
"""
