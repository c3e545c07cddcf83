"""Transactions of the journal for any SQL database."""
