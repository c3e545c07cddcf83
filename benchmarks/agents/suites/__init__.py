"""One suite a file, as `suite`: `codemode measure NAME` in a clone."""
