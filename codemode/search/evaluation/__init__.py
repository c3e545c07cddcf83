"""Evaluation: metrics over labelled queries."""
