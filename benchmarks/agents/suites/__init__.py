"""One suite a file, as `suite`: `codemode bench NAME` in a clone."""
