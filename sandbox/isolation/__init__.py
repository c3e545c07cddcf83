"""One file per kernel mechanism, the ordered lockdown, and the probe that says which layers this machine gives."""
