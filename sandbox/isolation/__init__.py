"""One module per kernel mechanism, the ordered lockdown, and the probe that tests which layers hold."""
