"""Displays without a widget: HTML of Tensors, Cells and data sets, tables, static output."""
