"""Documents: read from files and URLs, parsed, resolved and cached."""
