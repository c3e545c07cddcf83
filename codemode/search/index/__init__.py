"""The index: documents, postings and segments, in memory and on disk."""
