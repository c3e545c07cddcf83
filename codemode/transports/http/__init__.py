"""HTTP: from validated arguments to one request, over pinned addresses, and back to JSON data."""
