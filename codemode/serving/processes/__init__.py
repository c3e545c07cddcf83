"""Several server processes on one listening socket (`server.processes`)."""
