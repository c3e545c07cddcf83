"""Callers: API keys, their store, and tokens of an issuer."""
