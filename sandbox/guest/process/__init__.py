"""One program from the socket to its end: what is read, run and reported."""
