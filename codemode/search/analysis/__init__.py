"""Text analysis: terms, spelling correction, word lists, query expansion and term weights."""
