"""What programs can import: one table, and the facades in it."""
