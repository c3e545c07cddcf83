"""Ranking: candidate selection, re-ranking, confidence, and their weights."""
