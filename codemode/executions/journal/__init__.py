"""The journal of executions.

`base` defines its interface and `records` what it records. `sql` has the transactions that all databases share,
`sqlite` and `postgres` carry them out: SQLite for one machine, PostgreSQL for several. `configured` selects one.
"""
