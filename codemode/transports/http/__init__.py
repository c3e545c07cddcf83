"""HTTP: turn validated arguments into one request, send it over pinned addresses, and decode the answer."""
