"""One code mode a file, as `player`: `codemode measure SUITE --mode NAME` in a clone."""
