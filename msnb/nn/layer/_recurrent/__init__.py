"""Recurrent layers with MindSpore 2's Parameters, and single steps of recurrent cells."""
