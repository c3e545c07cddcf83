"""Credentials as values: what operations require, what the configuration provides, grants and stored logins."""
