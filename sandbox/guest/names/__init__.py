"""The names that a program sees: builtins, and tables in the place of modules."""
