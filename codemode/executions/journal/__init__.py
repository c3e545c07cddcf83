"""Stores for the journal: SQLite for one machine, PostgreSQL for several."""
