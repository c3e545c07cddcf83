"""Caller authentication: API keys, the key file, and tokens of an issuer."""
