"""State between the programs of one conversation: what `store` keeps, what `load` returns, and `last`."""
