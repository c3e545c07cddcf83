"""Credentials: what operations require, what the configuration provides, OAuth 2.0 tokens and logins."""
