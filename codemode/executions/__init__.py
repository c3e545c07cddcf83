"""Programs against a catalog: preflight, run, the record of the calls."""
