"""Approval cards: what a person needs to know of a pending call."""
