"""Journal stores: SQLite for one machine, PostgreSQL for several."""
