"""Ranking: candidate selection, clauses, re-ranking and confidence."""
