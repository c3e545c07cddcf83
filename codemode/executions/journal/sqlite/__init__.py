"""The journal in SQLite: one file for one machine."""
