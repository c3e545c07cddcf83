"""What is left to decide while a program runs: its own classes, guarded attributes, what builtins may show."""
