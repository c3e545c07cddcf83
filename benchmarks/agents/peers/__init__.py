"""One code mode a file, as `player`: `codemode bench SUITE --mode NAME` in a clone."""
