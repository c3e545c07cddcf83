"""Measurements, each run as `python -m benchmarks.NAME`: printed with versions and date."""
