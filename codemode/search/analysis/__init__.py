"""Text analysis: terms, spelling, word lists, and the expansion and weights of query terms."""
