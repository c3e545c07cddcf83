"""Small named values that the servers of a project share: files of the state folder, or rows of a database.

`values` defines the interface. `files` implements it for one machine, and
`codemode.executions.journal.postgres.shared_store` for servers with one PostgreSQL journal.
"""
