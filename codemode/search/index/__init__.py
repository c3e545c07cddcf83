"""The search index, in memory and on disk."""
