"""AWS services as sources."""
