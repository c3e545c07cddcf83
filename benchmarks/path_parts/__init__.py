"""Parts of `benchmarks.path`: the servers that it drives, their load, and the counters."""
