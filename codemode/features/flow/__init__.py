"""Flow rules: what came from strangers does not steer what is done."""
