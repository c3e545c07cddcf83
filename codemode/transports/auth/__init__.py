"""Credentials: what an operation requires, what is configured, OAuth 2.0 tokens and logins."""
