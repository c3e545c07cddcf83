"""What to do about an error: looked up in the source and in the values at hand."""
