"""Benchmarks, each run as `python -m benchmarks.NAME`. Results are printed with versions and date."""
