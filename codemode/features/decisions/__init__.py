"""Remembered decisions: an approval that also holds for the same call later, within bounds."""
