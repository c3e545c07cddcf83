"""Google APIs as sources."""
