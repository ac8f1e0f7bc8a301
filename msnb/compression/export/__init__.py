"""Re-export module: conversion of quantised networks for inference."""

from msnb.compression.export import quant_export

__all__ = ["quant_export"]
