"""The Monty engine: programs run in Monty, a Python interpreter in Rust, on Linux, macOS and Windows.

engine      MontySandbox: the pool of interpreters, and one run
session     one program: its calls, its clock, its record
roots       tools as the interpreter sees them
endings     outcomes, from the interpreter's errors and values
reader      the host's side of the process that reads sources
reading     the other side: call sites, parallel calls, and what Monty does not have
"""
