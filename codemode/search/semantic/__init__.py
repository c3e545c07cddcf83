"""Semantic search: embedders, vectors and their similarity. An optional addition to lexical search."""
