"""The search index: documents, segments and postings, in memory and on disk."""
