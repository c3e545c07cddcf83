"""One run of a program: the pipeline of its calls, preflight and replay."""
