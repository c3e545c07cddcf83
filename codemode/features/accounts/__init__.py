"""Accounts: whose credentials each call uses, where a source has several."""
