"""Implicit feedback: what was called after which query raises tools in later searches of the same role."""
