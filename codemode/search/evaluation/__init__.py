"""Evaluation: metrics over labelled queries, and weights that are proposed for them."""
