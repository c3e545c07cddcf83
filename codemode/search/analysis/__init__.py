"""Text analysis: terms, vocabulary, spelling correction and word lists."""
